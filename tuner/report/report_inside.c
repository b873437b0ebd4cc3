/* tuner/report/report_inside: an interval from inside the longest run. */
#include "tuner/report/report_inside.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <errno.h>
#include <math.h>

void report_inside_note(struct report_inside *inside, const struct measure_result *result)
{
    if (result->seconds <= inside->seconds)
        return;
    *inside = (struct report_inside){
        .seconds = result->seconds, .flushed = measure_was_absorbed(result), .windows = result->windows};
}

/* The last window was still open when the run ended. */
static size_t full_windows(const struct report_inside *inside)
{
    return inside->windows.n > 0 ? inside->windows.n - 1 : 0;
}

int report_inside_of(const struct report_inside *inside, double confidence,
                     struct batch_means *ret_batch_means)
{
    double rates[PUMP_N_WINDOWS];
    size_t n = full_windows(inside);
    if (n == 0 || n > PUMP_N_WINDOWS || inside->flushed || inside->windows.width_ns == 0)
        return -ENODATA;
    for (size_t i = 0; i < n; i++)
        rates[i] = (double)inside->windows.bytes[i] * 1e9 / (double)inside->windows.width_ns;
    int result = batch_means_of(rates, n, confidence, ret_batch_means);
    /* A rate is not negative; where there is no bound, this leaves NaN. */
    if (result == 0 && ret_batch_means->interval.low < 0)
        ret_batch_means->interval.low = 0;
    return result;
}

json_t *report_inside_json(const struct report_inside *inside, double confidence)
{
    struct batch_means result;
    if (report_inside_of(inside, confidence, &result) < 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o}", "mean", json_number(result.mean), "ci_low",
                     json_number(result.interval.low), "ci_high", json_number(result.interval.high),
                     "windows", (json_int_t)full_windows(inside), "cut", (json_int_t)result.n_cut, "batches",
                     (json_int_t)result.n_batches, "effective", json_number(result.n_effective), "lag1",
                     json_number(result.lag1));
}

void report_inside_text(FILE *out, const struct report_inside *inside, double confidence)
{
    struct batch_means result;
    char mean[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    if (report_inside_of(inside, confidence, &result) < 0)
        return;
    fprintf(out, "Inside one run: %s  ", text_short_rate(result.mean, mean));
    if (isfinite(result.interval.low))
        fprintf(out, "(%g %% interval %s to %s from batch means, worth %.0f independent ones of %zu windows",
                confidence * 100, text_short_rate(result.interval.low, low),
                text_short_rate(result.interval.high, high), result.n_effective, full_windows(inside));
    else
        fprintf(out,
                "(no interval: its %zu windows are too few, too dependent on each other or still changing",
                full_windows(inside));
    if (result.n_cut > 0)
        fprintf(out, "; the first %zu left out as warm-up", result.n_cut);
    fputs("); other runs may differ\n", out);
}
