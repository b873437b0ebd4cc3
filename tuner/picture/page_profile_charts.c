/* The charts of a profile's page: bytes and requests over time, sizes, and what caches would serve. */
#include "bench/base/units.h"
#include "tuner/base/markup.h"
#include "tuner/picture/page_profile.h"

#include <math.h>

/* A chart is this wide and high in its own units, and is drawn as wide as its column. */
#define WIDTH            480.0
#define HEIGHT           230.0
#define LEFT             70.0
#define RIGHT            10.0
#define TOP              24.0
#define BOTTOM           42.0
#define MOST_TICKS       9
#define MOST_CACHE_TICKS 6                    /* whose texts are longer */
#define LEAST            1e-9                 /* what is less is nothing on an axis */
#define MOST_BYTES       0x1.fffffffffffffp63 /* the last below 2^64 */
#define LABEL_WIDTH      14.0                 /* of a phase's number */

static const char *const kind_names[PLOT_LOAD_KINDS] = {"reads in sequence", "reads at random",
                                                        "writes in sequence", "writes at random"};
/* The colours of page.css; reads are of one hue and writes of another. */
static const int kind_colours[PLOT_LOAD_KINDS] = {0, 6, 1, 4};
static const char *const direction_names[] = {"reads", "writes"};
static const int direction_colours[] = {0, 1};

static double place_x(double share)
{
    return LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double place_y(double share)
{
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten, so that up to five of them reach the most. */
static double tick_of(double most)
{
    double power = pow(10, floor(log10(most / 5)));
    double steps = most / 5 / power;
    return power * (steps <= 1 ? 1 : steps <= 2 ? 2 : steps <= 5 ? 5 : 10);
}

static void begin_chart(FILE *out, const char *title, const char *words)
{
    fprintf(out,
            "<figure><figcaption>%s</figcaption>\n<div class=\"plot\"><svg viewBox=\"0 0 %.0f %.0f\" "
            "role=\"img\" aria-label=\"%s. %s\">\n",
            title, WIDTH, HEIGHT, title, words);
}

static void end_chart(FILE *out, const char *const *names, const int *colours, const bool *has, size_t n)
{
    fputs("</svg></div>\n", out);
    if (n > 0)
        fputs("<ul class=\"legend\">", out);
    for (size_t i = 0; i < n; i++) {
        if (has[i])
            fprintf(out,
                    "<li><svg width=\"12\" height=\"12\" aria-hidden=\"true\"><rect width=\"12\" "
                    "height=\"12\" fill=\"var(--s%d)\"/></svg>%s</li>",
                    colours[i], names[i]);
    }
    fputs(n > 0 ? "</ul>\n</figure>\n" : "</figure>\n", out);
}

/* Lines from left to right with their values. Returns the value at the upper end. */
static double draw_y_axis(FILE *out, double most, const char *(*format)(double value, char *buffer))
{
    char text[UNITS_TEXT_SIZE];
    double tick = tick_of(most > LEAST ? most : 1);
    unsigned n = (unsigned)fmax(1, ceil(most / tick - 1e-9));
    for (unsigned i = 0; i <= n; i++)
        fprintf(out,
                "<line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/><text class=\"soft\" "
                "text-anchor=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                LEFT, WIDTH - RIGHT, place_y(i / (double)n), place_y(i / (double)n), LEFT - 6,
                place_y(i / (double)n) + 4.5, format(i * tick, text));
    return n * tick;
}

/* At the right end it would stick out. */
static void put_x_label(FILE *out, double share, const char *text)
{
    const char *anchor = share > 1 - 1e-9 ? "end" : "middle";
    fprintf(out, "<text class=\"soft\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.0f\">%s</text>\n", anchor,
            place_x(share) + (share > 1 - 1e-9 ? RIGHT : 0), HEIGHT - BOTTOM + 18, text);
}

static void put_x_title(FILE *out, const char *text)
{
    fprintf(out, "<text class=\"soft\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.0f\">%s</text>\n",
            place_x(0.5), HEIGHT - 5, text);
}

static const char *format_share(double percent, char *buffer)
{
    snprintf(buffer, UNITS_TEXT_SIZE, "%.3g %%", percent);
    return buffer;
}

static const char *format_rate(double bps, char *buffer)
{
    return bps > 0 ? units_format_rate(bps, buffer) : "0";
}

static const char *format_count(double n, char *buffer)
{
    return n > 0 && n < 1 ? (snprintf(buffer, UNITS_TEXT_SIZE, "%.2g", n), buffer)
                          : units_format_count(n, buffer);
}

/* A rectangle between two shares of the width and two values as shares of the height; what the pointer asks
 * for is its title. */
static void begin_bar(FILE *out, double from, double to, double low, double high, int colour)
{
    fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"var(--s%d)\"><title>",
            place_x(from), place_y(high), fmax(0.5, (to - from) * (WIDTH - LEFT - RIGHT)),
            fmax(0, place_y(low) - place_y(high)), colour);
}

/* ---- over time ---- */

static void draw_time_axis(FILE *out, const struct plot_load *load)
{
    char text[UNITS_TEXT_SIZE];
    bool is_long = load->seconds >= 1;
    double unit_s = is_long ? 1 : 1e-3, most = load->seconds / unit_s, tick = tick_of(most);
    for (unsigned i = 0; i * tick <= most * (1 + 1e-9); i++) {
        snprintf(text, sizeof text, "%.6g", i * tick);
        put_x_label(out, i * tick / most, text);
    }
    put_x_title(out, is_long ? "time, s" : "time, ms");
}

/* Where each begins, and its number where there is room. */
static void draw_phases(FILE *out, const struct plot_load *load)
{
    double free_from = 0;
    for (size_t i = 0; i <= load->n_phases && load->n_phases > 0; i++) {
        double x = place_x(i > 0 ? load->phase_s[i - 1] / load->seconds : 0);
        if (i > 0)
            fprintf(out, "<line class=\"phase\" x1=\"%.1f\" x2=\"%.1f\" y1=\"6\" y2=\"%.0f\"/>\n", x, x,
                    HEIGHT - BOTTOM);
        if (x < free_from)
            continue;
        fprintf(out, "<text class=\"title\" x=\"%.1f\" y=\"16\">%zu</text>\n", x + 4, i + 1);
        free_from = x + LABEL_WIDTH;
    }
}

static void draw_bytes(FILE *out, const struct plot_load *load)
{
    char text[UNITS_TEXT_SIZE];
    double most = 0;
    for (size_t i = 0; i < load->n_intervals; i++)
        most = fmax(most, load->intervals[i].bps);
    begin_chart(out, "Bytes a second", "The figures stand in the table below.");
    most = draw_y_axis(out, most, format_rate);
    for (size_t i = 0; i < load->n_intervals; i++) {
        const struct plot_load_interval *interval = &load->intervals[i];
        begin_bar(out, interval->from_s / load->seconds, interval->to_s / load->seconds, 0,
                  interval->bps / most, 2);
        fprintf(out, "%.4g s to %.4g s: %s</title></rect>\n", interval->from_s, interval->to_s,
                units_format_rate(interval->bps, text));
    }
    draw_phases(out, load);
    draw_time_axis(out, load);
    end_chart(out, NULL, NULL, NULL, 0);
}

static double requests_per_s(const struct plot_load_interval *interval)
{
    double sum = 0;
    for (size_t kind = 0; kind < PLOT_LOAD_KINDS; kind++)
        sum += interval->per_s[kind];
    return sum;
}

/* The four kinds on top of each other. */
static void draw_interval_kinds(FILE *out, const struct plot_load *load, size_t i, double most)
{
    const struct plot_load_interval *interval = &load->intervals[i];
    char text[UNITS_TEXT_SIZE], all[UNITS_TEXT_SIZE];
    double below = 0;
    for (size_t kind = 0; kind < PLOT_LOAD_KINDS; kind++) {
        double per_s = interval->per_s[kind];
        if (!(per_s > 0))
            continue;
        begin_bar(out, interval->from_s / load->seconds, interval->to_s / load->seconds, below / most,
                  (below + per_s) / most, kind_colours[kind]);
        fprintf(out, "%.4g s to %.4g s: %s %s a second, of %s</title></rect>\n", interval->from_s,
                interval->to_s, format_count(per_s, text), kind_names[kind],
                format_count(requests_per_s(interval), all));
        below += per_s;
    }
}

static void draw_requests(FILE *out, const struct plot_load *load)
{
    double most = 0;
    bool has[PLOT_LOAD_KINDS] = {false};
    for (size_t i = 0; i < load->n_intervals; i++) {
        most = fmax(most, requests_per_s(&load->intervals[i]));
        for (size_t kind = 0; kind < PLOT_LOAD_KINDS; kind++)
            has[kind] = has[kind] || load->intervals[i].per_s[kind] > 0;
    }
    begin_chart(out, "Requests a second, by kind", "The figures stand in the table below.");
    most = draw_y_axis(out, most, format_count);
    for (size_t i = 0; i < load->n_intervals; i++)
        draw_interval_kinds(out, load, i, most);
    draw_phases(out, load);
    draw_time_axis(out, load);
    end_chart(out, kind_names, kind_colours, has, PLOT_LOAD_KINDS);
}

static void put_time_table(FILE *out, const struct plot_load *load)
{
    char text[UNITS_TEXT_SIZE];
    fputs("<details><summary>The figures over time as a table</summary>\n", out);
    markup_begin_table(
        out, "What came in each interval.",
        "From|To|Bytes/s|Sequential reads/s|Random reads/s|Sequential writes/s|Random writes/s");
    for (size_t i = 0; i < load->n_intervals; i++) {
        const struct plot_load_interval *interval = &load->intervals[i];
        fprintf(out, "<tr><th scope=\"row\">%.4g s</th><td>%.4g s</td><td>%s</td>", interval->from_s,
                interval->to_s, format_rate(interval->bps, text));
        for (size_t kind = 0; kind < PLOT_LOAD_KINDS; kind++)
            fprintf(out, "<td>%s</td>", format_count(interval->per_s[kind], text));
        fputs("</tr>\n", out);
    }
    markup_end_table(out);
    fputs("</details>\n", out);
}

static void put_over_time(FILE *out, const struct plot_load *load)
{
    markup_section(out, "Over time", "time");
    if (load->n[0] + load->n[1] == 0) {
        fputs("<p>Nothing was read or written.</p>\n</section>\n", out);
        return;
    }
    fputs("<div class=\"charts\">\n", out);
    draw_bytes(out, load);
    draw_requests(out, load);
    fputs("</div>\n", out);
    if (load->n_phases > 0)
        fputs("<p class=\"note\">Where a dashed line stands, another mix of requests begins; the numbers are "
              "those of the <a href=\"#phases\">phases</a>.</p>\n",
              out);
    put_time_table(out, load);
    fputs("</section>\n", out);
}

/* ---- sizes ---- */

static double size_percent(const struct plot_load *load, size_t direction, size_t i)
{
    return 100 * (double)load->n_by_size[direction][i] / (double)(load->n[0] + load->n[1]);
}

/* The first and last size that any request has, and the largest share. */
static double find_sizes(const struct plot_load *load, size_t *ret_first, size_t *ret_last)
{
    double most = 0;
    size_t first = PLOT_LOAD_SIZES, last = 0;
    for (size_t i = 0; i < PLOT_LOAD_SIZES; i++) {
        if (load->n_by_size[0][i] + load->n_by_size[1][i] == 0)
            continue;
        first = first < i ? first : i;
        last = i;
        most = fmax(most, fmax(size_percent(load, 0, i), size_percent(load, 1, i)));
    }
    *ret_first = first;
    *ret_last = last;
    return most;
}

static void draw_sizes(FILE *out, const struct plot_load *load)
{
    char text[UNITS_TEXT_SIZE];
    size_t first, last;
    double most = find_sizes(load, &first, &last);
    size_t n = last - first + 1, step = (n + MOST_TICKS - 1) / MOST_TICKS;
    const bool has[] = {load->n[0] > 0, load->n[1] > 0};
    begin_chart(out, "Sizes of the requests", "The figures stand in the table below.");
    most = draw_y_axis(out, most, format_share);
    for (size_t i = first; i <= last; i++) {
        double width = 0.8 / (double)n / 2, at = ((double)(i - first) + 0.1) / (double)n;
        for (size_t d = 0; d < 2; d++) {
            double percent = size_percent(load, d, i);
            if (!(percent > 0))
                continue;
            begin_bar(out, at + (double)d * width, at + (double)(d + 1) * width, 0, percent / most,
                      direction_colours[d]);
            fprintf(out, "%s of %s up to twice that: %.3g %% of the requests</title></rect>\n",
                    direction_names[d], units_format_size(1ULL << i, text), percent);
        }
        if ((i - first) % step == 0)
            put_x_label(out, ((double)(i - first) + 0.5) / (double)n, units_format_size(1ULL << i, text));
    }
    put_x_title(out, "request size, from this to the next");
    end_chart(out, direction_names, direction_colours, has, 2);
}

static void put_sizes_table(FILE *out, const struct plot_load *load)
{
    char text[UNITS_TEXT_SIZE];
    fputs("<details><summary>The sizes as a table</summary>\n", out);
    markup_begin_table(out, "Requests of each size, up to twice that.", "Size from|Reads|Writes");
    for (size_t i = 0; i < PLOT_LOAD_SIZES; i++) {
        if (load->n_by_size[0][i] + load->n_by_size[1][i] > 0)
            fprintf(out, "<tr><th scope=\"row\">%s</th><td>%llu</td><td>%llu</td></tr>\n",
                    units_format_size(1ULL << i, text), (unsigned long long)load->n_by_size[0][i],
                    (unsigned long long)load->n_by_size[1][i]);
    }
    markup_end_table(out);
    fputs("</details>\n", out);
}

/* ---- caches ---- */

/* Sizes double from one mark to the next or further. The curve holds from each cache on to the next. */
static void draw_caches(FILE *out, const struct plot_load *load)
{
    char text[UNITS_TEXT_SIZE];
    double first = INFINITY, last = -INFINITY;
    for (size_t i = 0; i < load->n_caches; i++) {
        first = fmin(first, floor(log2(load->caches[i].n_bytes)) - 1);
        last = fmax(last, ceil(log2(load->caches[i].n_bytes)) + 1);
    }
    double step = ceil((last - first) / (MOST_CACHE_TICKS - 1)), before = 0;
    last = first + step * ceil((last - first) / step);
    begin_chart(out, "What a cache would serve", "The figures stand in the table below.");
    draw_y_axis(out, 100, format_share);
    for (unsigned i = 0; first + i * step <= last; i++)
        put_x_label(out, i * step / (last - first),
                    units_format_bytes((uint64_t)fmin(exp2(first + i * step), MOST_BYTES), text));
    fprintf(out, "<path class=\"series\" stroke=\"var(--s0)\" d=\"M%.2f,%.2f", place_x(0), place_y(0));
    for (size_t i = 0; i < load->n_caches; i++) {
        double x = place_x((log2(load->caches[i].n_bytes) - first) / (last - first));
        fprintf(out, "L%.2f,%.2fL%.2f,%.2f", x, place_y(before), x, place_y(load->caches[i].served_share));
        before = load->caches[i].served_share;
    }
    fprintf(out, "L%.2f,%.2f\"/>\n", place_x(1), place_y(before));
    put_x_title(out, "size of the cache (LRU)");
    end_chart(out, NULL, NULL, NULL, 0);
}

static void put_caches_table(FILE *out, const struct plot_load *load)
{
    char text[UNITS_TEXT_SIZE];
    fputs("<details><summary>The caches as a table</summary>\n", out);
    markup_begin_table(out, "The share of all uses of blocks that a cache of each size would serve.",
                       "Cache|Uses that it serves");
    for (size_t i = 0; i < load->n_caches; i++)
        fprintf(out, "<tr><th scope=\"row\">%s</th><td>%.3g %%</td></tr>\n",
                units_format_bytes((uint64_t)load->caches[i].n_bytes, text),
                100 * load->caches[i].served_share);
    markup_end_table(out);
    fputs("</details>\n", out);
}

static void put_shapes(FILE *out, const struct plot_load *load)
{
    markup_section(out, "Sizes and reuse", "sizes");
    if (load->n[0] + load->n[1] == 0) {
        fputs("<p>Nothing was read or written.</p>\n</section>\n", out);
        return;
    }
    fputs("<div class=\"charts\">\n", out);
    draw_sizes(out, load);
    if (load->n_caches > 0)
        draw_caches(out, load);
    fputs("</div>\n", out);
    if (load->n_caches == 0)
        fputs("<p>No block was used twice: a cache would serve nothing.</p>\n", out);
    put_sizes_table(out, load);
    if (load->n_caches > 0)
        put_caches_table(out, load);
    fputs("</section>\n", out);
}

void page_profile_charts(FILE *out, const struct plot_load *load)
{
    put_over_time(out, load);
    put_shapes(out, load);
}
