/* models/engine/effects: what is measured besides and has a limit: how likely each point keeps it.
 *
 * Each effect is learnt over the space by a belief of its own. A point with a few measurements is judged by
 * these alone, so that what is recommended was seen to keep the limits; others by what the surrogate makes of
 * all: one measurement that scatters would mislead more than its neighbours do. */
#pragma once

#include "models/search/belief.h"
#include "models/surrogate/space.h"

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct effects {
    size_t n, n_refitted; /* measurements at the last fit of hyper-parameters */
    struct belief *beliefs;
    gsl_rng *rng;
    double *kept; /* by point of the space: probability that all limits are kept; for engine->kept */
    bool stale;   /* something was told since */
};

/* n >= 1. 0, -ENOMEM; effects_done takes a zeroed one. */
int effects_init(struct effects *effects, size_t n, const struct space *space, uint64_t seed);
void effects_done(struct effects *effects);

/* How far each effect of one measurement stays within its limit, on a scale on which it scatters evenly: 0
 * where it is the limit itself, more where it is kept. 0, -ENOMEM. */
int effects_tell(struct effects *effects, size_t point, const double *within);

/* Sets kept from all that was told. 0, -ENOMEM. */
int effects_update(struct effects *effects);
