/* What the parts of models/search/belief share. */
#pragma once

#include "models/search/belief.h"

#include <stdbool.h>
#include <stddef.h>

static inline struct robust_prior belief_run_prior(const struct belief *belief)
{
    return (struct robust_prior){
        .noise = belief->noise, .low_share = belief->low_share, .high_share = belief->high_share};
}

static inline bool belief_usable(const struct belief *belief, size_t point)
{
    return belief->moments[point].n > 0 && !belief->excluded[point];
}

/* Variance of the mean that the surrogate is told: a single run counts as far as it is likely to be
 * ordinary. */
static inline double belief_told_variance(const struct belief *belief, size_t point)
{
    return belief->robust[point].location_variance / belief->single_weight[point];
}

/* What is expected of a point before anything is measured; the surrogate explains the rest. */
static inline double belief_offset(const struct belief *belief, size_t point)
{
    return belief->prior.offset ? belief->prior.offset[point] : 0.0;
}

/* Learns lone_peaks_share and lone_peaks_std, after a fit. */
void belief_lone_peaks_learn(struct belief *belief);

/* A response that no point passes, as far as one can be learnt from what was told: how probable each of some
 * levels is. What is missing to 1 is the probability that there is none. */
#define BELIEF_CEILING_LEVELS 61
struct belief_ceiling {
    double first; /* level, in log response */
    double probability[BELIEF_CEILING_LEVELS];
};

/* After a fit. */
void belief_ceiling_learn(const struct belief *belief, struct belief_ceiling *ret_ceiling);

/* A ceiling by these probabilities; INFINITY: none. */
double belief_ceiling_draw(const struct belief_ceiling *ceiling, gsl_rng *rng);

/* Judges points of one run by the others, after a fit. True when that changes what should be told to the
 * surrogate. */
bool belief_suspects_weigh(struct belief *belief);
