/* The surrogate's joint posterior, and what draws from it say of the whole space. */
#include "models/search/belief_internal.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>

/* Points in a joint draw at most: its cost grows with the cube. */
#define MAX_JOINT 1024

/* A rival this many of its own and the asked point's standard deviations short of the margin does not matter:
 * less than 1e-6 each. */
#define HOPELESS_STDS 5.0

struct rival {
    size_t point;
    double promise;
};

int belief_covariance(const struct belief *belief, size_t point, const size_t *points, size_t n,
                      double *ret_covariance)
{
    return belief->chosen->covariance(belief_chosen_state(belief), point, points, n, ret_covariance);
}

int belief_sample(const struct belief *belief, const size_t *points, size_t n, size_t n_draws, gsl_rng *rng,
                  double *ret_draws)
{
    int result = belief->chosen->sample(belief_chosen_state(belief), points, n, n_draws, rng, ret_draws);

    for (size_t i = 0; i < n * n_draws && !result; i++)
        ret_draws[i] = fmin(ret_draws[i] + belief_offset(belief, points[i % n]), belief->ceiling);
    return result;
}

static int more_promising_first(const void *a_, const void *b_)
{
    const struct rival *a = a_, *b = b_;

    if (a->promise > b->promise || a->promise < b->promise)
        return a->promise > b->promise ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

/* The points that could exceed `point` by more than margin, most promising first. ret_rivals has room for all
 * points. */
static size_t find_rivals(const struct belief *belief, size_t point, double margin, struct rival *ret_rivals)
{
    double needed = belief->mean[point] + margin, own_std = sqrt(belief->variance[point]);
    size_t n = 0;

    for (size_t i = 0; i < belief->space->n_points; i++) {
        double std = sqrt(belief->variance[i]);

        if (i == point || belief->excluded[i] || belief->mean[i] + HOPELESS_STDS * (std + own_std) < needed)
            continue;
        ret_rivals[n++] = (struct rival){.point = i, .promise = belief->mean[i] + 3.0 * std};
    }
    qsort(ret_rivals, n, sizeof(*ret_rivals), more_promising_first);
    return GSL_MIN(n, MAX_JOINT - 1);
}

/* Share of draws in which no other column exceeds the first by more than margin. */
static double share_within(const double *draws, size_t n, size_t n_draws, double margin)
{
    size_t n_within = 0;

    for (size_t draw = 0; draw < n_draws; draw++) {
        const double *row = draws + draw * n;
        size_t i = 1;

        while (i < n && row[i] - row[0] <= margin)
            i++;
        n_within += i == n;
    }
    return (double)n_within / (double)n_draws;
}

/* In a space too small for a surrogate every point stands alone, and one never measured may be anything. */
static double without_surrogate(const struct belief *belief, size_t point, double margin)
{
    double probability = belief->moments[point].n > 0 ? 1.0 : 0.0, df;
    double own = belief_run_variance(belief, point, &df) / fmax(1.0, (double)belief->moments[point].n);

    for (size_t i = 0; i < belief->space->n_points; i++) {
        const struct moments *rival = &belief->moments[i];

        if (i == point || belief->excluded[i])
            continue;
        if (rival->n == 0)
            return 0.0;
        double variance = own + belief_run_variance(belief, i, &df) / (double)rival->n;
        double lead = belief->moments[point].mean + margin - rival->mean;

        probability *= gsl_cdf_ugaussian_P(lead / sqrt(variance));
    }
    return probability;
}

int belief_probability_within(const struct belief *belief, size_t point, double margin, size_t n_draws,
                              gsl_rng *rng, double *ret_probability)
{
    struct rival *rivals = malloc(belief->space->n_points * sizeof(*rivals));
    size_t points[MAX_JOINT] = {point}, n;
    double *draws = NULL;
    int result = 0;

    if (!rivals)
        return -ENOMEM;
    if (!belief->chosen) {
        *ret_probability = without_surrogate(belief, point, margin);
        goto out;
    }
    n = 1 + find_rivals(belief, point, margin, rivals);
    for (size_t i = 1; i < n; i++)
        points[i] = rivals[i - 1].point;
    draws = malloc(n * n_draws * sizeof(*draws));
    result = draws ? belief_sample(belief, points, n, n_draws, rng, draws) : -ENOMEM;
    if (!result)
        *ret_probability = share_within(draws, n, n_draws, margin);
    if (!result && belief->mean[point] + margin < belief->ceiling)
        *ret_probability *= belief_no_lone_peaks(belief, point, belief->mean[point] + margin);
out:
    free(rivals);
    free(draws);
    return result;
}
