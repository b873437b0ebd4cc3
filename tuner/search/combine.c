/* From several clients' figures to one result. */
#include "tuner/search/combine.h"

#include <math.h>

#define FEW_MARGIN  1.3 /* aims above the least number of requests, */
#define MOST_FACTOR 32  /* but not by more at a time */
#define CAP_FACTOR  0.6

void clock_offset_add(struct clock_offset *offset, uint64_t sent_ns, uint64_t there_ns, uint64_t back_ns)
{
    uint64_t half_ns = (back_ns - sent_ns + 1) / 2;
    if (offset->n++ > 0 && half_ns >= offset->error_ns)
        return;
    offset->error_ns = half_ns;
    offset->ahead_ns = (int64_t)(there_ns - (sent_ns + half_ns));
}

void combine_align(struct client_report *report, const struct clock_offset *offset)
{
    struct measure_result *result = &report->result;
    uint64_t *const times[] = {&result->begun_ns, &result->closed_ns, &result->stopped_ns};
    for (size_t i = 0; i < 3; i++)
        *times[i] -= (uint64_t)offset->ahead_ns;
}

/* By how much a client came after a time, where that is too much of its run; else 0. */
static uint64_t lateness_ns(const struct measure_result *result, uint64_t at_ns, uint64_t limit_ns)
{
    uint64_t late_ns = at_ns > limit_ns ? at_ns - limit_ns : 0;
    return (double)late_ns > COMBINE_LATE_SHARE * result->seconds * 1e9 ? late_ns : 0;
}

size_t combine_find_late(const struct client_report *reports, size_t n, uint64_t latest_ns,
                         uint64_t *ret_late_ns)
{
    uint64_t stopped_ns = UINT64_MAX, most_ns = 0;
    size_t latest = n;
    for (size_t i = 0; i < n; i++) {
        if (reports[i].result.windowed && reports[i].result.stopped_ns < stopped_ns)
            stopped_ns = reports[i].result.stopped_ns;
    }
    for (size_t i = 0; i < n; i++) {
        const struct measure_result *result = &reports[i].result;
        uint64_t late_ns = lateness_ns(result, result->begun_ns, latest_ns);
        if (result->windowed && late_ns == 0)
            late_ns = lateness_ns(result, result->closed_ns, stopped_ns);
        if (late_ns <= most_ns)
            continue;
        most_ns = late_ns;
        latest = i;
    }
    *ret_late_ns = most_ns;
    return latest;
}

double combine_length_factor(const struct client_report *reports, size_t n)
{
    const double least = (double)MEASURE_MIN_REQUESTS / (double)n;
    double fewest = INFINITY;
    bool capped = false, windowed = true;
    for (size_t i = 0; i < n; i++) {
        fewest = fmin(fewest, (double)reports[i].result.n_requests);
        capped |= reports[i].result.ended_by_bytes;
        windowed &= reports[i].result.windowed;
    }
    if (fewest < least && !capped)
        return fmin(fmax(FEW_MARGIN * least / fmax(fewest, 1), 2), MOST_FACTOR);
    return capped && windowed ? CAP_FACTOR : 1;
}

static void add_counts(struct measure_result *ret, const struct measure_result *one)
{
    ret->iops += one->iops;
    ret->burst_bps += one->burst_bps;
    ret->throughput_bps += one->throughput_bps;
    ret->n_requests += one->n_requests;
    ret->n_late += one->n_late;
    ret->bytes_read += one->bytes_read;
    ret->bytes_written += one->bytes_written;
    ret->total_bytes_read += one->total_bytes_read;
    ret->total_bytes_written += one->total_bytes_written;
    ret->warmup_bytes += one->warmup_bytes;
    ret->achieved_depth += one->achieved_depth;
}

static void take_worst(struct measure_result *ret, const struct measure_result *one)
{
    ret->seconds = fmax(ret->seconds, one->seconds);
    ret->flush_seconds = fmax(ret->flush_seconds, one->flush_seconds);
    ret->setup_seconds = fmax(ret->setup_seconds, one->setup_seconds);
    ret->settle_seconds = fmax(ret->settle_seconds, one->settle_seconds);
    ret->warmup_seconds = fmax(ret->warmup_seconds, one->warmup_seconds);
    ret->littles_law_error = fmax(ret->littles_law_error, one->littles_law_error);
    ret->sampled |= one->sampled;
    ret->ended_by_bytes |= one->ended_by_bytes;
    ret->settled &= one->settled;
    ret->windowed &= one->windowed;
    if (one->warmup != MEASURE_WARMUP_STABLE && ret->warmup != MEASURE_WARMUP_LIMIT)
        ret->warmup = one->warmup;
    if (one->cold == TARGET_COLD_NOT || ret->cold == TARGET_COLD_VERIFIED)
        ret->cold = one->cold;
    pump_windows_merge(&ret->windows, &one->windows);
    if (one->closed_ns > ret->closed_ns)
        ret->closed_ns = one->closed_ns;
}

void combine_reports(const struct client_report *reports, size_t n, uint64_t start_ns,
                     struct measure_result *ret, struct histogram *latency)
{
    *ret = reports[0].result;
    histogram_merge(latency, &reports[0].latency);
    for (size_t i = 1; i < n; i++) {
        add_counts(ret, &reports[i].result);
        take_worst(ret, &reports[i].result);
        histogram_merge(latency, &reports[i].latency);
    }
    ret->achieved_depth /= (double)n;
    if (!ret->windowed && ret->closed_ns > start_ns) {
        ret->seconds = (double)(ret->closed_ns - start_ns) / 1e9;
        ret->throughput_bps =
            fmin(ret->throughput_bps, (double)(ret->bytes_read + ret->bytes_written) / ret->seconds);
        ret->iops = fmin(ret->iops, (double)ret->n_requests / ret->seconds);
    }
}

double combine_jain(const double *rates_bps, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += rates_bps[i];
        squares += rates_bps[i] * rates_bps[i];
    }
    return squares > 0 ? sum * sum / ((double)n * squares) : NAN;
}
