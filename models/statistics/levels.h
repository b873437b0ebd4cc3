/* models/statistics/levels: do replays of one setting fall into two levels (a run is fast or slow as a
 * whole)? */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LEVELS_MIN_REPLAYS 6

/* Found in 9 of 10 samples: a third of the replays at 1.3 x the rate of the others, each level scattering by
 * 2 %, or at twice with 5 %, in 8 replays; at 1.6 x with 5 %, or at 2.7 x with 10 %, in 12. */

struct levels_verdict {
    bool two;             /* about 1 in 500 of one-level samples (normal or lognormal, n >= 6) says so */
    double low, high;     /* means of the groups; NaN unless `two` */
    size_t n_low, n_high; /* >= 2 each when `two` */
};

/* values > 0 (throughputs of replays), any order. 0; -EINVAL; -ENOMEM; fewer than LEVELS_MIN_REPLAYS: 0 and
 * two = false. */
int levels_of(const double *values, size_t n, struct levels_verdict *ret_verdict);
