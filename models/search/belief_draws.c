/* The surrogate's joint posterior, and what draws from it say of the whole space. */
#include "models/search/belief_internal.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

/* A bound on the shortfall is looked for up to this, in steps of this, in log response. */
#define WIDEST_GAP 8.0
#define GAP_STEP   1e-4

/* Points in a joint draw at most: its cost grows with the cube. */
#define MAX_JOINT 512

struct rival {
    size_t point;
    double promise;
};

/* Between a point and the best of the others, under a ceiling that no point passes (INFINITY: there is none).
 */
struct gap {
    double above, ceiling;
};

int belief_covariance(const struct belief *belief, size_t point, const size_t *points, size_t n,
                      double *ret_covariance)
{
    return belief->chosen->covariance(belief->state, point, points, n, ret_covariance);
}

int belief_sample(const struct belief *belief, const size_t *points, size_t n, size_t n_draws, gsl_rng *rng,
                  double *ret_draws)
{
    struct joint joint;
    int result = joint_init(&joint, n);

    if (!result)
        result = belief->chosen->joint(belief->state, points, n, &joint);
    for (size_t i = 0; i < n && !result; i++)
        joint.mean[i] += belief_offset(belief, points[i]);
    if (!result)
        result = joint_draw(&joint, n_draws, rng, ret_draws);
    joint_done(&joint);
    for (size_t i = 0; i < n * n_draws && !result; i++)
        ret_draws[i] = fmin(ret_draws[i], belief->ceiling);
    return result;
}

static int more_promising_first(const void *a_, const void *b_)
{
    const struct rival *a = a_, *b = b_;

    if (a->promise > b->promise || a->promise < b->promise)
        return a->promise > b->promise ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

/* The points that could exceed `point` of this level, most promising first. ret_rivals has room for all
 * points. */
static size_t find_rivals(const struct belief *belief, size_t point, const struct belief_level *own,
                          struct rival *ret_rivals)
{
    size_t n = 0;

    for (size_t i = 0; i < belief->space->n_points; i++) {
        double promise = belief->mean[i] + 3.0 * sqrt(belief->variance[i]);

        if (belief_is_rival(belief, i, point, own, 0.0))
            ret_rivals[n++] = (struct rival){.point = i, .promise = promise};
    }
    qsort(ret_rivals, n, sizeof(*ret_rivals), more_promising_first);
    return GSL_MIN(n, MAX_JOINT - 1);
}

/* Puts draws of the level into the first column, which the others then do not depend on. */
static void redraw_first(const struct belief *belief, const struct belief_level *own, size_t n,
                         size_t n_draws, gsl_rng *rng, double *draws)
{
    for (size_t draw = 0; draw < n_draws; draw++) {
        double value = own->mean + gsl_ran_gaussian_ziggurat(rng, sqrt(own->variance));

        draws[draw * n] = fmin(value, belief->ceiling);
    }
}

/* By how much the best of the other columns exceeds the first, of each draw, under a ceiling. */
static void find_gaps(const struct belief *belief, const size_t *points, size_t n, size_t n_draws,
                      gsl_rng *rng, double *draws, struct gap *ret_gaps)
{
    struct belief_ceiling learnt;

    belief_ceiling_learn(belief, &learnt);
    for (size_t draw = 0; draw < n_draws; draw++) {
        double *row = draws + draw * n, ceiling = belief_ceiling_draw(&learnt, rng);

        belief_ceiling_lower(belief, points, n, ceiling, row);
        ret_gaps[draw] = (struct gap){
            .above = (n > 1 ? gsl_stats_max(row + 1, 1, n - 1) : -INFINITY) - row[0], .ceiling = ceiling};
    }
}

double belief_within_alone(const struct belief *belief, size_t point, const struct belief_level *own,
                           double margin)
{
    double probability = belief->moments[point].n > 0 ? 1.0 : 0.0, df;

    for (size_t i = 0; i < belief->space->n_points; i++) {
        const struct moments *rival = &belief->moments[i];

        if (i == point || belief->excluded[i])
            continue;
        if (rival->n == 0)
            return 0.0;
        double variance = own->variance + belief_run_variance(belief, i, &df) / (double)rival->n;
        double lead = own->mean + margin - rival->mean;

        probability *= gsl_cdf_ugaussian_P(lead / sqrt(variance));
    }
    return probability;
}

struct belief_level belief_level_of(const struct belief *belief, size_t point)
{
    double df, n = fmax(1.0, (double)belief->moments[point].n);

    if (belief->chosen)
        return (struct belief_level){.mean = belief->mean[point], .variance = belief->variance[point]};
    return (struct belief_level){.mean = belief->moments[point].mean,
                                 .variance = belief_run_variance(belief, point, &df) / n};
}

/* Draws of the gaps between a point and the best of its rivals. other: its level where that is not what was
 * told. */
static int draw_gaps(const struct belief *belief, size_t point, const struct belief_level *other,
                     size_t n_draws, gsl_rng *rng, struct gap *ret_gaps)
{
    struct rival *rivals = malloc(belief->space->n_points * sizeof(*rivals));
    size_t points[MAX_JOINT] = {point}, n;
    double *draws = NULL;
    struct belief_level own = other ? *other : belief_level_of(belief, point);
    int result = rivals ? 0 : -ENOMEM;

    if (!result) {
        n = 1 + find_rivals(belief, point, &own, rivals);
        for (size_t i = 1; i < n; i++)
            points[i] = rivals[i - 1].point;
        draws = malloc(n * n_draws * sizeof(*draws));
        result = draws ? belief_sample(belief, points, n, n_draws, rng, draws) : -ENOMEM;
    }
    if (!result && other)
        redraw_first(belief, other, n, n_draws, rng, draws);
    if (!result)
        find_gaps(belief, points, n, n_draws, rng, draws, ret_gaps);
    free(rivals);
    free(draws);
    return result;
}

double belief_no_lone_peaks_within(const struct belief *belief, size_t point, const struct belief_level *own,
                                   double margin)
{
    double response = own->mean + margin;

    return response < belief->ceiling ? belief_no_lone_peaks(belief, point, response) : 1.0;
}

/* Probability of no gap above margin, and of no isolated fast point above it, which a ceiling rules out. */
static double within(const struct belief *belief, size_t point, const struct belief_level *own, double margin,
                     const struct gap *gaps, size_t n_draws)
{
    double response = own->mean + margin, n_within = 0.0;
    double no_lone_peaks = belief_no_lone_peaks_within(belief, point, own, margin);

    for (size_t draw = 0; draw < n_draws; draw++) {
        if (gaps[draw].above <= margin)
            n_within += response < gaps[draw].ceiling ? no_lone_peaks : 1.0;
    }
    return n_within / (double)n_draws;
}

int belief_claim(const struct belief *belief, size_t point, const struct belief_level *other, double margin,
                 double confidence, size_t n_draws, gsl_rng *rng, struct belief_claim *ret_claim)
{
    double low = 0.0, high = WIDEST_GAP, asked = margin;
    struct gap *gaps = malloc(n_draws * sizeof(*gaps));
    struct belief_level own = other ? *other : belief_level_of(belief, point);
    int result = gaps ? 0 : -ENOMEM;

    if (!result && belief->chosen)
        result = draw_gaps(belief, point, other, n_draws, rng, gaps);
    while (!result && high - low > GAP_STEP) {
        double probability = belief->chosen ? within(belief, point, &own, asked, gaps, n_draws)
                                            : belief_within_alone(belief, point, &own, asked);

        if (asked == margin)
            ret_claim->probability_within = probability;
        if (probability >= confidence)
            high = asked;
        else
            low = asked;
        asked = 0.5 * (low + high);
    }
    free(gaps);
    if (!result)
        ret_claim->shortfall = high < WIDEST_GAP ? high : INFINITY;
    return result;
}
