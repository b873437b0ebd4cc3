/* Latency by percentile, on an axis that stretches the tail. */
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MAX_CURVES    4
#define N_JOURNAL     60 /* steps of a curve */
#define LEAST_BEYOND  5  /* requests slower than the last percentile drawn */
#define LEAST_RUNS    3  /* with fewer, runs may differ by more than requests do */
#define SHARE_TO_X(p) (-log10(1 - (p)))
#define JOURNAL_STEP  0.08

struct curves {
    size_t n;
    size_t point[MAX_CURVES];
    size_t under_way; /* the curve that is written, from 1 on */
    size_t n_values;
};

static void write_value(FILE *script, double x, struct plot_quantile quantile, struct curves *curves)
{
    if (!isfinite(quantile.ns))
        return;
    fprintf(script, "%.6g %.6g", x, quantile.ns);
    plot_script_number(script, quantile.low_ns);
    plot_script_number(script, quantile.high_ns);
    fprintf(script, " %zu\n", curves->under_way);
    curves->n_values++;
}

/* What a document holds: three percentiles with their intervals. */
static void write_few(FILE *script, const struct plot_point *point, struct curves *curves)
{
    write_value(script, SHARE_TO_X(0.5), point->p50, curves);
    write_value(script, SHARE_TO_X(0.99), point->p99, curves);
    write_value(script, SHARE_TO_X(0.999), point->p999, curves);
}

/* What a journal holds: the sketches of all runs, pooled. 0 or -ENOMEM. */
static int write_many(FILE *script, const struct plot_data *data, size_t point, struct curves *curves)
{
    struct histogram *pooled = malloc(2 * sizeof *pooled);
    if (pooled == NULL)
        return -ENOMEM;
    histogram_init(pooled);
    for (size_t i = 0; i < data->n_runs; i++) {
        if (data->runs[i].point != point)
            continue;
        histogram_init(&pooled[1]);
        latency_quantiles_unfold(&data->runs[i].quantiles, data->runs[i].latency_mean_ns, &pooled[1]);
        histogram_merge(pooled, &pooled[1]);
    }
    for (int i = 0; i <= N_JOURNAL; i++) {
        double x = i * JOURNAL_STEP, share = 1 - pow(10, -x);
        uint64_t ns;
        if ((double)pooled->n * (1 - share) < LEAST_BEYOND || histogram_quantile_ns(pooled, share, &ns) < 0)
            break;
        write_value(script, x, (struct plot_quantile){(double)ns, NAN, NAN}, curves);
    }
    free(pooled);
    return 0;
}

static bool has_latency(const struct plot_data *data, const struct plot_point *point)
{
    if (data->source == PLOT_JOURNAL)
        return point->bps.n >= LEAST_RUNS;
    return isfinite(point->p50.ns) && isfinite(point->p99.ns) && !(point->replays < LEAST_RUNS);
}

/* Points of greater weight are shown first: those with a role, then those measured most often. */
static double weight_of(const struct plot_data *data, size_t i)
{
    const struct plot_point *point = &data->points[i];
    double roles = (point->marks & PLOT_RECOMMENDED) != 0 ? 3e6 : 0;
    roles += (point->marks & PLOT_BASELINE) != 0 ? 2e6 : 0;
    roles += (point->marks & PLOT_BEST) != 0 ? 1e6 : 0;
    return roles + (double)point->bps.n;
}

/* Each of several results is one point. */
static bool is_of_several(const struct plot_data *data)
{
    return data->levels[PLOT_FACTOR_RESULT].n > 1;
}

static void choose_curves(struct curves *curves, const struct plot_data *data, const struct plot_where *where)
{
    while (curves->n < MAX_CURVES) {
        size_t chosen = data->n_points;
        for (size_t i = 0; i < data->n_points; i++) {
            bool known = false;
            for (size_t j = 0; j < curves->n; j++)
                known |= curves->point[j] == i;
            if (!known && has_latency(data, &data->points[i]) && plot_where_fits(where, &data->points[i]) &&
                (chosen == data->n_points || weight_of(data, i) > weight_of(data, chosen)))
                chosen = i;
        }
        /* A document with points that have a role shows no others. */
        if (chosen == data->n_points)
            return;
        if (curves->n > 0 && weight_of(data, chosen) <= 0 && !is_of_several(data))
            return;
        curves->point[curves->n++] = chosen;
    }
}

static int refuse_gaps(const struct plot_data *data, struct err *err)
{
    char words[PLOT_TEXT_SIZE];
    size_t i = 0;
    while (i + 1 < data->n_points && has_latency(data, &data->points[i]))
        i++;
    return err_set(err, -ENODATA,
                   "%s: its p99 is not known, for which some 500 requests in %d runs are needed; name a "
                   "setting with --where, or measure longer",
                   plot_slice_words(data, &data->points[i], words), LEAST_RUNS);
}

static const char *role_of(const struct plot_point *point)
{
    if ((point->marks & PLOT_RECOMMENDED) != 0)
        return "recommended: ";
    if ((point->marks & PLOT_BASELINE) != 0)
        return "baseline: ";
    return (point->marks & PLOT_BEST) != 0 ? "best: " : "";
}

static void write_percentiles_head(FILE *script, const struct plot_request *request,
                                   const struct plot_data *data, const struct curves *curves)
{
    const bool is_pooled = data->source == PLOT_JOURNAL;
    plot_script_begin(script, request, data, "Latency by percentile",
                      is_pooled ? "all runs of a point pooled" : "with the intervals that are known");
    fprintf(script, "is_pooled = %d\nn = %zu\n", is_pooled, curves->n);
    plot_script_begin_array(script, "titles", curves->n);
    for (size_t i = 0; i < curves->n; i++) {
        char words[PLOT_TEXT_SIZE], title[PLOT_TEXT_SIZE + 32];
        const struct plot_point *point = &data->points[curves->point[i]];
        snprintf(title, sizeof title, "%s%s", role_of(point), plot_slice_words(data, point, words));
        plot_script_key(script, i, request, title);
    }
    plot_script_end_array(script);
}

static int draw_percentiles(const struct plot_request *request, const struct plot_data *data, FILE *script,
                            struct err *err)
{
    struct plot_where where;
    struct curves curves = {0};
    char *block = NULL;
    size_t size = 0;
    int result = plot_where_read(&where, request->where, data, err);
    if (result < 0)
        return result;
    choose_curves(&curves, data, &where);
    if (is_of_several(data) && curves.n < data->n_points)
        return refuse_gaps(data, err);
    FILE *blocks = open_memstream(&block, &size);
    if (blocks == NULL)
        return err_set(err, -ENOMEM, "no memory");
    for (size_t i = 0; i < curves.n && result == 0; i++) {
        curves.under_way = i + 1;
        if (data->source == PLOT_JOURNAL)
            result = write_many(blocks, data, curves.point[i], &curves);
        else
            write_few(blocks, &data->points[curves.point[i]], &curves);
        fputc('\n', blocks);
    }
    if (fclose(blocks) != 0 || result < 0)
        result = err_set(err, -ENOMEM, "no memory");
    else if (curves.n_values == 0)
        result = err_set(
            err, -ENODATA,
            "no setting in it has a p99 over at least %d runs, for which some 500 requests are needed; "
            "measure longer, or more often (--duration, --replays)",
            LEAST_RUNS);
    if (result == 0) {
        write_percentiles_head(script, request, data, &curves);
        fprintf(script, "$curves << EOD\n%sEOD\n%s%s", block, plot_assets_head, plot_assets_percentiles);
    }
    free(block);
    return result;
}

const struct plot_ops plot_percentiles = {"percentiles", "latency by percentile of requests",
                                          draw_percentiles};
