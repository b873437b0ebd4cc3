/* tuner/session/latency_quantiles: the latencies of one run as a few quantiles, so that hundreds of points
 * can keep every replay (a histogram takes 17 KB). */
#pragma once

#include "bench/base/histogram.h"

#include <stdint.h>

#define LATENCY_QUANTILES_N 33

struct latency_quantiles {
    uint64_t n; /* requests timed; 0: the rest is not set */
    uint64_t
        ns[LATENCY_QUANTILES_N]; /* ascending; from the minimum to the maximum, denser around p99 and p99.9 */
};

struct latency_quantiles latency_quantiles_of(const struct histogram *latency);

/* Fills a histogram (initialised, empty) from quantiles alone, as in a journal: each request is put at the
 * middle between two quantiles. mean_ns becomes their mean where it is above 0. */
void latency_quantiles_unfold(const struct latency_quantiles *quantiles, double mean_ns,
                              struct histogram *histogram);

/* Number of requests that took longer than ns, interpolated; of those that took just as long, half count.
 * 0..n.
 */
double latency_quantiles_beyond(const struct latency_quantiles *quantiles, double ns);
