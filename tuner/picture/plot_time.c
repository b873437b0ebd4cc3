/* Throughput over time: the runs of one point with their warm-up, the mean with its interval, and where a
 * burst ended. */
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
            "it holds no single runs; give the JSON of fstune measure, or the journal of recommend "
            "--resume");
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

static double top_of(const struct plot_data *data, size_t point)
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

/* Boxes of the warm-ups, and the timed parts as middle and half width. stable: 0, 1. */
static void write_runs(FILE *script, const struct plot_data *data, size_t point, struct plot_unit unit,
                       double top)
{
    fputs("$warmup << EOD\n", script);
    for (size_t i = 0; i < data->n_runs; i++) {
        const struct plot_run *run = &data->runs[i];
        if (run->point == point && run->warmup_seconds > 0)
            fprintf(script, "%.6g %.6g %.6g %.6g\n", run->start_seconds + run->warmup_seconds / 2, top / 2,
                    run->warmup_seconds / 2, top / 2);
    }
    fputs("EOD\n$runs << EOD\n", script);
    for (size_t i = 0; i < data->n_runs; i++) {
        const struct plot_run *run = &data->runs[i];
        if (run->point == point)
            fprintf(script, "%.6g %.6g %.6g %d\n",
                    run->start_seconds + run->warmup_seconds + run->seconds / 2, run->bps / unit.bps,
                    run->seconds / 2, run->stable);
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

static bool any(const struct plot_data *data, size_t point, bool stable, bool warmed)
{
    for (size_t i = 0; i < data->n_runs; i++) {
        const struct plot_run *run = &data->runs[i];
        if (run->point == point && (warmed ? run->warmup_seconds > 0 : run->stable == stable))
            return true;
    }
    return false;
}

static void write_plot(FILE *script, const struct plot_request *request, const struct plot_data *data,
                       size_t point_number, struct plot_unit unit)
{
    const struct plot_point *point = &data->points[point_number];
    bool text = plot_script_is_text(request);
    double cliff = data->source == PLOT_MEASUREMENT ? place_of_burst(data) : NAN;
    fputs("plot \\\n", script);
    if (!text && any(data, point_number, false, true))
        fputs("  $warmup using 1:2:3:4 with boxxyerror fs solid noborder lc rgb '#DDDDDD' title 'warm-up', "
              "\\\n",
              script);
    if (!text && isfinite(point->ci_low_bps))
        fprintf(script,
                "  '+' using 1:(%.6g):(%.6g) with filledcurves fs transparent solid 0.25 noborder lc rgb "
                "'" PLOT_ORANGE "' title '%.3g %% interval of the mean', \\\n",
                point->ci_low_bps / unit.bps, point->ci_high_bps / unit.bps, 100 * data->confidence_share);
    fprintf(script, "  %.6g with lines lw 1.5 dt 2 lc rgb '" PLOT_RED "' title 'mean'",
            point->mean_bps / unit.bps);
    if (isfinite(cliff))
        fprintf(script,
                ", \\\n  $cliff using 1:2 with lines lw 2.5 lc rgb '#000000' title 'the burst ended'");
    for (int stable = 0; stable <= 1; stable++) {
        if (any(data, point_number, stable == 1, false))
            fprintf(script,
                    ", \\\n  $runs using 1:($4==%d ? $2 : 1/0):3 with %s lw 3 pt 7 lc rgb '%s' title '%s'",
                    stable, text ? "points" : "xerrorbars ps 0.7", stable == 1 ? PLOT_BLUE : PLOT_GREY,
                    stable == 1 ? "run" : "run, warm-up not stable");
    }
    fputc('\n', script);
}

static int draw(const struct plot_request *request, const struct plot_data *data, FILE *script,
                struct err *err)
{
    char words[PLOT_TEXT_SIZE], what[2 * PLOT_TEXT_SIZE];
    size_t number = 0;
    int result = find_point(request, data, &number, err);
    if (result < 0)
        return result;
    struct plot_unit unit = plot_script_unit(top_of(data, number));
    double top = fmax(top_of(data, number), data->points[number].mean_bps) / unit.bps * 1.1;
    bool measured = data->source == PLOT_MEASUREMENT;
    snprintf(what, sizeof what, "Throughput over time: %s",
             plot_slice_words(data, &data->points[number], words));
    plot_script_begin(script, request, data, what, data->verdict);
    fprintf(script,
            "set xlabel 'time%s, seconds'\nset ylabel 'throughput, %s'\nset yrange [0:%.6g]\nset xrange "
            "[0:%.6g]\n",
            measured ? " in runs (what lies between them is left out)" : " of the search", unit.name, top,
            end_of(data));
    plot_script_key_below(script, request, true);
    fputs("set samples 2\nset bars 0\n", script);
    write_runs(script, data, number, unit, top);
    if (measured && isfinite(place_of_burst(data)))
        fprintf(script, "$cliff << EOD\n%.6g 0\n%.6g %.6g\nEOD\n", place_of_burst(data), place_of_burst(data),
                top);
    write_plot(script, request, data, number, unit);
    return 0;
}

const struct plot_ops plot_time = {
    "time", "throughput of the runs over time, with warm-up and the end of a burst", draw};
