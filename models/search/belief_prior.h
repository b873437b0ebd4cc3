/* models/search/belief_prior: what figures from elsewhere say about the points of a belief.
 *
 * Each source gives an expected response for every point. The one that predicts best what was measured here
 * becomes the surrogate's mean function, as far as it helps (models/surrogate/transfer); the surrogate then
 * explains what is left. While fewer than TRANSFER_MIN_POINTS points are measured, and where no source
 * predicts anything, the belief is the same as without them. */
#pragma once

#include "models/surrogate/transfer.h"

#include <stdbool.h>
#include <stddef.h>

#define BELIEF_PRIOR_MAX 8

struct belief;

struct belief_prior {
    size_t n;
    double *mean[BELIEF_PRIOR_MAX];             /* owned; expected responses by point, all finite */
    struct transfer transfer[BELIEF_PRIOR_MAX]; /* of the last belief_update; n = 0 before */
    bool ignored;                               /* at the last refit the surrogate did better without */
    size_t used;                                /* the one that predicts best; valid while offset is set */
    double *offset;                             /* by point, of the response; NULL: nothing is known */
};

/* Adds a source; means are copied. 0; -ENOSPC when there are BELIEF_PRIOR_MAX; -EINVAL for a mean that is not
 * finite; -ENOMEM. */
int belief_prior_add(struct belief *belief, const double *mean);

/* Compares the sources with what was told and sets the offset. 0, -ENOMEM. Called by belief_update. */
int belief_prior_refit(struct belief *belief);

/* From the next belief_update on the belief is one without prior; the transfers stay readable. */
void belief_prior_drop(struct belief *belief);

/* No offset until it is turned off again. */
void belief_prior_ignore(struct belief *belief, bool ignored);

void belief_prior_done(struct belief *belief);
