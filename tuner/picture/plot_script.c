/* tuner/picture/plot_script: texts, numbers, the title. */
#include "tuner/picture/plot_script.h"

#include <math.h>
#include <string.h>

bool plot_script_is_text(const struct plot_request *request)
{
    return request->terminal == PLOT_DUMB;
}

/* Bytes of the text up to the limit that are whole characters of UTF-8. */
static size_t whole_length(const char *text, size_t limit)
{
    size_t length = strlen(text);
    if (length <= limit)
        return length;
    while (limit > 0 && ((unsigned char)text[limit] & 0xC0) == 0x80)
        limit--;
    return limit;
}

/* Control characters, of which UTF-8 has some in two bytes, could reach the terminal. percent: the labels of
 * tics are formats to gnuplot. */
static void write_text(FILE *script, const char *text, size_t limit, bool percent)
{
    size_t length = whole_length(text, limit);
    fputc('\'', script);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\'' || (c == '%' && percent))
            fputc(c, script);
        bool is_c1 = c == 0xC2 && (unsigned char)text[i + 1] >= 0x80 && (unsigned char)text[i + 1] < 0xA0;
        fputc(c < ' ' || c == 0x7F || is_c1 ? '?' : c, script);
        i += is_c1;
    }
    fputs(text[length] == '\0' ? "'" : "...'", script);
}

void plot_script_text(FILE *script, const char *text, size_t limit)
{
    write_text(script, text, limit, false);
}

void plot_script_string(FILE *script, const char *name, const char *text, size_t limit)
{
    fprintf(script, "%s = ", name);
    plot_script_text(script, text, limit);
    fputc('\n', script);
}

void plot_script_begin_array(FILE *script, const char *name, size_t n)
{
    fprintf(script, "array %s[%zu] = [", name, n);
}

void plot_script_item(FILE *script, size_t i, const char *text, size_t limit, bool percent)
{
    fputs(i > 0 ? ", " : "", script);
    write_text(script, text, limit, percent);
}

void plot_script_end_array(FILE *script)
{
    fputs("]\n", script);
}

void plot_script_begin(FILE *script, const struct plot_request *request, const struct plot_data *data,
                       const char *what, const char *detail)
{
    static const char *const terminals[] = {[PLOT_PNG] = "png",
                                            [PLOT_SVG] = "svg",
                                            [PLOT_PDF] = "pdf",
                                            [PLOT_SIXEL] = "sixel",
                                            [PLOT_DUMB] = "dumb"};
    const size_t limit = plot_script_is_text(request) ? request->width - 4 : request->width / 8;
    const bool coloured = plot_script_is_text(request) && request->colours;
    fprintf(script, "terminal = '%s%s'\nwidth = %u\nheight = %u\nconfidence = %.6g\nheadline = ",
            terminals[request->terminal], coloured ? "-colours" : "", request->width, request->height,
            data->confidence_share);
    plot_script_text(script, request->title[0] != '\0' ? request->title : what, limit);
    if (detail[0] != '\0') {
        fputs(".\"\\n\".", script);
        plot_script_text(script, detail, limit);
    }
    if (data->place[0] != '\0') {
        fputs(".\"\\n\".", script);
        plot_script_text(script, data->place, limit);
    }
    fputc('\n', script);
}

void plot_script_begin_slice(FILE *script, const struct plot_request *request, const struct plot_slice *slice)
{
    char what[PLOT_TEXT_SIZE], detail[PLOT_TEXT_SIZE + 64] = "";
    bool two = slice->n_axes == 2;
    snprintf(what, sizeof what, "Throughput by %s%s%s", plot_factors[slice->axes[0].factor].title,
             two ? " and " : "", two ? plot_factors[slice->axes[1].factor].title : "");
    int used = snprintf(detail, sizeof detail, "%s", slice->fixed);
    if (slice->n_left_out > 0)
        snprintf(detail + used, sizeof detail - (size_t)used, "%s%zu disqualified left out",
                 used > 0 ? "; " : "", slice->n_left_out);
    plot_script_begin(script, request, slice->data, what, detail);
}

void plot_script_key(FILE *script, size_t i, const struct plot_request *request, const char *text)
{
    const size_t width = request->width > 60 ? request->width : 60;
    plot_script_item(script, i, text, plot_script_is_text(request) ? width - 40 : request->width / 9, false);
}

void plot_script_number(FILE *script, double value)
{
    if (isfinite(value))
        fprintf(script, " %.6g", value);
    else
        fputs(" NaN", script);
}
