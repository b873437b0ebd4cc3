/* Throughput over time: the runs of one point with their warm-up, the mean with its interval, and where a
 * burst ended. */
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>

/* The runs' point: the only one of a measurement, else that with most runs. */
static int find_point(const struct plot_request *request, const struct plot_data *data, size_t *ret_point,
                      struct err *err)
{
    struct plot_where where;
    size_t most = 0;
    int result = plot_where_read(&where, request->where, data, err);
    if (result < 0)
        return result;
    if (data->n_runs == 0)
        return err_set(
            err, -ENODATA,
            "it holds no single runs; give the JSON of fstune measure, or the journal of recommend --resume");
    if (data->source == PLOT_MEASUREMENT)
        most = 1;
    *ret_point = 0;
    for (size_t i = 0; i < data->n_points && data->source == PLOT_JOURNAL; i++) {
        if (data->points[i].bps.n > most && plot_where_fits(&where, &data->points[i])) {
            most = data->points[i].bps.n;
            *ret_point = i;
        }
    }
    return most > 0 ? 0 : err_set(err, -ENODATA, "no run is left to draw; see --where");
}

static double highest_rate_of_point(const struct plot_data *data, size_t point)
{
    double top = 0;
    for (size_t i = 0; i < data->n_runs; i++)
        top = data->runs[i].point == point ? fmax(top, data->runs[i].bps) : top;
    return top;
}

static double end_of(const struct plot_data *data)
{
    const struct plot_run *last = &data->runs[data->n_runs - 1];
    return last->start_seconds + last->warmup_seconds + last->seconds;
}

/* Start, length of the warm-up and of the timed part, rate, and whether the warm-up ended stable. */
static void write_runs(FILE *script, const struct plot_data *data, size_t point)
{
    fputs("$runs << EOD\n", script);
    for (size_t i = 0; i < data->n_runs; i++) {
        const struct plot_run *run = &data->runs[i];
        if (run->point == point)
            fprintf(script, "%.9g %.6g %.6g %.6g %d\n", run->start_seconds, run->warmup_seconds, run->seconds,
                    run->bps, run->stable);
    }
    fputs("EOD\n", script);
}

/* Where on the axis that much time of timed parts had passed. */
static double place_of_burst(const struct plot_data *data)
{
    double passed = 0;
    for (size_t i = 0; i < data->n_runs; i++) {
        const struct plot_run *run = &data->runs[i];
        if (passed + run->seconds >= data->burst_seconds)
            return run->start_seconds + run->warmup_seconds + data->burst_seconds - passed;
        passed += run->seconds;
    }
    return NAN;
}

/* What is not known is below 0. */
static void write_known(FILE *script, const char *name, double value)
{
    fprintf(script, "%s = %.6g\n", name, isfinite(value) ? value : -1);
}

static int draw_time(const struct plot_request *request, const struct plot_data *data, FILE *script,
                     struct err *err)
{
    char words[PLOT_TEXT_SIZE], what[2 * PLOT_TEXT_SIZE];
    size_t number = 0;
    int result = find_point(request, data, &number, err);
    if (result < 0)
        return result;
    const struct plot_point *point = &data->points[number];
    bool measured = data->source == PLOT_MEASUREMENT;
    snprintf(what, sizeof what, "Throughput over time: %s", plot_slice_words(data, point, words));
    plot_script_begin(script, request, data, what, data->verdict);
    fprintf(script, "is_measurement = %d\nfastest = %.6g\nend = %.6g\nmean = %.6g\n", measured,
            highest_rate_of_point(data, number), end_of(data), point->mean_bps);
    write_known(script, "low", point->ci_low_bps);
    write_known(script, "high", point->ci_high_bps);
    write_known(script, "burst_end", measured ? place_of_burst(data) : NAN);
    write_runs(script, data, number);
    fputs(plot_assets_head, script);
    fputs(plot_assets_time, script);
    return 0;
}

const struct plot_ops plot_time = {
    "time", "throughput of the runs over time, with warm-up and the end of a burst", draw_time};
