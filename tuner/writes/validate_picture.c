/* The picture of figures 4 to 9 of the paper: cost over chunks, measured and predicted, and dirty memory. */
#include "bench/base/units.h"
#include "tuner/picture/plot_deliver.h"
#include "tuner/picture/plot_script.h"
#include "tuner/writes/validate_internal.h"

#include <math.h>

/* More points than this say nothing more; the steps between them are equal. */
#define POINTS_MAX 4000U
/* Costs that differ by more than this stand on a logarithmic axis. */
#define LOG_RATIO 30.0

/* A unit of time in which the largest cost has one to three digits before the point. */
static double unit_of(double largest_s, const char **ret_name)
{
    static const struct {
        double s;
        const char *name;
    } units[] = {{1, "seconds"}, {1e-3, "ms"}, {1e-6, "us"}};
    size_t i = 0;
    while (i < 2 && largest_s < units[i].s)
        i++;
    *ret_name = units[i].name;
    return units[i].s;
}

static void widen(double value, double *low, double *high)
{
    if (value > 0) {
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

static void find_range(const struct validation *validation, double *ret_low_s, double *ret_high_s)
{
    *ret_low_s = INFINITY;
    *ret_high_s = 0;
    for (size_t i = 0; i < validation->load->n; i++) {
        widen(validation->costs_s[i], ret_low_s, ret_high_s);
        widen(validation->cawl.prediction.costs_s[i], ret_low_s, ret_high_s);
        widen(validation->naive.prediction.costs_s[i], ret_low_s, ret_high_s);
    }
}

/* A cost of 0 has no place on a logarithmic axis: NaN is left out. */
static void write_data(FILE *script, const struct validation *validation, double unit_s)
{
    size_t n = validation->load->n, step = (n + POINTS_MAX - 1) / POINTS_MAX;
    fputs("$data << EOD\n", script);
    for (size_t i = 0; i < n; i += step) {
        const double numbers[] = {validation->costs_s[i] / unit_s,
                                  validation->low_s[i] / unit_s,
                                  validation->high_s[i] / unit_s,
                                  validation->cawl.prediction.costs_s[i] / unit_s,
                                  validation->naive.prediction.costs_s[i] / unit_s,
                                  validation->dirty_bytes[i] / 1e6,
                                  validation->cawl.prediction.dirty_bytes[i] / 1e6};
        fprintf(script, "%zu", i);
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++) {
            fputc(' ', script);
            plot_script_number(script, numbers[j]);
        }
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static void write_plot(FILE *script, const struct validation *validation)
{
    bool cached = validation->cawl.prediction.n_changes > 0;
    fputs("plot \\\n", script);
    if (validation->n_runs > 1)
        fputs("  $data using 1:3:(0):($4-$3) with vectors nohead lw 1 lc rgb '#9ECAE8' title 'range', \\\n",
              script);
    if (cached)
        fprintf(script,
                "  $data using 1:7 axes x1y2 with lines lw 1 lc rgb '" PLOT_GREY
                "' title 'dirty memory, measured', \\\n  $data using 1:8 axes x1y2 with lines lw 1.5 dt 2 lc "
                "rgb '" PLOT_GREEN "' title 'dirty memory, CAWL', \\\n");
    fputs("  $data using 1:2 with points pt 7 ps 0.4 lc rgb '" PLOT_BLUE "' title 'measured (median)', \\\n"
          "  $data using 1:5 with lines lw 2 lc rgb '" PLOT_RED "' title 'CAWL', \\\n"
          "  $data using 1:6 with lines lw 1.5 dt 3 lc rgb '#000000' title 'naive'\n",
          script);
}

static void write_axes(FILE *script, const struct validation *validation, double *ret_unit_s)
{
    double low_s, high_s;
    const char *unit;
    find_range(validation, &low_s, &high_s);
    *ret_unit_s = unit_of(high_s, &unit);
    fprintf(script, "set xlabel 'write'\nset ylabel 'cost of a write, %s'\nset xrange [-0.5:%zu.5]\n", unit,
            validation->load->n - 1);
    if (high_s > LOG_RATIO * low_s)
        fprintf(script, "set logscale y\nset yrange [%.6g:%.6g]\n", low_s / *ret_unit_s / 1.5,
                high_s / *ret_unit_s * 1.5);
    else
        fprintf(script, "set yrange [0:%.6g]\n", high_s / *ret_unit_s * 1.15);
    if (validation->cawl.prediction.n_changes > 0)
        fputs("set border 11\nset y2tics\nset y2label 'dirty memory, MB'\nset y2range [0:*]\n", script);
}

static int write_script(FILE *script, const struct plot_request *request, const void *context,
                        struct err *err)
{
    const struct validation *validation = context;
    char what[PLOT_TEXT_SIZE], detail[PLOT_TEXT_SIZE], bytes[UNITS_TEXT_SIZE];
    static const struct plot_data nowhere;
    snprintf(what, sizeof what, "Cost of writes, %s: %zu writes, %s in all",
             cawl_mode_names[validation->predict->mode], validation->load->n,
             units_format_bytes(validation->load->total_bytes, bytes));
    snprintf(detail, sizeof detail, "mean error per write: CAWL %.0f %%, naive %.0f %%",
             100 * validation->cawl.error.chunk_share, 100 * validation->naive.error.chunk_share);
    double unit_s;
    plot_script_begin(script, request, &nowhere, what, detail);
    write_axes(script, validation, &unit_s);
    plot_script_key_below(script, request, true);
    write_data(script, validation, unit_s);
    write_plot(script, validation);
    (void)err;
    return 0;
}

int validate_picture_draw(const struct validation *validation, struct err *err)
{
    return plot_deliver_drawn(validation->settings, validation->settings->prediction.picture, write_script,
                              validation, err);
}
