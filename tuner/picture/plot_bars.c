/* Bars over one factor: the mean as height, its interval as whiskers, the scatter as colour. */
#include "tuner/picture/plot_script.h"

#include "bench/base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void write_data(FILE *script, const struct plot_slice *slice, struct plot_unit unit)
{
    fputs("$bars << EOD\n", script);
    for (size_t i = 0; i < slice->axes[0].n; i++) {
        const struct plot_point *point = plot_slice_at(slice, i, 0);
        fprintf(script, "%zu %zu", i, plot_script_scatter(point));
        plot_script_number(script, point->mean_bps / unit.bps);
        plot_script_number(script, point->ci_low_bps / unit.bps);
        plot_script_number(script, point->ci_high_bps / unit.bps);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static bool has_intervals(const struct plot_slice *slice)
{
    for (size_t i = 0; i < slice->axes[0].n; i++) {
        if (isfinite(plot_slice_at(slice, i, 0)->ci_low_bps))
            return true;
    }
    return false;
}

static bool has_scatter(const struct plot_slice *slice, size_t number)
{
    for (size_t i = 0; i < slice->axes[0].n; i++) {
        if (plot_script_scatter(plot_slice_at(slice, i, 0)) == number)
            return true;
    }
    return false;
}

static void write_plot(FILE *script, const struct plot_request *request, const struct plot_slice *slice)
{
    const char *fill = plot_script_is_text(request) ? "" : "fillstyle solid border lc rgb '#404040'";
    fputs("plot \\\n", script);
    for (size_t number = 0; number < PLOT_N_SCATTERS; number++) {
        bool used = has_scatter(slice, number);
        if (used)
            fprintf(script, "  $bars using 1:($2==%zu ? $3 : 1/0) with boxes %s lc rgb '%s' title '%s', \\\n",
                    number, fill, plot_scatters[number].colour, plot_scatters[number].words);
        else if (!plot_script_is_text(request) && number < PLOT_N_SCATTERS - 1)
            fprintf(script, "  keyentry with boxes %s lc rgb '%s' title '%s', \\\n", fill,
                    plot_scatters[number].colour, plot_scatters[number].words);
    }
    if (has_intervals(slice) && !plot_script_is_text(request))
        fprintf(script,
                "  $bars using 1:4:(0):($5-$4) " PLOT_WHISKERS
                " lw 1.5 lc rgb '#000000' title '%.3g %% interval'\n",
                100 * slice->data->confidence_share);
    else
        fputs("  1/0 notitle\n", script);
}

static int draw(const struct plot_request *request, const struct plot_data *data, FILE *script,
                struct err *err)
{
    struct plot_slice *slice = malloc(sizeof *slice);
    if (slice == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = plot_slice_make(slice, request, data, 1, false, err);
    if (result == 0) {
        struct plot_unit unit = plot_script_unit(slice->max_bps);
        plot_script_begin_slice(script, request, slice);
        plot_script_levels(script, request, slice, 0, "x", false);
        fprintf(script, "set ylabel 'throughput, %s'\nset yrange [0:%.6g]\nset xrange [-0.7:%.1f]\n",
                unit.name, slice->max_bps / unit.bps * 1.05, (double)slice->axes[0].n - 0.3);
        if (plot_script_is_text(request))
            fputs("set boxwidth 0.6\nset key outside bottom horizontal\n", script);
        else
            fputs("set boxwidth 0.72\nset grid noxtics\nset style line 1 lw 1\n"
                  "set key outside right top reverse Left samplen 1.5 title 'std / mean'\n",
                  script);
        write_data(script, slice, unit);
        write_plot(script, request, slice);
    }
    free(slice);
    return result;
}

const struct plot_ops plot_bars = {"bars", "bars over one factor, coloured by their scatter", draw};
