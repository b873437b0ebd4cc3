/* What a run of the pilot shows of its start and of its scatter inside. */
#include "tuner/search/tune_length.h"

#include "models/statistics/line.h"
#include "tuner/search/tune.h"

#include <math.h>

/* Fewer requests by each slot of the queue: filling and draining it is what the windows show. */
#define LEAST_ROUNDS  10
#define LEAST_WINDOWS 5 /* with completions, before a rate is taken from windows */

/* Bytes in (from, to] by the windows, both of which hold completions: requests that complete in step leave
 * windows between them empty. */
static double rate_between(const struct pump_windows *windows, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from + 1; i <= to; i++)
        sum += (double)windows->bytes[i];
    return sum / (double)(to - from);
}

static size_t count_filled(const struct pump_windows *windows, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += windows->bytes[i] > 0;
    return n;
}

static size_t last_filled(const struct pump_windows *windows, size_t before)
{
    size_t i = before;
    while (i > 0 && windows->bytes[i - 1] == 0)
        i--;
    return i > 0 ? i - 1 : 0;
}

/* Windows that were over before the run began to drain its queue. */
static size_t whole_windows(const struct measure_plan *plan, const struct measure_result *result)
{
    size_t n = result->windows.n > 0 ? result->windows.n - 1 : 0;
    size_t planned = result->windows.width_ns > 0 ? plan->duration_ns / result->windows.width_ns : 0;
    return n < planned ? n : planned;
}

static bool has_rounds(const struct measure_plan *plan, uint64_t bytes)
{
    double slots = (double)plan->point.queue_depth * plan->point.threads;
    return (double)bytes / (double)factors_largest_size_bytes(&plan->point) >= LEAST_ROUNDS * slots;
}

/* The warm-up against the rest, where it lasted; else the first third of the span against what follows. */
static double start_log_ratio(const struct measure_plan *plan, const struct measure_result *result)
{
    const struct pump_windows *windows = &result->windows;
    uint64_t bytes = result->bytes_read + result->bytes_written, warmup_bytes = result->warmup_bytes;
    size_t n = whole_windows(plan, result), first = 0;
    if (measure_writes_once(&plan->pattern, &plan->point) || measure_was_absorbed(result) ||
        !has_rounds(plan, bytes))
        return NAN;
    if (result->warmup_seconds * 1e9 >= (double)TUNE_LENGTH_WARMUP_NS && has_rounds(plan, warmup_bytes))
        return log((double)warmup_bytes / result->warmup_seconds / result->throughput_bps);
    while (first < n && windows->bytes[first] == 0)
        first++;
    size_t early = last_filled(windows, n / 3), late = last_filled(windows, n);
    if (count_filled(windows, first, early) < LEAST_WINDOWS || count_filled(windows, early, late) == 0)
        return NAN;
    return log(rate_between(windows, first, early) / rate_between(windows, early, late));
}

/* Both ways of looking see too much: windows count whole requests, and latencies of a full queue make up for
 * each other. */
static double within_of(const struct measure_result *result, const struct histogram *latency,
                        const double *rates, size_t n)
{
    double mean_ns = 0;
    double by_windows = run_length_within(rates, n, (double)n * (double)result->windows.width_ns / 1e9);
    if (histogram_mean_ns(latency, &mean_ns) < 0 || !(mean_ns > 0))
        return by_windows;
    double cv = histogram_std_ns(latency) / mean_ns;
    return fmin(by_windows, cv * cv / (double)result->n_requests * result->seconds);
}

void tune_length_note(struct tune *tune, size_t point, const struct measure_plan *plan,
                      const struct measure_result *result, const struct histogram *latency,
                      double cost_seconds)
{
    struct tune_length *length = &tune->length;
    if (!length->piloting || length->n_runs == TUNE_LENGTH_RUNS)
        return;
    double rates[PUMP_N_WINDOWS];
    size_t n = whole_windows(plan, result);
    for (size_t i = 0; i < n; i++)
        rates[i] = (double)result->windows.bytes[i];
    if (plan->warmup_limit_ns == 0 && length->discarded) {
        double bytes = (double)(result->bytes_read + result->bytes_written);
        rate_limit_bursts_add(&length->bursts, rates, n,
                              bytes / (double)factors_bytes_in_flight(&plan->point));
        tune_transient_add(&length->start, &result->windows, n);
        return;
    }
    double overhead = cost_seconds - result->seconds - result->warmup_seconds;
    length->runs[length->n_runs++] = (struct tune_length_run){
        .point = point,
        .duration_ns = plan->duration_ns,
        .seconds = result->seconds,
        .overhead_seconds = fmax(overhead, 0),
        .warmup_seconds = result->warmup_seconds,
        .log_rate = log(result->throughput_bps),
        .within = within_of(result, latency, rates, n),
        .off = has_rounds(plan, result->bytes_read + result->bytes_written) ? line_of(rates, n).off : NAN,
        .start_log_ratio = start_log_ratio(plan, result),
    };
}
