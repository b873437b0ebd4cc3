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

void latency_pool_add(struct latency_pool *pool, const struct latency_counts *counts)
{
    double kept = pool->total > ENOUGH ? FADE : 1;
    pool->total *= kept;
    for (unsigned i = 0; i < LATENCY_N_BUCKETS; i++) {
        pool->n[i] = pool->n[i] * kept + counts->n[i];
        pool->total += counts->n[i];
    }
}

unsigned latency_limit(const struct latency_pool *pool, double ratio)
{
    if (pool->total < LEAST)
        return LATENCY_N_BUCKETS;
    unsigned bucket = 0;
    double below = pool->n[0];
    while (bucket < LATENCY_N_BUCKETS - 1 && below < QUANTILE * pool->total)
        below += pool->n[++bucket];
    if (bucket == LATENCY_N_BUCKETS - 1)
        return LATENCY_N_BUCKETS;
    return latency_bucket((uint64_t)(ratio * (double)latency_end_ns(bucket)) - 1) + 1;
}

struct latency_share latency_share_of(const struct latency_counts *counts, unsigned limit)
{
    struct latency_share share = {0};
    for (unsigned i = 0; i < LATENCY_N_BUCKETS; i++) {
        share.n += counts->n[i];
        share.n_slow += i >= limit ? counts->n[i] : 0;
    }
    return share;
}
