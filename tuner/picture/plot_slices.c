/* The kinds that show a slice: bars, bars in space, lines, a heat map. They share variables and data. */
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* As many as there are colours. */
#define MAX_LINES 8

/* percent: the labels of tics are formats to gnuplot. */
static void write_levels(FILE *script, const char *name, const struct plot_slice *slice, size_t axis,
                         bool percent)
{
    plot_script_begin_array(script, name, slice->axes[axis].n);
    for (size_t i = 0; i < slice->axes[axis].n; i++)
        plot_script_item(script, i, plot_slice_level(slice, axis, i)->text, PLOT_LEVEL_SIZE, percent);
    plot_script_end_array(script);
}

static void write_axis(FILE *script, const char *name, const struct plot_slice *slice, size_t axis)
{
    char variable[16];
    const bool is_used = axis < slice->n_axes;
    snprintf(variable, sizeof variable, "%s_title", name);
    plot_script_string(script, variable, is_used ? plot_factors[slice->axes[axis].factor].title : "",
                       PLOT_TEXT_SIZE);
    fprintf(script, "n_%s = %zu\n", name, slice->axes[axis].n);
    snprintf(variable, sizeof variable, "%s_tics", name);
    if (is_used)
        write_levels(script, variable, slice, axis, true);
    else
        fprintf(script, "array %s[1] = ['']\n", variable);
}

/* 2: the best of the slice, 1: as good as it, -1: not measured. */
static int mark_of(const struct plot_slice *slice, const struct plot_point *point)
{
    if (point == NULL)
        return -1;
    return point == slice->best ? 2 : (point->marks & PLOT_EQUIVALENT) != 0;
}

static bool has_interval(const struct plot_point *point)
{
    return point != NULL && isfinite(point->ci_low_bps) && isfinite(point->ci_high_bps);
}

/* x, y, mean, bounds of the interval, scatter, mark, level of x as a number, whether there is an interval,
 * number of runs. What is not measured is a row of NaN, which breaks a line; a level of y is a block. */
static void write_points(FILE *script, const struct plot_slice *slice)
{
    fputs("$points << EOD\n", script);
    for (size_t y = 0; y < slice->axes[1].n; y++) {
        for (size_t x = 0; x < slice->axes[0].n; x++) {
            const struct plot_point *point = plot_slice_at(slice, x, y);
            fprintf(script, "%zu %zu", x, y);
            plot_script_number(script, point != NULL ? point->mean_bps : NAN);
            plot_script_number(script, point != NULL ? point->ci_low_bps : NAN);
            plot_script_number(script, point != NULL ? point->ci_high_bps : NAN);
            /* The scatter as a share of the mean; below 0: of one run only. */
            plot_script_number(
                script, point != NULL && isfinite(point->std_bps) ? point->std_bps / point->mean_bps : -1);
            fprintf(script, " %d %.17g %d", mark_of(slice, point), plot_slice_level(slice, 0, x)->number,
                    has_interval(point));
            plot_script_number(script, point != NULL ? point->replays : NAN);
            fputc('\n', script);
        }
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static size_t n_intervals(const struct plot_slice *slice)
{
    size_t n = 0;
    for (size_t i = 0; i < slice->axes[0].n * slice->axes[1].n; i++)
        n += has_interval(slice->cells[i]);
    return n;
}

static void write_numbers(FILE *script, const struct plot_slice *slice)
{
    plot_script_begin_array(script, "x_numbers", slice->axes[0].n);
    for (size_t i = 0; i < slice->axes[0].n; i++)
        fprintf(script, "%s%.17g", i > 0 ? ", " : "", plot_slice_level(slice, 0, i)->number);
    plot_script_end_array(script);
    fprintf(script, "x_is_size = %d\n", plot_factors[slice->axes[0].factor].scale == PLOT_SIZE);
    if (slice->n_axes == 2)
        write_levels(script, "names", slice, 1, false);
    else
        fputs("array names[1] = ['mean']\n", script);
}

static void write_slice(FILE *script, const struct plot_request *request, const struct plot_slice *slice,
                        const char *kind)
{
    plot_script_begin_slice(script, request, slice);
    plot_script_string(script, "kind", kind, PLOT_TEXT_SIZE);
    fprintf(script, "n_axes = %zu\ntop = %.6g\nn_intervals = %zu\n", slice->n_axes, slice->max_bps,
            n_intervals(slice));
    plot_script_string(script, "best_name",
                       (slice->best->marks & PLOT_RECOMMENDED) != 0 ? "recommended" : "best", PLOT_TEXT_SIZE);
    write_axis(script, "x", slice, 0);
    write_axis(script, "y", slice, 1);
    write_points(script, slice);
    fputs(plot_assets_head, script);
}

static int draw_with_levels(const struct plot_request *request, const struct plot_data *data, FILE *script,
                            const struct plot_ops *ops, size_t n_axes, const char *body, struct err *err)
{
    struct plot_slice *slice = malloc(sizeof *slice);
    if (slice == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = plot_slice_make(slice, request, data, n_axes, false, err);
    if (result == 0) {
        write_slice(script, request, slice, ops->name);
        fputs(plot_assets_levels, script);
        fputs(body, script);
    }
    free(slice);
    return result;
}

static int draw_bars(const struct plot_request *request, const struct plot_data *data, FILE *script,
                     struct err *err)
{
    return draw_with_levels(request, data, script, &plot_bars, 1, plot_assets_bars, err);
}

static int draw_bars3d(const struct plot_request *request, const struct plot_data *data, FILE *script,
                       struct err *err)
{
    return draw_with_levels(request, data, script, &plot_bars3d, 2, plot_assets_bars3d, err);
}

static int draw_heatmap(const struct plot_request *request, const struct plot_data *data, FILE *script,
                        struct err *err)
{
    return draw_with_levels(request, data, script, &plot_heatmap, 2, plot_assets_heatmap, err);
}

static bool is_drawable(const struct plot_slice *slice, struct err *err)
{
    if (slice->axes[1].n > MAX_LINES) {
        err_set(err, -EINVAL, "%s has %zu levels; lines can show %d: choose with --y and --where",
                plot_factors[slice->axes[1].factor].key, slice->axes[1].n, MAX_LINES);
        return false;
    }
    if (!plot_slice_is_number(slice->axes[0].factor) || plot_slice_level(slice, 0, 0)->number <= 0) {
        err_set(err, -EINVAL, "%s is not a number above 0; lines need one as --x, such as request_size",
                plot_factors[slice->axes[0].factor].key);
        return false;
    }
    return true;
}

static int draw_lines(const struct plot_request *request, const struct plot_data *data, FILE *script,
                      struct err *err)
{
    struct plot_slice *slice = malloc(sizeof *slice);
    if (slice == NULL)
        return err_set(err, -ENOMEM, "no memory");
    /* The picture shows a second factor where one can be varied. */
    int result = plot_slice_make(slice, request, data, 2, true, err);
    if (request->y[0] == '\0' &&
        (result == -EINVAL || (result == 0 && (slice->axes[1].n > MAX_LINES || slice->axes[1].n == 1))))
        result = plot_slice_make(slice, request, data, 1, true, err);
    if (result == 0 && !is_drawable(slice, err))
        result = -EINVAL;
    if (result == 0) {
        write_slice(script, request, slice, plot_lines.name);
        write_numbers(script, slice);
        fputs(plot_assets_lines, script);
    }
    free(slice);
    return result;
}

const struct plot_ops plot_bars = {"bars", "bars over one factor, with intervals and numbers of runs",
                                   draw_bars};
const struct plot_ops plot_bars3d = {"bars3d", "bars over two factors in space, pale where they scatter",
                                     draw_bars3d};
const struct plot_ops plot_heatmap = {"heatmap", "throughput over two factors as colour, the best marked",
                                      draw_heatmap};
const struct plot_ops plot_lines = {"lines", "lines with interval bands over a log2 axis", draw_lines};
