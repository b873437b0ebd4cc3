/* Buckets of latencies. */
#include "models/online/latency.h"

#define QUANTILE 0.99
#define LEAST    200  /* requests: two of them are beyond their p99 */
#define ENOUGH   2000 /* requests; a pool that has them forgets */
#define FADE     0.95 /* what a slice leaves of those before it */

uint64_t latency_end_ns(unsigned bucket)
{
    if (bucket == 0)
        return 1ULL << LATENCY_LEAST_LOG2;
    if (bucket >= LATENCY_N_BUCKETS - 1)
        return UINT64_MAX;
    unsigned log2 = LATENCY_LEAST_LOG2 + ((bucket - 1) >> LATENCY_SUB_LOG2);
    uint64_t sub = (bucket - 1) & ((1U << LATENCY_SUB_LOG2) - 1);
    return ((1ULL << LATENCY_SUB_LOG2) + sub + 1) << (log2 - LATENCY_SUB_LOG2);
}

static void add_class(struct latency_pool *pool, const struct latency_counts *counts, unsigned group)
{
    double kept = pool->total[group] > ENOUGH ? FADE : 1;
    pool->total[group] *= kept;
    for (unsigned i = 0; i < LATENCY_N_BUCKETS; i++) {
        pool->n[group][i] = pool->n[group][i] * kept + counts->n[group][i];
        pool->total[group] += counts->n[group][i];
    }
}

void latency_pool_add(struct latency_pool *pool, const struct latency_counts *counts)
{
    for (unsigned group = 0; group < LATENCY_N_CLASSES; group++)
        add_class(pool, counts, group);
}

static unsigned limit_of(const struct latency_pool *pool, unsigned group, double ratio)
{
    if (pool->total[group] < LEAST)
        return LATENCY_N_BUCKETS;
    unsigned bucket = 0;
    double below = pool->n[group][0];
    while (bucket < LATENCY_N_BUCKETS - 1 && below < QUANTILE * pool->total[group])
        below += pool->n[group][++bucket];
    if (bucket == LATENCY_N_BUCKETS - 1)
        return LATENCY_N_BUCKETS;
    return latency_bucket((uint64_t)(ratio * (double)latency_end_ns(bucket)) - 1) + 1;
}

struct latency_limits latency_limits(const struct latency_pool *pool, double ratio)
{
    struct latency_limits limits;
    for (unsigned group = 0; group < LATENCY_N_CLASSES; group++)
        limits.bucket[group] = limit_of(pool, group, ratio);
    return limits;
}

uint64_t latency_limits_ns(const struct latency_limits *limits)
{
    unsigned least = LATENCY_N_BUCKETS;
    for (unsigned group = 0; group < LATENCY_N_CLASSES; group++)
        least = limits->bucket[group] < least ? limits->bucket[group] : least;
    return least == LATENCY_N_BUCKETS ? UINT64_MAX : least == 0 ? 0 : latency_end_ns(least - 1);
}

bool latency_limits_are_known(const struct latency_limits *limits)
{
    return latency_limits_ns(limits) < UINT64_MAX;
}

struct latency_share latency_share_of(const struct latency_counts *counts,
                                      const struct latency_limits *limits)
{
    struct latency_share share = {0};
    for (unsigned group = 0; group < LATENCY_N_CLASSES; group++) {
        unsigned limit = limits->bucket[group];
        for (unsigned i = 0; i < LATENCY_N_BUCKETS && limit < LATENCY_N_BUCKETS; i++) {
            share.n[group] += counts->n[group][i];
            share.n_slow[group] += i >= limit ? counts->n[group][i] : 0;
        }
    }
    return share;
}

void latency_share_add(struct latency_share *share, const struct latency_share *more)
{
    for (unsigned group = 0; group < LATENCY_N_CLASSES; group++) {
        share->n[group] += more->n[group];
        share->n_slow[group] += more->n_slow[group];
    }
}
