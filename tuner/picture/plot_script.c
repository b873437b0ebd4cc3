/* tuner/picture/plot_script: terminals, titles, axes. */
#include "tuner/picture/plot_script.h"

#include "bench/base/units.h"

#include <math.h>
#include <string.h>

#define MARGIN      ((size_t)160) /* pixels around the axes */
#define LINE_PIXELS ((size_t)15)

const char *const plot_series_colours[PLOT_N_SERIES] = {PLOT_BLUE, PLOT_RED,  PLOT_GREEN, PLOT_ORANGE,
                                                        "#CC79A7", "#56B4E9", "#000000",  PLOT_GREY};

/* Viridis: lightness rises with the scatter, so that it survives grey print. */
const struct plot_scatter plot_scatters[PLOT_N_SCATTERS] = {
    {0.01, "up to 1 %", "#440154"},   {0.02, "up to 2 %", "#414487"},  {0.05, "up to 5 %", "#2A788E"},
    {0.10, "up to 10 %", "#22A884"},  {0.20, "up to 20 %", "#7AD151"}, {INFINITY, "over 20 %", "#FDE725"},
    {NAN, "one run only", "#C8C8C8"},
};

size_t plot_script_scatter(const struct plot_point *point)
{
    size_t i = 0;
    if (!isfinite(point->std_bps))
        return PLOT_N_SCATTERS - 1;
    while (point->std_bps / point->mean_bps > plot_scatters[i].below_share)
        i++;
    return i;
}

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

static void set_terminal(FILE *script, const struct plot_request *request)
{
    unsigned w = request->width, h = request->height;
    switch (request->terminal) {
    case PLOT_PNG:
        fprintf(script, "set terminal pngcairo noenhanced font 'sans,10' size %u,%u\n", w, h);
        break;
    case PLOT_SVG:
        fprintf(script, "set terminal svg noenhanced font 'sans-serif,13' size %u,%u background '#ffffff'\n",
                w, h);
        break;
    case PLOT_PDF:
        fprintf(script, "set terminal pdfcairo noenhanced font 'sans,10' size %.2fin,%.2fin\n", w / 96.0,
                h / 96.0);
        break;
    case PLOT_SIXEL:
        fprintf(script, "set terminal sixelgd noenhanced truecolor font 'sans,10' size %u,%u\n", w, h);
        break;
    case PLOT_DUMB:
        fprintf(script, "set terminal dumb noenhanced size %u,%u aspect 2,1 %s\n", w, h,
                request->colours ? "ansi256" : "mono");
        break;
    }
}

void plot_script_begin(FILE *script, const struct plot_request *request, const struct plot_data *data,
                       const char *what, const char *detail)
{
    const size_t limit = plot_script_is_text(request) ? request->width - 4 : request->width / 8;
    set_terminal(script, request);
    fputs("set encoding utf8\nset decimalsign '.'\nset title ", script);
    plot_script_text(script, request->title[0] != '\0' ? request->title : what, limit);
    if (detail[0] != '\0') {
        fputs(".\"\\n\".", script);
        plot_script_text(script, detail, limit);
    }
    if (data->place[0] != '\0') {
        fputs(".\"\\n\".", script);
        plot_script_text(script, data->place, limit);
    }
    fputs("\n", script);
    if (plot_script_is_text(request))
        fputs("set tics nomirror scale 0\n", script);
    else
        fputs("set grid linecolor rgb '#D9D9D9' linewidth 1\nset border 3 linecolor rgb '#404040'\n"
              "set tics nomirror\n",
              script);
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

void plot_script_title(FILE *script, const char *name, const char *title)
{
    fprintf(script, "set %slabel ", name);
    plot_script_text(script, title, PLOT_TEXT_SIZE);
    fputc('\n', script);
}

/* Labels of many levels on a narrow axis stand upright. */
static bool must_turn(const struct plot_request *request, const struct plot_slice *slice, size_t axis)
{
    size_t letters = 0;
    for (size_t i = 0; i < slice->axes[axis].n; i++)
        letters += 2 + strlen(plot_slice_level(slice, axis, i)->text);
    return !plot_script_is_text(request) && letters * 9 + MARGIN > request->width;
}

static size_t larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t longest_of(const struct plot_slice *slice, size_t axis)
{
    size_t longest = 1;
    for (size_t i = 0; i < slice->axes[axis].n; i++)
        longest = larger_of(longest, strlen(plot_slice_level(slice, axis, i)->text));
    return longest;
}

/* Every how many levels have a label, so that none touches the next. */
static size_t step_of(const struct plot_request *request, const struct plot_slice *slice, size_t axis,
                      bool in_space)
{
    const size_t n = slice->axes[axis].n, longest = longest_of(slice, axis);
    size_t room = axis == 0 ? request->width : request->height;
    if (plot_script_is_text(request))
        return 1 + n * (axis == 0 ? longest + 1 : 1) / (room > 20 ? room - 10 : 10);
    if (in_space)
        return 1 + n * larger_of(LINE_PIXELS, 6 * longest) / (1 + request->width / 3);
    return 1 + n * LINE_PIXELS / (room > 2 * MARGIN ? room - MARGIN : MARGIN);
}

void plot_script_levels(FILE *script, const struct plot_request *request, const struct plot_slice *slice,
                        size_t axis, const char *name, bool in_space)
{
    const size_t n = slice->axes[axis].n, step = step_of(request, slice, axis, in_space);
    bool turned = name[0] == 'x' && !in_space && must_turn(request, slice, axis);
    plot_script_title(script, name, plot_factors[slice->axes[axis].factor].title);
    fprintf(script, "set %stics %s(", name, turned ? "rotate by 90 right " : "");
    for (size_t i = 0; i < n; i += step) {
        fputs(i == 0 ? "" : ", ", script);
        write_text(script, plot_slice_level(slice, axis, i)->text, PLOT_LEVEL_SIZE, true);
        fprintf(script, " %zu", i);
    }
    fprintf(script, ")%s\n", in_space && n > 8 ? " font ',8'" : "");
}

struct plot_unit plot_script_unit(double max_bps)
{
    if (max_bps >= 1e9)
        return (struct plot_unit){1e9, "GB/s"};
    if (max_bps >= 1e6)
        return (struct plot_unit){1e6, "MB/s"};
    return max_bps >= 1e3 ? (struct plot_unit){1e3, "kB/s"} : (struct plot_unit){1, "B/s"};
}

const char *plot_script_rate(double bps, struct plot_unit unit, char *buffer)
{
    double value = bps / unit.bps;
    snprintf(buffer, UNITS_TEXT_SIZE, "%.*f",
             value >= 99.95    ? 0
             : value >= 9.995  ? 1
             : value >= 0.0995 ? 2
                               : 3,
             value);
    return buffer;
}

void plot_script_latency_tics(FILE *script, const char *name)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    fprintf(script, "set logscale %s 10\nset %stics (", name, name);
    for (int exponent = 0; exponent <= 11; exponent++) {
        const int digits[] = {1, 10, 100};
        fprintf(script, "%s'%d %s' 1e%d", exponent == 0 ? "" : ", ", digits[exponent % 3],
                units[exponent / 3], exponent);
        for (int i = 2; i < 10; i++)
            fprintf(script, ", '' %de%d 1", i, exponent);
    }
    fputs(")\n", script);
}

void plot_script_key_below(FILE *script, const struct plot_request *request, bool side_by_side)
{
    const char *direction = side_by_side ? "horizontal" : "vertical maxcols 1";
    if (plot_script_is_text(request))
        fprintf(script, "set key outside bottom center %s\n", direction);
    else
        fprintf(script, "set key outside bottom center %s reverse Left samplen 2 height 1 width 2\n",
                direction);
}

void plot_script_key(FILE *script, const struct plot_request *request, const char *text)
{
    plot_script_text(script, text,
                     plot_script_is_text(request) ? larger_of(request->width, 60) - 40 : request->width / 9);
}

void plot_script_number(FILE *script, double value)
{
    if (isfinite(value))
        fprintf(script, " %.6g", value);
    else
        fputs(" NaN", script);
}
