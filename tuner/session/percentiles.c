/* tuner/session/percentiles: order statistics of pooled requests, with the design effect of their runs. */
#include "tuner/session/percentiles.h"

#include "models/statistics/percentile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define CONFIDENCE_OF_A_RUN 0.95
/* A histogram's quantile may be off by half a bucket, which is more than the interval where requests are
 * many. */
#define HALF_BUCKET_SHARE (0.5 / (1 << HISTOGRAM_SUB_LOG2))

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
    struct shares shares = {.beyond = room, .n = room + record->n};
    row->p50 = bounded_quantile(record, confirming, confidence, pooled, 0.5, &shares, &row->p50_ci);
    row->p99 = bounded_quantile(record, confirming, confidence, pooled, 0.99, &shares, &row->p99_ci);
    row->p999 = bounded_quantile(record, confirming, confidence, pooled, 0.999, &shares, &row->p999_ci);
    free(room);
    return 0;
}
