/* Runs that were probably not ordinary ones: of points measured once, by what the others say. */
#include "models/search/belief_internal.h"

#include <gsl/gsl_math.h>
#include <math.h>

/* A point of one run this many standard deviations below its prediction is suspect. */
#define SUSPECT_STDS 3.0

/* How many standard deviations above its prediction a suspect point may lie, when it is asked whether it
 * could be the best. */
#define SUSPECT_REACH 2.0

/* Weights of single runs that moved by less do not change a prediction noticeably. */
#define WEIGHT_STEP 0.2

bool belief_leave_out(const struct belief *belief, size_t point, double *ret_mean, double *ret_variance)
{
    double own = 1.0 / belief_told_variance(belief, point), all = 1.0 / belief->variance[point];

    if (!(all > own) || !isfinite(all))
        return false;
    *ret_variance = 1.0 / (all - own);
    *ret_mean = *ret_variance * (all * belief->mean[point] - own * belief->moments[point].mean);
    return true;
}

bool belief_suspects_weigh(struct belief *belief)
{
    struct robust_prior prior = belief_run_prior(belief);
    bool changed = false;

    for (size_t point = 0; point < belief->space->n_points; point++) {
        double value = belief->moments[point].mean, mean, variance, weight, own;

        if (!belief_usable(belief, point) || belief->replays[point].n != 1 ||
            !belief_leave_out(belief, point, &mean, &variance))
            continue;
        own = belief->noise.variance;
        weight = robust_single_weight(&prior, value, mean, variance);
        /* Even a run that is surely an outlier was measured: the point is hardly further off than that
         * run. */
        weight = fmax(weight, own / (own + gsl_pow_2(value - mean)));
        changed = changed || fabs(log(weight / belief->single_weight[point])) > WEIGHT_STEP;
        belief->single_weight[point] = weight;
    }
    return changed;
}

/* What the other points promise of a suspect point at best; -INFINITY for all that need no second look. */
static double promise_of_suspect(const struct belief *belief, size_t point, double incumbent)
{
    double mean, variance, upper;

    if (!belief->chosen || !belief_usable(belief, point) || belief->replays[point].n != 1 ||
        !belief_leave_out(belief, point, &mean, &variance) ||
        belief->moments[point].mean > mean - SUSPECT_STDS * sqrt(variance + belief->noise.variance))
        return -INFINITY;
    upper = mean + SUSPECT_REACH * sqrt(variance);
    return upper >= incumbent ? upper : -INFINITY;
}

size_t belief_suspect(const struct belief *belief)
{
    size_t n_points = belief->space->n_points, found = n_points, best = belief_best(belief, 1);
    double highest = -INFINITY;

    for (size_t point = 0; best < n_points && point < n_points; point++) {
        double promise = promise_of_suspect(belief, point, belief->mean[best]);

        if (promise > highest) {
            highest = promise;
            found = point;
        }
    }
    return found;
}

size_t belief_outlier_runs(const struct belief *belief)
{
    size_t count = 0;

    for (size_t point = 0; belief->space && point < belief->space->n_points; point++)
        count += belief_usable(belief, point) ? belief->robust[point].n_outliers : 0;
    return count;
}

size_t belief_two_level_points(const struct belief *belief)
{
    size_t count = 0;

    for (size_t point = 0; belief->space && point < belief->space->n_points; point++)
        count += belief_usable(belief, point) && belief->robust[point].two_levels;
    return count;
}
