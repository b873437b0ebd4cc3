/* Predicted writes: cost over chunks, the states behind it, and dirty memory with its limits on a second
 * axis. */

#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* More columns than this show nothing more: each stands for several writes then. */
#define MAX_COLUMNS 1500U
#define NO_RUN      CAWL_N_RUNS
/* Above the highest limit; another than that of the costs, so that the two do not coincide. */
#define HEADROOM 1.14

struct column {
    double x, cost_s, low_s, high_s, dirty_bytes;
    enum cawl_run run; /* the worst in it, or NO_RUN */
};

struct picture {
    const struct plot_writes *what;
    struct column *columns;
    size_t n, per_column;
};

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

/* Leaves out limits that are far above: they would press the curve to the ground. */
static double top_of_prediction(const struct picture *picture)
{
    const double limits[] = {picture->what->limit_bg_bytes, picture->what->limit_hard_bytes};
    double dirty = 0, top;
    for (size_t i = 0; i < picture->n; i++)
        dirty = fmax(dirty, picture->columns[i].dirty_bytes);
    top = dirty;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        top = limits[i] < 4 * dirty ? fmax(top, limits[i]) : top;
    return HEADROOM * top;
}

static void write_columns(FILE *script, const struct picture *picture)
{
    fputs("$writes << EOD\n", script);
    for (size_t i = 0; i < picture->n; i++) {
        const struct column *column = &picture->columns[i];
        fprintf(script, "%.9g %.6g %.6g %.6g %.6g\n", column->x, column->cost_s, column->low_s,
                column->high_s, column->dirty_bytes);
    }
    fputs("EOD\n", script);
}

/* Neighbours in one state are one band: from which write to which, and the number of the state. */
static void write_bands(FILE *script, const struct picture *picture)
{
    const double last = (double)picture->what->prediction.n;
    fputs("$bands << EOD\n", script);
    for (size_t i = 0; i < picture->n; i++) {
        const size_t first = i;
        const enum cawl_run run = picture->columns[i].run;
        while (i + 1 < picture->n && picture->columns[i + 1].run == run)
            i++;
        fprintf(script, "%.9g %.9g %d\n", (double)(first * picture->per_column) - 0.5,
                fmin((double)((i + 1) * picture->per_column), last) - 0.5, (int)run);
    }
    fputs("EOD\n", script);
}

static void write_prediction_script(FILE *script, const struct plot_request *request,
                                    const struct plot_data *data, const struct picture *picture)
{
    const struct plot_writes *what = picture->what;
    char title[PLOT_TEXT_SIZE];
    snprintf(title, sizeof title, "Predicted cost of writes, %s", what->mode);
    plot_script_begin(script, request, data, title, what->load);
    fprintf(script,
            "n = %zu\nper_column = %zu\nnaive = %.6g\ntop_bytes = %.6g\nlimit_bg = %.6g\nlimit_hard = "
            "%.6g\narray band_names[%d] = [",
            what->prediction.n, picture->per_column, what->naive_s, top_of_prediction(picture),
            what->limit_bg_bytes, what->limit_hard_bytes, CAWL_N_RUNS - 1);
    for (size_t run = 1; run < CAWL_N_RUNS; run++)
        plot_script_item(script, run - 1, cawl_run_names[run], PLOT_TEXT_SIZE, false);
    plot_script_end_array(script);
    write_columns(script, picture);
    write_bands(script, picture);
    fputs(plot_assets_head, script);
    fputs(plot_assets_prediction, script);
}

static int draw_prediction(const struct plot_request *request, const struct plot_data *data, FILE *script,
                           struct err *err)
{
    const struct plot_writes *what = &data->writes;
    const size_t n = what->prediction.n;
    struct picture picture = {.what = what, .per_column = (n + MAX_COLUMNS - 1) / MAX_COLUMNS};
    size_t change = 0;
    if (n == 0)
        return err_set(err, -ENODATA, "it holds no prediction; give the JSON of fstune predict write");
    picture.n = (n + picture.per_column - 1) / picture.per_column;
    picture.columns = calloc(picture.n, sizeof *picture.columns);
    if (picture.columns == NULL)
        return err_set(err, -ENOMEM, "no memory");
    for (size_t i = 0; i < picture.n; i++)
        fill_column(&picture, i, &change);
    write_prediction_script(script, request, data, &picture);
    free(picture.columns);
    return 0;
}

const struct plot_ops plot_prediction = {
    "prediction", "predicted cost of writes, their states, and dirty memory with its limits",
    draw_prediction};
