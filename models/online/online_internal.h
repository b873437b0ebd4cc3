/* models/online/online_internal: between online.c and online_trial.c. */
#pragma once

#include "models/online/online.h"

#define ONLINE_CHECK_SLICES 200 /* of a kind, between two comparisons of its best with the first setting */

static inline double online_rate(const struct online_slice *slice)
{
    return (double)slice->n_bytes / slice->seconds;
}

/* Whether best runs instead of the first setting. */
static inline bool online_is_other(const struct online *online, const struct online_mind *mind)
{
    return mind->is_settled && !online_is_same(&mind->best, &online->options.first);
}

/* Asks what to try next for the kind that goes on, now that a slice of the running setting is over. True:
 * online->tried is set. */
bool online_trial_begin(struct online *online, const struct online_slice *slice);
/* The slice after the tried one is over: what the trial has shown. */
void online_trial_end(struct online *online, const struct online_slice *after);
void online_mind_clear(struct online_mind *mind);
