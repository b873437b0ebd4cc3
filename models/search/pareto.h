/* models/search/pareto: points that trade a rate (higher is better) against a delay (lower is better), both
 * as natural logarithms over replays, and both known only up to noise.
 *
 * Knee: the point of the highest power = rate / delay (Kleinrock 1979, "Power and deterministic rules of
 * thumb for probabilistic problems in computer communications"). In logs it is rate - delay: beyond that
 * point one more percent of rate costs more than one percent of delay. Unlike the largest distance to the
 * chord of the curve (Satopaa et al. 2011, "Kneedle") it depends neither on which ends of the curve were
 * measured nor on their units, and one noisy end cannot move it. For requests of latency a + s/B (a queue
 * alike) it lies at half of the highest rate and twice the lowest delay.
 *
 * Where a rate is enough, more of it counts for nothing: with a score of that kind the lowest delay wins
 * among points that reach it, and a point below pays for what it lacks. */
#pragma once

#include "models/statistics/compare.h"

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>

struct pareto_point {
    struct contender rate, delay; /* moments.n > 0 in both */
};

struct pareto_score {
    double log_enough;   /* rate beyond which more counts for nothing; INFINITY: never */
    double delay_weight; /* 1; 0: only the rate counts */
};

/* min(rate, enough) - weight * delay. */
double pareto_score_of(struct pareto_score score, double log_rate, double log_delay);

/* ret_dominated[i]: another point is better in both, each by a one-sided Welch bound at `confidence`. A tie
 * in either keeps a point. The error holds for each pair: among many near rivals a point of the front is
 * called dominated more often. Points without at least one run's variance (run_variance) must not occur. */
void pareto_dominated(const struct pareto_point *points, size_t n, double confidence, bool *ret_dominated);

/* Draws of the truth behind the means: independent between points, correlated inside, t-distributed. Points
 * with one or two replays have nothing to resample, so that the bootstrap is this parametric one, with their
 * shrunk variances. */
struct pareto_draws {
    double correlation;
    size_t n_draws; /* > 0 */
    gsl_rng *rng;
};

/* ret_share[i]: share of the draws in which no point has a score more than `margin` above; score NULL: in
 * which no other point is better by more than `margin` in both. 0 or -ENOMEM. */
int pareto_shares(const struct pareto_point *points, size_t n, struct pareto_draws draws,
                  const struct pareto_score *score, double margin, double *ret_share);

/* Is a point on a slope that no saturation explains? Where a queue or a size is halved or doubled, a device
 * that is perfectly idle or perfectly busy halves the power. A neighbour `octaves` > 0 away that is proved,
 * at `confidence`, to lose twice as much as that (its rate, say, falls by 30 % where it should hold) stands
 * behind a cliff. Both contenders hold log power. */
bool pareto_is_steep(const struct contender *point, const struct contender *neighbour, double octaves,
                     double confidence);
