/* tuner/session/sketch: the latencies of one run as a few quantiles, so that hundreds of points can keep
 * every replay (a histogram takes 17 KB). */
#ifndef FSTUNE_TUNER_SESSION_SKETCH_H
#define FSTUNE_TUNER_SESSION_SKETCH_H

#include "bench/base/histogram.h"

#include <stdint.h>

#define SKETCH_N_SHARES 33

struct sketch {
    uint64_t n; /* requests timed; 0: the rest is not set */
    uint64_t
        ns[SKETCH_N_SHARES]; /* ascending; from the minimum to the maximum, denser around p99 and p99.9 */
};

struct sketch sketch_of(const struct histogram *latency);

/* The requests of a sketch as a histogram (initialised, empty), each at the middle between two quantiles:
 * what is left of them in a journal. mean_ns becomes their mean where it is above 0. */
void sketch_unfold(const struct sketch *sketch, double mean_ns, struct histogram *histogram);

/* Number of requests that took longer than ns, interpolated; of those that took just as long, half count.
 * 0..n.
 */
double sketch_beyond(const struct sketch *sketch, double ns);

#endif
