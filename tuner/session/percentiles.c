/* Quantiles of one run, and order statistics of pooled requests with the design effect of their runs. */
#include "tuner/session/samples.h"

#include "models/statistics/percentile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define CONFIDENCE_OF_A_RUN 0.95
/* A histogram's quantile may be off by half a bucket, which is more than the interval where requests are
 * many. */
#define HALF_BUCKET_SHARE (0.5 / (1 << HISTOGRAM_SUB_LOG2))

static const double quantile_shares[LATENCY_QUANTILES_N] = {
    0,    0.02, 0.05,  0.1,  0.15,  0.2,   0.25,  0.3,   0.35,   0.4,    0.45,
    0.5,  0.55, 0.6,   0.65, 0.7,   0.75,  0.8,   0.85,  0.9,    0.93,   0.95,
    0.97, 0.98, 0.985, 0.99, 0.993, 0.996, 0.998, 0.999, 0.9995, 0.9998, 1,
};

struct latency_quantiles latency_quantiles_of(const struct histogram *latency)
{
    struct latency_quantiles quantiles = {.n = latency->n};
    if (histogram_quantiles_ns(latency, quantile_shares, LATENCY_QUANTILES_N, quantiles.ns) < 0)
        quantiles.n = 0;
    return quantiles;
}

void latency_quantiles_unfold(const struct latency_quantiles *quantiles, double mean_ns,
                              struct histogram *histogram)
{
    uint64_t done = 0;
    if (quantiles->n == 0)
        return;
    for (size_t i = 0; i + 1 < LATENCY_QUANTILES_N; i++) {
        uint64_t upto = (uint64_t)((double)quantiles->n * quantile_shares[i + 1]);
        upto = i + 2 == LATENCY_QUANTILES_N || upto > quantiles->n ? quantiles->n : upto;
        uint64_t middle_ns = quantiles->ns[i] + (quantiles->ns[i + 1] - quantiles->ns[i]) / 2;
        if (upto > done)
            histogram_add(histogram, middle_ns, upto - done);
        done = upto;
    }
    histogram->min_ns = quantiles->ns[0];
    histogram->max_ns = quantiles->ns[LATENCY_QUANTILES_N - 1];
    if (mean_ns > 0)
        histogram->sum_ns = mean_ns * (double)histogram->n;
}

/* Share of requests up to ns. Buckets make ties, of which half count: a percentile inside the last bucket of
 * all runs would else have nothing beyond it, however much the runs differ. */
static double share_below(const struct latency_quantiles *quantiles, double ns)
{
    size_t first = 0;
    while (first < LATENCY_QUANTILES_N && (double)quantiles->ns[first] < ns)
        first++;
    size_t next = first;
    while (next < LATENCY_QUANTILES_N && (double)quantiles->ns[next] == ns)
        next++;
    if (next > first)
        return (quantile_shares[first] + quantile_shares[next - 1]) / 2;
    if (first == 0 || first == LATENCY_QUANTILES_N)
        return first == 0 ? 0 : 1;
    double low = (double)quantiles->ns[first - 1], high = (double)quantiles->ns[first];
    return quantile_shares[first - 1] +
           (quantile_shares[first] - quantile_shares[first - 1]) * (ns - low) / (high - low);
}

double latency_quantiles_beyond(const struct latency_quantiles *quantiles, double ns)
{
    return quantiles->n == 0 ? 0 : (double)quantiles->n * (1 - share_below(quantiles, ns));
}

/* Shares of the replays beyond a latency; both arrays hold record->n values. */
struct shares {
    double *beyond, *n;
    size_t n_runs;
};

static double quantile_ns(const struct histogram *latency, double share)
{
    uint64_t ns = 0;
    return histogram_quantile_ns(latency, share, &ns) == 0 ? (double)ns : NAN;
}

double percentiles_of_run(const struct histogram *latency, double share)
{
    struct percentile_bounds bounds = percentile_bounds_of(share, (double)latency->n, 1, CONFIDENCE_OF_A_RUN);
    return isfinite(bounds.low_share) ? quantile_ns(latency, share) : NAN;
}

static void count_beyond(const struct record *record, bool confirming, double ns, struct shares *shares)
{
    shares->n_runs = 0;
    for (size_t i = 0; i < record->n; i++) {
        if (confirming && !record->samples[i].confirming)
            continue;
        shares->beyond[shares->n_runs] = latency_quantiles_beyond(&record->samples[i].latency_quantiles, ns);
        shares->n[shares->n_runs++] = (double)record->samples[i].latency_quantiles.n;
    }
}

static double bounded_quantile(const struct record *record, bool confirming, double confidence,
                               const struct histogram *pooled, double share, struct shares *shares,
                               struct interval *ret_interval)
{
    double ns = quantile_ns(pooled, share);
    *ret_interval = (struct interval){.low = NAN, .high = NAN};
    count_beyond(record, confirming, ns, shares);
    bool several = shares->n_runs >= PERCENTILES_LEAST_RUNS;
    double effect =
        several ? percentile_design_effect(shares->beyond, shares->n, shares->n_runs, confidence) : 1;
    struct percentile_bounds bounds = percentile_bounds_of(share, (double)pooled->n, effect, confidence);
    if (!isfinite(bounds.low_share))
        return NAN;
    if (several) {
        ret_interval->low = quantile_ns(pooled, bounds.low_share) * (1 - HALF_BUCKET_SHARE);
        ret_interval->high = quantile_ns(pooled, bounds.high_share) * (1 + HALF_BUCKET_SHARE);
        ret_interval->low = fmax(ret_interval->low, (double)pooled->min_ns);
        ret_interval->high = fmin(ret_interval->high, (double)pooled->max_ns);
    }
    return ns;
}

int percentiles_fill(const struct record *record, bool confirming, double confidence,
                     const struct histogram *pooled, struct latency_row *row)
{
    double *room = malloc((2 * record->n + 1) * sizeof *room);
    if (room == NULL)
        return -ENOMEM;
    row->n = pooled->n;
    struct shares shares = {.beyond = room, .n = room + record->n};
    row->p50 = bounded_quantile(record, confirming, confidence, pooled, 0.5, &shares, &row->p50_ci);
    row->p99 = bounded_quantile(record, confirming, confidence, pooled, 0.99, &shares, &row->p99_ci);
    row->p999 = bounded_quantile(record, confirming, confidence, pooled, 0.999, &shares, &row->p999_ci);
    free(room);
    return 0;
}
