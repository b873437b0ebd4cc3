/* models/online/latency: how long requests took, and what is much longer than usual.
 *
 * Latencies are counted by buckets, 32 a power of two from 1.024 us to 69 s: the edges of one are at most
 * 3.13 % apart. The ends take what lies beyond. Requests that move data and those that wait for the disk are
 * counted apart: where one in fifty is a flush, p99 of all would be that of the flushes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LATENCY_SUB_LOG2   5
#define LATENCY_LEAST_LOG2 10
#define LATENCY_MOST_LOG2  36
#define LATENCY_N_BUCKETS  (((LATENCY_MOST_LOG2 - LATENCY_LEAST_LOG2) << LATENCY_SUB_LOG2) + 2)

/* Reads and writes; flushes, writes that are to be durable, and what moves no data. */
enum latency_class { LATENCY_MOVES, LATENCY_FLUSHES, LATENCY_N_CLASSES };

struct latency_counts {
    uint32_t n[LATENCY_N_CLASSES][LATENCY_N_BUCKETS];
};

/* Those of many slices; of more than some thousands the older ones fade. All zero: none. */
struct latency_pool {
    float n[LATENCY_N_CLASSES][LATENCY_N_BUCKETS];
    double total[LATENCY_N_CLASSES];
};

/* The first bucket of each class whose requests are slow. LATENCY_N_BUCKETS: it is not known. */
struct latency_limits {
    unsigned bucket[LATENCY_N_CLASSES];
};

/* How many of some requests were slow, of the classes whose limits are known. */
struct latency_share {
    uint64_t n[LATENCY_N_CLASSES], n_slow[LATENCY_N_CLASSES];
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

/* The first buckets whose requests all took more than `ratio` times the pool's p99: to the upper edges of
 * both buckets, so 1 to 1.07 times the ratio. Fewer than 200 requests of a class tell no p99 of it. */
struct latency_limits latency_limits(const struct latency_pool *pool, double ratio);
bool latency_limits_are_known(const struct latency_limits *limits); /* of any class */
/* Faster requests are not slow, whatever their class. UINT64_MAX: none is. */
uint64_t latency_limits_ns(const struct latency_limits *limits);

struct latency_share latency_share_of(const struct latency_counts *counts,
                                      const struct latency_limits *limits);
void latency_share_add(struct latency_share *share, const struct latency_share *more);
