/* Bars over two factors, in space: the mean as height, the scatter as colour. */
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static size_t write_class(FILE *script, const struct plot_slice *slice, struct plot_unit unit, size_t number)
{
    size_t n = 0;
    fprintf(script, "$class%zu << EOD\n", number);
    for (size_t x = 0; x < slice->axes[0].n; x++) {
        for (size_t y = 0; y < slice->axes[1].n; y++) {
            const struct plot_point *point = plot_slice_at(slice, x, y);
            if (point == NULL || plot_script_scatter(point) != number)
                continue;
            fprintf(script, "%zu %zu %.6g\n", x, y, point->mean_bps / unit.bps);
            n++;
        }
    }
    fputs("EOD\n", script);
    return n;
}

static void write_view(FILE *script, const struct plot_slice *slice, struct plot_unit unit)
{
    fprintf(script,
            "set zlabel 'throughput, %s' rotate by 90 offset -1,0\nset xrange [-0.6:%.1f]\nset yrange "
            "[-0.6:%.1f]\n"
            "set zrange [0:%.6g]\nset xyplane at 0\nset view 58,318,0.95,1\nset border 895 lc rgb '#404040'\n"
            "set grid x y z vertical\nset title offset 0,1\nset xtics offset 0.5,-0.4\nset ytics offset "
            "-1,-0.4\nset xlabel offset "
            "0,-1\nset ylabel offset 0,-1\n"
            "set boxwidth 0.6\nset boxdepth 0.6\n",
            unit.name, (double)slice->axes[0].n - 0.4, (double)slice->axes[1].n - 0.4,
            slice->max_bps / unit.bps * 1.02);
}

/* The key is written apart: what paints a bar's faces does not reach its key. */
static void write_key(FILE *script, const size_t n[PLOT_N_SCATTERS])
{
    for (size_t number = 0; number < PLOT_N_SCATTERS; number++) {
        if (n[number] > 0 || number < PLOT_N_SCATTERS - 1)
            fprintf(script,
                    ", \\\n  keyentry with boxes fillstyle solid 1.0 border lc rgb '#303030' lc rgb '%s' "
                    "title '%s'",
                    plot_scatters[number].colour, plot_scatters[number].words);
    }
}

static void write_plot(FILE *script, const struct plot_request *request, const size_t n[PLOT_N_SCATTERS])
{
    bool text = plot_script_is_text(request);
    const char *separator = "splot \\\n";
    for (size_t number = 0; number < PLOT_N_SCATTERS; number++) {
        if (n[number] == 0)
            continue;
        fprintf(script, "%s  $class%zu using 1:2:3 with ", separator, number);
        if (text)
            fprintf(script, "impulses lc rgb '%s' title '%s'", plot_scatters[number].colour,
                    plot_scatters[number].words);
        else
            fprintf(script, "boxes fillstyle solid 1.0 border lc rgb '#303030' fc rgb '%s' notitle",
                    plot_scatters[number].colour);
        separator = ", \\\n";
    }
    if (!text)
        write_key(script, n);
    fputc('\n', script);
}

static int draw(const struct plot_request *request, const struct plot_data *data, FILE *script,
                struct err *err)
{
    size_t n[PLOT_N_SCATTERS];
    struct plot_slice *slice = malloc(sizeof *slice);
    if (slice == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = plot_slice_make(slice, request, data, 2, false, err);
    if (result == 0) {
        struct plot_unit unit = plot_script_unit(slice->max_bps);
        plot_script_begin_slice(script, request, slice);
        plot_script_levels(script, request, slice, 0, "x", true);
        plot_script_levels(script, request, slice, 1, "y", true);
        write_view(script, slice, unit);
        if (!plot_script_is_text(request))
            fputs("set pm3d depthorder base\nset pm3d lighting primary 0.6 specular 0\n"
                  "set key at screen 0.99,0.97 right top reverse Left samplen 1.5 title 'std / mean'\n",
                  script);
        for (size_t number = 0; number < PLOT_N_SCATTERS; number++)
            n[number] = write_class(script, slice, unit, number);
        write_plot(script, request, n);
    }
    free(slice);
    return result;
}

const struct plot_ops plot_bars3d = {"bars3d", "bars over two factors in space, coloured by their scatter",
                                     draw};
