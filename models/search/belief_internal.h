/* What the parts of models/search/belief share. */
#pragma once

#include "models/search/belief.h"

#include <math.h>
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

int belief_runs_reserve(struct belief_runs *runs);
void belief_runs_add(struct belief_runs *runs, struct belief_run run);
void belief_runs_forget(struct belief_runs *runs, size_t point);

/* Finds what is common at the time of each run; anew: how much and for how long, too. ret_changed: replays
 * are no longer what the runs say. 0; -ENOMEM: nothing changed. */
int belief_common_learn(struct belief *belief, bool anew, bool *ret_changed);

/* Variance of a point's location by what is not known of the common part, as far as its runs share that,
 * being near in time. */
double belief_common_error(const struct belief *belief, size_t point);

/* What all that was told says of the point. */
struct belief_level belief_level_of(const struct belief *belief, size_t point);

/* A rival this many of its own and the asked point's standard deviations short of the margin does not matter:
 * less than 1e-6 each. */
#define BELIEF_HOPELESS_STDS 5.0

/* Whether `rival` could exceed the point of this level by more than the margin. */
static inline bool belief_is_rival(const struct belief *belief, size_t rival, size_t point,
                                   const struct belief_level *own, double margin)
{
    double stds = sqrt(belief->variance[rival]) + sqrt(own->variance);

    return rival != point && !belief->excluded[rival] &&
           belief->mean[rival] + BELIEF_HOPELESS_STDS * stds >= own->mean + margin;
}

/* belief_claim's probability_within of a point of this level without a surrogate: every point stands alone,
 * and one never measured may be anything. */
double belief_within_alone(const struct belief *belief, size_t point, const struct belief_level *own,
                           double margin);

/* Probability that no isolated fast point exceeds a point of this level by more than the margin. */
double belief_no_lone_peaks_within(const struct belief *belief, size_t point, const struct belief_level *own,
                                   double margin);

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

/* The probability of a ceiling that is not above a response of this mean and standard deviation. */
double belief_ceiling_up_to(const struct belief_ceiling *ceiling, double response, double std);

/* A ceiling by these probabilities; INFINITY: none. */
double belief_ceiling_draw(const struct belief_ceiling *ceiling, gsl_rng *rng);

/* Lowers a draw of the listed points' responses to a learnt ceiling (INFINITY: none) and to the known one.
 * The learnt one leaves out settings that were measured: these are what their own runs say, also where that
 * is a little more, since rates saturate and limits are not kept to the last byte. */
void belief_ceiling_lower(const struct belief *belief, const size_t *points, size_t n, double ceiling,
                          double *draw);

/* Judges points of one run by the others, after a fit. True when that changes what should be told to the
 * surrogate. */
bool belief_suspects_weigh(struct belief *belief);
