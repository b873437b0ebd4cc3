/* The picture of `advise write`: the rate of each way of writing over the size of the burst. */
#include "bench/base/units.h"
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"
#include "tuner/writes/write_advice.h"

static double rate_at(const struct write_advice *advice, size_t i, size_t way)
{
    return advice->bytes[i] / advice->curve[i].seconds[way];
}

static double fastest_of(const struct write_advice *advice)
{
    double most = 0;
    for (size_t i = 0; i < advice->n_points; i++) {
        for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++)
            most = rate_at(advice, i, way) > most ? rate_at(advice, i, way) : most;
    }
    return most;
}

static void write_blocks(FILE *script, const struct write_advice *advice)
{
    fputs("$curve << EOD\n", script);
    for (size_t i = 0; i < advice->n_points; i++) {
        fprintf(script, "%.17g", advice->bytes[i]);
        for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++)
            plot_script_number(script, rate_at(advice, i, way));
        fputc('\n', script);
    }
    fputs("EOD\n$asked << EOD\n", script);
    for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++) {
        double bytes = (double)advice->burst.bytes;
        fprintf(script, "%.17g", bytes);
        plot_script_number(script, bytes / advice->cost.seconds[way]);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

/* Where, without an exponent, which gnuplot would not read from a word, and the way that crosses, counted
 * from 1. */
static void write_crossings(FILE *script, const struct write_advice *advice)
{
    size_t n = 0;
    fputs("$crossings << EOD\n", script);
    for (size_t i = 0; i < 2; i++) {
        const struct write_advice_crossings *crossings = &advice->crossings[i];
        for (size_t k = 0; k < crossings->n; k++)
            fprintf(script, "%.3f %d\n", crossings->at[k].bytes, (int)crossings->first + 1);
        n += crossings->n;
    }
    fprintf(script, "EOD\nn_crossings = %zu\n", n);
}

int write_advice_draw(FILE *script, const struct plot_request *request, const void *context, struct err *err)
{
    const struct write_advice *advice = context;
    static const struct plot_data nothing;
    char size[UNITS_TEXT_SIZE], detail[128];
    snprintf(detail, sizeof detail, "requests of %s; dotted: where another way takes over",
             units_format_size(advice->burst.request_bytes, size));
    plot_script_begin(script, request, &nothing, "Writing a burst: predicted by a model, not measured",
                      detail);
    fprintf(script, "top = %.6g\nlow = %.17g\nhigh = %.17g\nn_ways = %d\nsync_way = %d\n", fastest_of(advice),
            advice->low_bytes, advice->high_bytes, CAWL_ADVICE_N_WAYS, CAWL_ADVICE_SYNC + 1);
    plot_script_begin_array(script, "ways", CAWL_ADVICE_N_WAYS);
    for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++)
        plot_script_item(script, way, write_advice_words[way], 64, false);
    plot_script_end_array(script);
    write_crossings(script, advice);
    write_blocks(script, advice);
    fputs(plot_assets_head, script);
    fputs(plot_assets_advice, script);
    (void)err;
    return 0;
}
