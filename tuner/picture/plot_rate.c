/* Latency and achieved rate over the offered rate. */
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>

static void write_rate(FILE *script, const struct plot_rate *rate)
{
    const double values[] = {rate->mean_ns, rate->p50_ns,     rate->p90_ns,     rate->p99_ns,
                             rate->p999_ns, rate->p99_low_ns, rate->p99_high_ns};
    fprintf(script, "%.6g %.6g", rate->offered_bps, rate->achieved_bps);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        plot_script_number(script, values[i]);
    fputc('\n', script);
}

static int draw_rate(const struct plot_request *request, const struct plot_data *data, FILE *script,
                     struct err *err)
{
    char words[PLOT_TEXT_SIZE] = "";
    double full_bps = data->n_points > 0 ? data->points[0].mean_bps : NAN, most_bps = 0;
    if (data->n_rates == 0)
        return err_set(err, -ENODATA,
                       "it holds no offered rates; give the JSON of fstune measure --rate 10%%..100%%");
    for (size_t i = 0; i < data->n_rates; i++)
        most_bps = fmax(most_bps, data->rates[i].offered_bps);
    if (data->n_points > 0)
        plot_slice_words(data, &data->points[0], words);
    plot_script_begin(script, request, data, "Latency over the offered rate", words);
    fprintf(script, "top = %.6g\nfull = %.6g\n$rates << EOD\n", most_bps, isfinite(full_bps) ? full_bps : 0);
    for (size_t i = 0; i < data->n_rates; i++)
        write_rate(script, &data->rates[i]);
    fputs("EOD\n", script);
    fputs(plot_assets_head, script);
    fputs(plot_assets_rate, script);
    return 0;
}

const struct plot_ops plot_rate = {
    "rate", "latency by percentile and what came back, over the offered rate (measure --rate)", draw_rate};
