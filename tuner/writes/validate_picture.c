/* The picture of figures 4 to 9 of the paper: cost over chunks, measured and predicted, and dirty memory. */
#include "bench/base/units.h"
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_deliver.h"
#include "tuner/picture/plot_script.h"
#include "tuner/writes/validate_internal.h"

#include <math.h>

/* More points than this show nothing more; the steps between them are equal. */
#define POINTS_MAX 4000U

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

static void write_data(FILE *script, const struct validation *validation)
{
    size_t n = validation->load->n, step = (n + POINTS_MAX - 1) / POINTS_MAX;
    fputs("$data << EOD\n", script);
    for (size_t i = 0; i < n; i += step) {
        const double numbers[] = {validation->costs_s[i],
                                  validation->low_s[i],
                                  validation->high_s[i],
                                  validation->cawl.prediction.costs_s[i],
                                  validation->naive.prediction.costs_s[i],
                                  validation->dirty_bytes[i],
                                  validation->cawl.prediction.dirty_bytes[i]};
        fprintf(script, "%zu", i);
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++)
            plot_script_number(script, numbers[j]);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static int write_validate_script(FILE *script, const struct plot_request *request, const void *context,
                                 struct err *err)
{
    const struct validation *validation = context;
    char what[PLOT_TEXT_SIZE], detail[PLOT_TEXT_SIZE], bytes[UNITS_TEXT_SIZE];
    static const struct plot_data nowhere;
    double low_s, high_s;
    snprintf(what, sizeof what, "Cost of writes, %s: %zu writes, %s in all",
             cawl_mode_names[validation->predict->mode], validation->load->n,
             units_format_bytes(validation->load->total_bytes, bytes));
    snprintf(detail, sizeof detail, "mean error per write: CAWL %.0f %%, naive %.0f %%",
             100 * validation->cawl.error.chunk_share, 100 * validation->naive.error.chunk_share);
    plot_script_begin(script, request, &nowhere, what, detail);
    find_range(validation, &low_s, &high_s);
    fprintf(script, "n = %zu\nn_runs = %zu\nis_cached = %d\nlow = %.6g\nhigh = %.6g\n", validation->load->n,
            (size_t)validation->n_runs, validation->cawl.prediction.n_changes > 0, low_s, high_s);
    write_data(script, validation);
    fputs(plot_assets_head, script);
    fputs(plot_assets_validation, script);
    (void)err;
    return 0;
}

int validate_picture_draw(const struct validation *validation, struct err *err)
{
    return plot_deliver_drawn(&validation->settings->plot, validation->settings->prediction.picture,
                              write_validate_script, validation, err);
}
