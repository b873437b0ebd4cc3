/* bench/io/pace: when the requests of an open loop are to begin.
 *
 * They are due at times that do not depend on those before having come back, at equal distances or at random
 * ones (a Poisson process). Latency counts from these times, so that a request that had to wait for its turn
 * shows it (coordinated omission is avoided). */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/histogram.h"
#include "bench/base/rng.h"

#include <stdbool.h>
#include <stdint.h>

struct pace {
    double interval_ns; /* between requests on average; 0: none, a request is due at once */
    double next_ns;     /* of the next request, since start_ns */
    uint64_t start_ns;
    bool random;
    struct rng rng; /* of random distances */
};

/* rate: requests a second, dealt out in turn to n_lanes, of which this is number `lane`; 0: no pace. */
void pace_init(struct pace *pace, double rate, uint32_t lane, uint32_t n_lanes, uint64_t start_ns);

/* From here on the distances are random, with the same mean. */
void pace_randomise(struct pace *pace, uint64_t seed);

static inline bool pace_is_on(const struct pace *pace)
{
    return pace->interval_ns > 0;
}

/* When the next request is due. */
static inline uint64_t pace_due_ns(const struct pace *pace)
{
    return pace->start_ns + (uint64_t)pace->next_ns;
}

/* The next request has begun: the one behind it is the next. */
void pace_step(struct pace *pace);

/* Adds what was due by end_ns and has not begun, each request n_each times with the time by which it is late.
 * Returns how many it added. */
uint64_t pace_count_late(struct pace *pace, uint64_t end_ns, uint64_t n_each, struct histogram *latency);
