/* models/levels: do replays of one setting fall into two levels (a run is fast or slow as a whole)? */
#ifndef FSTUNE_MODELS_LEVELS_H
#define FSTUNE_MODELS_LEVELS_H

#include <stdbool.h>
#include <stddef.h>

#define LEVELS_MIN_REPLAYS 6

/* Found in 9 of 10 samples: levels (half of the replays each) some 10 of their own standard deviations apart
 * with 8 replays, 8 with 10, 7 with 16, 5 with 20. */

struct levels_verdict {
    bool two;             /* at most 1 in 100 of one-level samples (normal or lognormal, n >= 6) says so */
    double low, high;     /* means of the groups; NaN unless `two` */
    size_t n_low, n_high; /* >= 2 each when `two` */
};

/* values > 0 (throughputs of replays), any order. 0; -EINVAL; -ENOMEM; fewer than LEVELS_MIN_REPLAYS: 0 and
 * two = false. */
int levels_of(const double *values, size_t n, struct levels_verdict *ret_verdict);

#endif
