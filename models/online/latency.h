/* models/online/latency: how long requests took, and what is much longer than usual.
 *
 * Latencies are counted by buckets, 16 a power of two from 1.024 us to 69 s: the edges of one are at most
 * 6.25 % apart. The ends take what lies beyond. */
#pragma once

#include <stdint.h>

#define LATENCY_SUB_LOG2   4
#define LATENCY_LEAST_LOG2 10
#define LATENCY_MOST_LOG2  36
#define LATENCY_N_BUCKETS  (((LATENCY_MOST_LOG2 - LATENCY_LEAST_LOG2) << LATENCY_SUB_LOG2) + 2)

struct latency_counts {
    uint32_t n[LATENCY_N_BUCKETS];
};

/* Those of many slices; of more than some thousands the older ones fade. All zero: none. */
struct latency_pool {
    double n[LATENCY_N_BUCKETS], total;
};

/* How many of some requests were slow. */
struct latency_share {
    uint64_t n, n_slow;
};

static inline unsigned latency_bucket(uint64_t ns)
{
    if (ns >> LATENCY_LEAST_LOG2 == 0)
        return 0;
    if (ns >> LATENCY_MOST_LOG2 != 0)
        return LATENCY_N_BUCKETS - 1;
    unsigned log2 = 63U - (unsigned)__builtin_clzll(ns);
    unsigned sub = (unsigned)(ns >> (log2 - LATENCY_SUB_LOG2)) & ((1U << LATENCY_SUB_LOG2) - 1);
    return 1 + ((log2 - LATENCY_LEAST_LOG2) << LATENCY_SUB_LOG2) + sub;
}

/* The first time that is too long for the bucket; UINT64_MAX for the last one. */
uint64_t latency_end_ns(unsigned bucket);

void latency_pool_add(struct latency_pool *pool, const struct latency_counts *counts);

/* The first bucket whose requests all took more than `ratio` times the pool's p99: to the upper edges of both
 * buckets, so 1 to 1.13 times the ratio. LATENCY_N_BUCKETS: fewer than 200 requests tell no p99. */
unsigned latency_limit(const struct latency_pool *pool, double ratio);

/* Slow: in the bucket `limit`, or in a later one. */
struct latency_share latency_share_of(const struct latency_counts *counts, unsigned limit);
