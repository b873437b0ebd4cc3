/* Throughput over two factors as colour, with the best point and those as good as it marked. */
#include "tuner/picture/plot_script.h"

#include "bench/base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MAX_NUMBERS 160 /* cells; more would overlap */

static void write_missing(FILE *script, const struct plot_slice *slice)
{
    fputs("$missing << EOD\n", script);
    for (size_t x = 0; x < slice->axes[0].n; x++) {
        for (size_t y = 0; y < slice->axes[1].n; y++) {
            if (plot_slice_at(slice, x, y) == NULL)
                fprintf(script, "%zu %zu\n", x, y);
        }
    }
    fputs("EOD\n", script);
}

static void write_cells(FILE *script, const struct plot_slice *slice, struct plot_unit unit)
{
    fputs("$cells << EOD\n", script);
    for (size_t x = 0; x < slice->axes[0].n; x++) {
        for (size_t y = 0; y < slice->axes[1].n; y++) {
            const struct plot_point *point = plot_slice_at(slice, x, y);
            if (point != NULL)
                fprintf(script, "%zu %zu %.6g\n", x, y, point->mean_bps / unit.bps);
        }
    }
    fputs("EOD\n", script);
}

/* Points with one of the marks; how many there are. */
static size_t write_marked(FILE *script, const struct plot_slice *slice, const char *name, unsigned marks)
{
    size_t n = 0;
    fprintf(script, "$%s << EOD\n", name);
    for (size_t x = 0; x < slice->axes[0].n; x++) {
        for (size_t y = 0; y < slice->axes[1].n; y++) {
            const struct plot_point *point = plot_slice_at(slice, x, y);
            bool is_best = point != NULL && point == slice->best;
            if (point == NULL || (marks == PLOT_BEST ? !is_best : is_best || (point->marks & marks) == 0))
                continue;
            fprintf(script, "%zu %zu\n", x, y);
            n++;
        }
    }
    fputs("EOD\n", script);
    return n;
}

/* Black on the light half of the palette, white on the dark one. */
static void write_numbers(FILE *script, const struct plot_request *request, const struct plot_slice *slice,
                          struct plot_unit unit)
{
    bool text = plot_script_is_text(request);
    if (!text && slice->n_cells > MAX_NUMBERS)
        return;
    for (size_t x = 0; x < slice->axes[0].n; x++) {
        for (size_t y = 0; y < slice->axes[1].n; y++) {
            char number[UNITS_TEXT_SIZE];
            const struct plot_point *point = plot_slice_at(slice, x, y);
            if (point == NULL)
                continue;
            bool is_best = point == slice->best, is_equal = (point->marks & PLOT_EQUIVALENT) != 0;
            fprintf(script, "set label '%s%s' at %zu,%zu center front",
                    plot_script_rate(point->mean_bps, unit, number),
                    !text      ? ""
                    : is_best  ? "*"
                    : is_equal ? "="
                               : "",
                    x, y);
            if (!text)
                fprintf(script, " font ',%d' textcolor rgb '%s'", request->terminal == PLOT_SVG ? 11 : 8,
                        point->mean_bps > 0.6 * slice->max_bps ? "#000000" : "#ffffff");
            fputc('\n', script);
        }
    }
}

static const char *name_of_best(const struct plot_slice *slice)
{
    return (slice->best->marks & PLOT_RECOMMENDED) != 0 ? "recommended" : "best";
}

/* Black on white, which every colour of the palette leaves visible. */
static void write_frame(FILE *script, const char *points, const char *stroke, const char *title,
                        const char *end)
{
    const char *const box = "using 1:2:(0.44):(0.42) with boxxyerror fs empty border lc rgb";
    fprintf(script, "  %s %s '#FFFFFF' lw 5 lc rgb '#FFFFFF' notitle, \\\n", points, box);
    fprintf(script, "  %s %s '#000000' %s lc rgb '#000000' title '%s'%s", points, box, stroke, title, end);
}

static void write_plot(FILE *script, const struct plot_request *request, const struct plot_slice *slice,
                       size_t n_equal)
{
    if (plot_script_is_text(request)) {
        fprintf(script, "plot $best using 1:2 with dots title '* %s'%s\n", name_of_best(slice),
                n_equal > 0 ? ", $equal using 1:2 with dots title '= as good as the best'" : "");
        return;
    }
    fputs("plot ", script);
    if (slice->n_cells < slice->axes[0].n * slice->axes[1].n)
        fputs("$missing using 1:2:(0.5):(0.5) with boxxyerror fs pattern 4 border lc rgb '#D0D0D0' lc rgb "
              "'#D0D0D0' title "
              "'not measured', \\\n",
              script);
    fputs("  $cells using 1:2:(0.5):(0.5):3 with boxxyerror fs solid noborder lc palette notitle, \\\n",
          script);
    if (n_equal > 0)
        write_frame(script, "$equal", "lw 2 dt (8,6)", "as good as the best", ", \\\n");
    write_frame(script, "$best", "lw 3", name_of_best(slice), "\n");
}

static void write_axes(FILE *script, const struct plot_request *request, const struct plot_slice *slice,
                       struct plot_unit unit)
{
    plot_script_levels(script, request, slice, 0, "x", false);
    plot_script_levels(script, request, slice, 1, "y", false);
    const double edge = plot_script_is_text(request) ? 0.8 : 0.5;
    fprintf(script, "set xrange [%.1f:%.1f]\nset yrange [-0.5:%.1f]\n", -edge,
            (double)slice->axes[0].n - 1 + edge, (double)slice->axes[1].n - 0.5);
    if (plot_script_is_text(request)) {
        fprintf(script, "set key outside bottom horizontal title 'throughput, %s'\n", unit.name);
        return;
    }
    fputs("set palette defined (0 '#440154', 1 '#3B528B', 2 '#21918C', 3 '#5EC962', 4 '#FDE725')\n"
          "set border 15\nset tics scale 0\nunset grid\n",
          script);
    /* Without marks at the tics, gnuplot leaves too little room for their labels. */
    fprintf(script, "set cbrange [0:%.6g]\nset cblabel 'throughput, %s' offset 0.9\nset ylabel offset -0.5\n",
            slice->max_bps / unit.bps, unit.name);
    plot_script_key_below(script, request, true);
}

static int draw(const struct plot_request *request, const struct plot_data *data, FILE *script,
                struct err *err)
{
    struct plot_slice *slice = malloc(sizeof *slice);
    if (slice == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = plot_slice_make(slice, request, data, 2, false, err);
    if (result == 0) {
        struct plot_unit unit = plot_script_unit(slice->max_bps);
        plot_script_begin_slice(script, request, slice);
        write_axes(script, request, slice, unit);
        write_missing(script, slice);
        write_cells(script, slice, unit);
        write_marked(script, slice, "best", PLOT_BEST);
        size_t n_equal = write_marked(script, slice, "equal", PLOT_EQUIVALENT);
        write_numbers(script, request, slice, unit);
        write_plot(script, request, slice, n_equal);
    }
    free(slice);
    return result;
}

const struct plot_ops plot_heatmap = {"heatmap", "throughput over two factors as colour, the best marked",
                                      draw};
