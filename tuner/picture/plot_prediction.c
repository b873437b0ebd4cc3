/* Predicted writes: cost over chunks, the states behind it, and dirty memory with its limits on a second
 * axis. */

#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More columns than this show nothing more: each stands for several writes then. */
#define MAX_COLUMNS 1500U
/* Costs that differ by more than this stand on a logarithmic axis. */
#define LOG_RATIO 30.0
#define NO_RUN    CAWL_N_RUNS
/* Above the highest limit; another than that of the costs, so that the two do not coincide. */
#define HEADROOM 1.14
#define FEW      10

struct column {
    double x, cost_s, low_s, high_s, dirty_bytes;
    enum cawl_run run; /* the worst in it, or NO_RUN */
};

struct unit {
    double value;
    const char *name;
};

static const char *const band_colours[CAWL_N_RUNS] = {NULL, "#FFF3C4", "#F9D3C6"};

struct picture {
    const struct plot_writes *what;
    struct column *columns;
    size_t n, per_column;
    struct unit time, bytes;
    double low_s, high_s, top_bytes; /* ends of the axes */
    bool is_log, is_text, has_dirty;
};

/* The largest of these units that is at most the value, or the smallest. */
static struct unit unit_of(double value, const struct unit *units, size_t n)
{
    size_t i = 0;
    while (i + 1 < n && value < units[i].value)
        i++;
    return units[i];
}

static void fill_column(struct picture *picture, size_t number, size_t *change)
{
    const struct cawl_prediction *prediction = &picture->what->prediction;
    struct column *column = &picture->columns[number];
    const size_t first = number * picture->per_column;
    const size_t left = prediction->n - first, n = left < picture->per_column ? left : picture->per_column;
    *column = (struct column){.low_s = INFINITY, .run = NO_RUN};
    for (size_t i = first; i < first + n; i++) {
        while (*change < prediction->n_changes && prediction->changes[*change].chunk <= i)
            ++*change;
        const enum cawl_run run = *change > 0 ? prediction->changes[*change - 1].run : NO_RUN;
        if (run != NO_RUN && (column->run == NO_RUN || run > column->run))
            column->run = run;
        column->cost_s += prediction->costs_s[i] / (double)n;
        column->low_s = fmin(column->low_s, prediction->costs_s[i]);
        column->high_s = fmax(column->high_s, prediction->costs_s[i]);
        column->dirty_bytes = fmax(column->dirty_bytes, prediction->dirty_bytes[i]);
    }
    column->x = (double)first + (double)(n - 1) / 2;
}

static void set_axes(struct picture *picture)
{
    static const struct unit times[] = {{1, "seconds"}, {1e-3, "ms"}, {1e-6, "us"}};
    static const struct unit sizes[] = {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
    const struct plot_writes *what = picture->what;
    double low = INFINITY, high = what->naive_s, dirty = 0;
    for (size_t i = 0; i < picture->n; i++) {
        low = fmin(low, picture->columns[i].low_s);
        high = fmax(high, picture->columns[i].high_s);
        dirty = fmax(dirty, picture->columns[i].dirty_bytes);
    }
    picture->is_log = low > 0 && high > LOG_RATIO * low;
    picture->time = unit_of(high, times, sizeof times / sizeof times[0]);
    picture->low_s = picture->is_log ? low / 1.5 : 0;
    picture->high_s = high > 0 ? (picture->is_log ? 1.5 * high : 1.08 * high) : 1;
    picture->has_dirty = dirty > 0;
    /* Limits that are far away would press the curve to the ground. */
    picture->top_bytes = HEADROOM * dirty;
    if (what->limit_bg_bytes < 4 * dirty)
        picture->top_bytes = fmax(picture->top_bytes, HEADROOM * what->limit_bg_bytes);
    if (what->limit_hard_bytes < 4 * dirty)
        picture->top_bytes = fmax(picture->top_bytes, HEADROOM * what->limit_hard_bytes);
    picture->bytes = unit_of(picture->top_bytes, sizes, sizeof sizes / sizeof sizes[0]);
}

static void write_head(FILE *script, const struct plot_request *request, const struct plot_data *data,
                       const struct picture *picture)
{
    const struct plot_writes *what = picture->what;
    char title[PLOT_TEXT_SIZE], label[64];
    snprintf(title, sizeof title, "Predicted cost of writes, %s", what->mode);
    plot_script_begin(script, request, data, title, what->load);
    snprintf(label, sizeof label, "cost of a write, %s", picture->time.name);
    plot_script_title(script, "x", "write");
    plot_script_title(script, "y", label);
    fprintf(script, "set xrange [-0.5:%zu.5]\nset yrange [%.6g:%.6g]\n", what->prediction.n - 1,
            picture->low_s / picture->time.value, picture->high_s / picture->time.value);
    if (what->prediction.n <= FEW)
        fputs("set xtics 1\n", script); /* else there would be tics between the writes */
    fputs(picture->is_log ? "set format x '%.0f'\nset logscale y 10\n" : "set format x '%.0f'\n", script);
    if (picture->has_dirty) {
        snprintf(label, sizeof label, "dirty memory, %s", picture->bytes.name);
        if (!picture->is_text)
            plot_script_title(script, "y2", label);
        fprintf(script, "set y2range [0:%.6g]\nset y2tics nomirror\n",
                picture->top_bytes / picture->bytes.value);
        if (!picture->is_text)
            fputs("set border 11 linecolor rgb '#404040'\n", script);
    }
    plot_script_key_below(script, request, true);
}

static void write_columns(FILE *script, const struct picture *picture)
{
    fputs("$writes << EOD\n", script);
    for (size_t i = 0; i < picture->n; i++) {
        const struct column *column = &picture->columns[i];
        const double values[] = {column->x, column->cost_s / picture->time.value,
                                 column->low_s / picture->time.value, column->high_s / picture->time.value,
                                 column->dirty_bytes / picture->bytes.value};
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
            plot_script_number(script, values[v]);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

/* Boxes on the second axis, which is linear and begins at 0: neighbours in one state are one box. Returns how
 * many. */
static size_t write_bands(FILE *script, const struct picture *picture, enum cawl_run run)
{
    const double half = picture->top_bytes / picture->bytes.value / 2,
                 last = (double)picture->what->prediction.n;
    size_t n = 0;
    fprintf(script, "$%s << EOD\n", cawl_run_names[run]);
    for (size_t i = 0; i < picture->n; i++) {
        const size_t first = i;
        if (picture->columns[i].run != run)
            continue;
        while (i + 1 < picture->n && picture->columns[i + 1].run == run)
            i++;
        const double from = (double)(first * picture->per_column) - 0.5;
        const double to = fmin((double)((i + 1) * picture->per_column), last) - 0.5;
        fprintf(script, "%.9g %.6g %.9g %.6g\n", (from + to) / 2, half, (to - from) / 2, half);
        n++;
    }
    fputs("EOD\n", script);
    return n;
}

static void draw_bands(FILE *script, const size_t n_bands[CAWL_N_RUNS])
{
    for (size_t run = 0; run < CAWL_N_RUNS; run++) {
        if (n_bands[run] > 0)
            fprintf(script,
                    "  $%s using 1:2:3:4 axes x1y2 with boxxyerror fs solid noborder lc rgb '%s' title '%s', "
                    "\\\n",
                    cawl_run_names[run], band_colours[run], cawl_run_names[run]);
    }
}

static void draw_dirty(FILE *script, const struct picture *picture)
{
    const struct {
        double bytes;
        const char *words, *dashes;
    } limits[] = {{picture->what->limit_bg_bytes, "writeback begins", "3"},
                  {picture->what->limit_hard_bytes, "writers wait", "2"}};
    fprintf(script,
            ", \\\n  $writes using 1:5 axes x1y2 with lines lw 2 lc rgb '" PLOT_BLUE
            "' title 'dirty memory, %s'",
            picture->bytes.name);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].bytes <= picture->top_bytes)
            fprintf(script,
                    ", \\\n  %.6g axes x1y2 with lines lw 1.5 dt %s lc rgb '" PLOT_GREEN "' title '%s'",
                    limits[i].bytes / picture->bytes.value, limits[i].dashes, limits[i].words);
    }
}

static void write_plot(FILE *script, const struct picture *picture, const size_t n_bands[CAWL_N_RUNS])
{
    fputs("plot \\\n", script);
    draw_bands(script, n_bands);
    if (picture->per_column > 1 && !picture->is_text)
        fprintf(script,
                "  $writes using 1:3:4 with filledcurves fs transparent solid 0.3 noborder lc rgb '" PLOT_RED
                "' title 'least to most of %zu writes', \\\n",
                picture->per_column);
    fprintf(script, "  $writes using 1:2 with %s lc rgb '" PLOT_RED "' title 'cost%s, %s'",
            picture->per_column > 1 ? "lines lw 1.5"
            : picture->n > 200      ? "points pt 7 ps 0.3"
                                    : "points pt 7 ps 0.7",
            picture->per_column > 1 ? ", mean" : "", picture->time.name);
    if (picture->what->naive_s > 0)
        fprintf(script, ", \\\n  %.6g with lines lw 1.5 dt 4 lc rgb '" PLOT_GREY "' title 'naive, mean'",
                picture->what->naive_s / picture->time.value);
    if (picture->has_dirty)
        draw_dirty(script, picture);
    fputc('\n', script);
}

static int draw(const struct plot_request *request, const struct plot_data *data, FILE *script,
                struct err *err)
{
    const struct plot_writes *what = &data->writes;
    const size_t n = what->prediction.n;
    struct picture picture = {.what = what,
                              .is_text = plot_script_is_text(request),
                              .per_column = (n + MAX_COLUMNS - 1) / MAX_COLUMNS};
    size_t change = 0, n_bands[CAWL_N_RUNS] = {0};
    if (n == 0)
        return err_set(err, -ENODATA, "it holds no prediction; give the JSON of fstune predict write");
    picture.n = (n + picture.per_column - 1) / picture.per_column;
    picture.columns = calloc(picture.n, sizeof *picture.columns);
    if (picture.columns == NULL)
        return err_set(err, -ENOMEM, "no memory");
    for (size_t i = 0; i < picture.n; i++)
        fill_column(&picture, i, &change);
    set_axes(&picture);
    write_head(script, request, data, &picture);
    write_columns(script, &picture);
    for (size_t run = 0; run < CAWL_N_RUNS; run++) {
        if (band_colours[run] != NULL && picture.has_dirty && !picture.is_text)
            n_bands[run] = write_bands(script, &picture, (enum cawl_run)run);
    }
    write_plot(script, &picture, n_bands);
    free(picture.columns);
    return 0;
}

const struct plot_ops plot_prediction = {
    "prediction", "predicted cost of writes, their states, and dirty memory with its limits", draw};
