/* The surrogate's joint posterior, and what draws from it say of the whole space. */
#include "models/search/belief_internal.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

/* Points in a joint draw at most: its cost grows with the cube. */
#define MAX_JOINT 512

/* A rival this many of its own and the asked point's standard deviations short of the margin does not matter:
 * less than 1e-6 each. */
#define HOPELESS_STDS 5.0

/* A bound on the shortfall is looked for up to this, in steps of this, in log response. */
#define WIDEST_GAP 8.0
#define GAP_STEP   1e-4

/* Whether a probability is high enough is asked of so few first, and of so many times more where these leave
 * it open: the answer is that of all draws but for a chance below 1e-4. */
#define FEW_RIVALS 32
#define FEW_DRAWS  128
#define MORE       4
#define SURE_STDS  4.0

struct rival {
    size_t point;
    double promise;
};

int belief_covariance(const struct belief *belief, size_t point, const size_t *points, size_t n,
                      double *ret_covariance)
{
    return belief->chosen->covariance(belief->state, point, points, n, ret_covariance);
}

int belief_sample(const struct belief *belief, const size_t *points, size_t n, size_t n_draws, gsl_rng *rng,
                  double *ret_draws)
{
    int result = belief->chosen->sample(belief->state, points, n, n_draws, rng, ret_draws);

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

/* The points that could exceed `point` of this level by more than margin, most promising first. ret_rivals
 * has room for all points. */
static size_t find_rivals(const struct belief *belief, size_t point, const struct belief_level *own,
                          double margin, struct rival *ret_rivals)
{
    double needed = own->mean + margin, own_std = sqrt(own->variance);
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

/* Puts draws of the level into the first column, which the others then do not depend on. */
static void redraw_first(const struct belief *belief, const struct belief_level *own, size_t n,
                         size_t n_draws, gsl_rng *rng, double *draws)
{
    for (size_t draw = 0; draw < n_draws; draw++) {
        double value = own->mean + gsl_ran_gaussian_ziggurat(rng, sqrt(own->variance));

        draws[draw * n] = fmin(value, belief->ceiling);
    }
}

/* By how much the best of the other columns exceeds the first, of each draw. */
static void find_gaps(const double *draws, size_t n, size_t n_draws, double *ret_gaps)
{
    for (size_t draw = 0; draw < n_draws; draw++) {
        const double *row = draws + draw * n;

        ret_gaps[draw] = n > 1 ? gsl_stats_max(row + 1, 1, n - 1) - row[0] : -INFINITY;
    }
}

/* In a space too small for a surrogate every point stands alone, and one never measured may be anything. */
static double without_surrogate(const struct belief *belief, size_t point, const struct belief_level *own,
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

/* What all that was told says of the point. */
static struct belief_level level_of(const struct belief *belief, size_t point)
{
    double df, n = fmax(1.0, (double)belief->moments[point].n);

    if (belief->chosen)
        return (struct belief_level){.mean = belief->mean[point], .variance = belief->variance[point]};
    return (struct belief_level){.mean = belief->moments[point].mean,
                                 .variance = belief_run_variance(belief, point, &df) / n};
}

/* Rivals of a point, most promising first, behind the point itself. */
struct field {
    size_t points[MAX_JOINT], n;
};

/* own: the level of the point; those that could exceed it by more than margin are its rivals. */
static int gather(const struct belief *belief, size_t point, const struct belief_level *own, double margin,
                  struct field *ret_field)
{
    struct rival *rivals = malloc(belief->space->n_points * sizeof(*rivals));

    if (!rivals)
        return -ENOMEM;
    ret_field->points[0] = point;
    ret_field->n = 1 + find_rivals(belief, point, own, margin, rivals);
    for (size_t i = 1; i < ret_field->n; i++)
        ret_field->points[i] = rivals[i - 1].point;
    free(rivals);
    return 0;
}

/* Draws of the gaps between the first point of the field and the best of the next ones, n points in all.
 * other: its level where that is not what was told. */
static int draw_gaps(const struct belief *belief, const struct field *field, size_t n,
                     const struct belief_level *other, size_t n_draws, gsl_rng *rng, double *ret_gaps)
{
    double *draws = malloc(n * n_draws * sizeof(*draws));
    int result = draws ? belief_sample(belief, field->points, n, n_draws, rng, draws) : -ENOMEM;

    if (!result && other)
        redraw_first(belief, other, n, n_draws, rng, draws);
    if (!result)
        find_gaps(draws, n, n_draws, ret_gaps);
    free(draws);
    return result;
}

/* Probability that no isolated fast point lies above margin. */
static double no_lone_peaks(const struct belief *belief, size_t point, const struct belief_level *own,
                            double margin)
{
    double response = own->mean + margin;

    return response < belief->ceiling ? belief_no_lone_peaks(belief, point, response) : 1.0;
}

static double share_within(const double *gaps, size_t n_draws, double margin)
{
    double n_within = 0.0;

    for (size_t draw = 0; draw < n_draws; draw++)
        n_within += gaps[draw] <= margin;
    return n_within / (double)n_draws;
}

/* Few draws of few rivals mostly show that it is improbable, and cost a thousandth of many of all; so they
 * are made first. `none`: the probability of no lone peak. */
static int draw_until_sure(const struct belief *belief, const struct field *field, double margin, double none,
                           double enough, size_t n_draws, gsl_rng *rng, bool *ret_within)
{
    double *gaps = malloc(n_draws * sizeof(*gaps));
    int result = gaps ? 0 : -ENOMEM;
    bool sure = false;

    for (size_t n = FEW_RIVALS, k = FEW_DRAWS; !result && !sure; n *= MORE, k *= MORE) {
        bool all = n >= field->n;

        n = GSL_MIN(n, field->n);
        k = GSL_MIN(k, n_draws);
        result = draw_gaps(belief, field, n, NULL, k, rng, gaps);
        if (result)
            break;
        double share = share_within(gaps, k, margin);
        double error = SURE_STDS * none * sqrt((share * (1.0 - share) + 1.0 / (double)k) / (double)k);

        *ret_within = none * share >= enough;
        sure =
            (all && k == n_draws) || none * share + error < enough || (all && none * share - error >= enough);
    }
    free(gaps);
    return result;
}

int belief_is_within(const struct belief *belief, size_t point, double margin, double enough, size_t n_draws,
                     gsl_rng *rng, bool *ret_within)
{
    struct belief_level own = level_of(belief, point);
    struct field field;
    double none;
    int result;

    if (!belief->chosen) {
        *ret_within = without_surrogate(belief, point, &own, margin) >= enough;
        return 0;
    }
    none = no_lone_peaks(belief, point, &own, margin);
    *ret_within = false;
    if (none < enough)
        return 0;
    result = gather(belief, point, &own, margin, &field);
    return result ? result : draw_until_sure(belief, &field, margin, none, enough, n_draws, rng, ret_within);
}

int belief_claim(const struct belief *belief, size_t point, const struct belief_level *other, double margin,
                 double confidence, size_t n_draws, gsl_rng *rng, struct belief_claim *ret_claim)
{
    double *gaps = malloc(n_draws * sizeof(*gaps)), low = 0.0, high = WIDEST_GAP, asked = margin;
    struct belief_level own = other ? *other : level_of(belief, point);
    struct field field;
    int result = gaps ? 0 : -ENOMEM;

    if (!result && belief->chosen)
        result = gather(belief, point, &own, 0.0, &field);
    if (!result && belief->chosen)
        result = draw_gaps(belief, &field, field.n, other, n_draws, rng, gaps);
    while (!result && high - low > GAP_STEP) {
        double probability =
            belief->chosen ? share_within(gaps, n_draws, asked) * no_lone_peaks(belief, point, &own, asked)
                           : without_surrogate(belief, point, &own, asked);

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
