/* Throughput over a factor that is a number, on a log2 axis, with interval bands; a second factor makes
 * several lines. */
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double number_at(const struct plot_slice *slice, size_t x)
{
    return plot_slice_level(slice, 0, x)->number;
}

/* A line's points. It is broken where one is missing, for nothing is known of what lies between its
 * neighbours; bands end where an interval is missing. */
static void write_line(FILE *script, const struct plot_slice *slice, struct plot_unit unit, size_t y)
{
    fprintf(script, "$line%zu << EOD\n", y);
    for (size_t x = 0; x < slice->axes[0].n; x++) {
        const struct plot_point *point = plot_slice_at(slice, x, y);
        if (point == NULL) {
            fputc('\n', script);
            continue;
        }
        fprintf(script, "%.17g %.6g", number_at(slice, x), point->mean_bps / unit.bps);
        plot_script_number(script, point->ci_low_bps / unit.bps);
        plot_script_number(script, point->ci_high_bps / unit.bps);
        fputc('\n', script);
    }
    fprintf(script, "EOD\n$band%zu << EOD\n", y);
    for (size_t x = 0; x < slice->axes[0].n; x++) {
        const struct plot_point *point = plot_slice_at(slice, x, y);
        if (point != NULL && isfinite(point->ci_low_bps) && isfinite(point->ci_high_bps))
            fprintf(script, "%.17g %.6g %.6g\n", number_at(slice, x), point->ci_low_bps / unit.bps,
                    point->ci_high_bps / unit.bps);
        else
            fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static size_t n_intervals(const struct plot_slice *slice, size_t y)
{
    size_t n = 0;
    for (size_t x = 0; x < slice->axes[0].n; x++) {
        const struct plot_point *point = plot_slice_at(slice, x, y);
        n += point != NULL && isfinite(point->ci_low_bps);
    }
    return n;
}

/* Labels that would touch the one before are left out; their tics stay. */
static void write_tics(FILE *script, const struct plot_request *request, const struct plot_slice *slice)
{
    const size_t n = slice->axes[0].n;
    bool text = plot_script_is_text(request);
    bool turned = n * 45 > request->width && !text;
    double room = text ? request->width - 10.0 : request->width - 260.0, last = -INFINITY;
    double per_octave = room / (log2(number_at(slice, n - 1) / number_at(slice, 0)) + 0.8);
    fprintf(script, "set xtics %s(", turned ? "rotate by 90 right " : "");
    for (size_t x = 0; x < n; x++) {
        const char *label = plot_slice_level(slice, 0, x)->text;
        double place = log2(number_at(slice, x)) * per_octave;
        double wide = text ? 1.0 + (double)strlen(label) : turned ? 15 : 8 * (double)strlen(label);
        bool fits = place - last >= wide;
        last = fits ? place : last;
        fprintf(script, "%s'%s' %.17g", x == 0 ? "" : ", ", fits ? label : "", number_at(slice, x));
    }
    fputs(")\n", script);
}

static void write_axis(FILE *script, const struct plot_request *request, const struct plot_slice *slice)
{
    char title[PLOT_TEXT_SIZE];
    bool bytes = plot_factors[slice->axes[0].factor].scale == PLOT_SIZE;
    snprintf(title, sizeof title, "%s%s", plot_factors[slice->axes[0].factor].title, bytes ? ", bytes" : "");
    plot_script_title(script, "x", title);
    fprintf(script, "set logscale x 2\nset xrange [%.6g:%.6g]\n", number_at(slice, 0) / 1.3,
            number_at(slice, slice->axes[0].n - 1) * 1.3);
    write_tics(script, request, slice);
}

static void write_plot(FILE *script, const struct plot_request *request, const struct plot_slice *slice)
{
    const char *separator = "plot \\\n";
    for (size_t y = 0; y < slice->axes[1].n && !plot_script_is_text(request); y++) {
        if (n_intervals(slice, y) > 1) {
            fprintf(script,
                    "%s  $band%zu using 1:2:3 with filledcurves fs transparent solid 0.22 noborder lc rgb "
                    "'%s' notitle",
                    separator, y, plot_series_colours[y]);
            separator = ", \\\n";
        }
    }
    for (size_t y = 0; y < slice->axes[1].n; y++) {
        const char *how =
            plot_script_is_text(request) ? "linespoints" : "linespoints pointsize 0.9 linewidth 2";
        fprintf(script, "%s  $line%zu using 1:2 with %s pt %zu lc rgb '%s' title ", separator, y, how,
                plot_script_is_text(request) ? y + 1 : 2 * (y % 4) + 5, plot_series_colours[y]);
        plot_script_text(script, slice->n_axes == 2 ? plot_slice_level(slice, 1, y)->text : "mean",
                         PLOT_LEVEL_SIZE);
        separator = ", \\\n";
        if (n_intervals(slice, y) > 0 && !plot_script_is_text(request))
            fprintf(script, "%s  $line%zu using 1:3:(0):($4-$3) " PLOT_WHISKERS " lw 1 lc rgb '%s' notitle",
                    separator, y, plot_series_colours[y]);
    }
    fputc('\n', script);
}

static bool is_drawable(const struct plot_slice *slice, struct err *err)
{
    if (slice->axes[1].n > PLOT_N_SERIES) {
        err_set(err, -EINVAL, "%s has %zu levels; lines can show %d: choose with --y and --where",
                plot_factors[slice->axes[1].factor].key, slice->axes[1].n, PLOT_N_SERIES);
        return false;
    }
    if (!plot_slice_is_number(slice->axes[0].factor) || number_at(slice, 0) <= 0) {
        err_set(err, -EINVAL, "%s is not a number above 0; lines need one as --x, such as request_size",
                plot_factors[slice->axes[0].factor].key);
        return false;
    }
    return true;
}

static int draw(const struct plot_request *request, const struct plot_data *data, FILE *script,
                struct err *err)
{
    struct plot_slice *slice = malloc(sizeof *slice);
    if (slice == NULL)
        return err_set(err, -ENOMEM, "no memory");
    /* With a second factor where there is one to vary. */
    int result = plot_slice_make(slice, request, data, 2, true, err);
    if (request->y[0] == '\0' &&
        (result == -EINVAL || (result == 0 && (slice->axes[1].n > PLOT_N_SERIES || slice->axes[1].n == 1))))
        result = plot_slice_make(slice, request, data, 1, true, err);
    if (result == 0 && !is_drawable(slice, err))
        result = -EINVAL;
    if (result == 0) {
        struct plot_unit unit = plot_script_unit(slice->max_bps);
        plot_script_begin_slice(script, request, slice);
        write_axis(script, request, slice);
        fprintf(script, "set ylabel 'throughput, %s'\nset yrange [0:%.6g]\n", unit.name,
                slice->max_bps / unit.bps * 1.05);
        fprintf(script, "set key outside %s",
                plot_script_is_text(request) ? "bottom horizontal" : "right top");
        if (slice->n_axes == 2) {
            fputs(" title ", script);
            plot_script_text(script, plot_factors[slice->axes[1].factor].title, PLOT_LEVEL_SIZE);
        }
        fputc('\n', script);
        for (size_t y = 0; y < slice->axes[1].n; y++)
            write_line(script, slice, unit, y);
        write_plot(script, request, slice);
    }
    free(slice);
    return result;
}

const struct plot_ops plot_lines = {"lines", "lines with interval bands over a log2 axis", draw};
