/* bench/io/skew: which of many places a random request goes to, where some are asked for more often.
 *
 * zipf: the k-th most wanted place has a share in proportion to 1 / k^theta. Drawn by rejection-inversion
 * (Hoermann and Derflinger 1996, "Rejection-inversion to generate variates from monotone discrete
 * distributions"), which is exact and takes the same time for any number of places. hot: a share of the
 * requests goes to a share of the places, evenly, and the rest to the others. */
#pragma once

#include "bench/base/rng.h"

#include <stdint.h>

enum skew_kind { SKEW_NONE, SKEW_ZIPF, SKEW_HOT };

struct skew {
    enum skew_kind kind;
    double theta;                       /* of zipf, > 0 */
    double hot_share, hot_access_share; /* of the places, of the requests; in (0, 1) */
};

struct skew_draw {
    struct skew skew;
    uint64_t n_places, n_hot;
    double first, last, accepted; /* of zipf: ends of the integral, what needs no second look */
    struct rng rng;
};

/* n_places >= 1. */
void skew_draw_init(struct skew_draw *draw, const struct skew *skew, uint64_t n_places, uint64_t seed);

/* Of zipf the rank of a place, from 0; of hot the number of a place, the hot ones first. */
uint64_t skew_draw_next(struct skew_draw *draw);
