/* What was told so far, the surrogate fitted to it, and what follows for every point. */
#include "models/belief.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>

/* Points in a joint draw at most: its cost grows with the cube. */
#define MAX_JOINT 1024

/* A rival this many of its own and the asked point's standard deviations short of the margin does not matter:
 * less than 1e-6 each. */
#define HOPELESS_STDS 5.0

/* In log response: a factor of 1.35. Only a wider tolerance would look at points below it. */
#define WIDEST_MARGIN 0.3

struct rival {
    size_t point;
    double promise;
};

int belief_init(struct belief *belief, const struct space *space, enum belief_model model,
                double fallback_std)
{
    size_t n = space->n_points;

    *belief = (struct belief){.space = space,
                              .model = model,
                              .fallback_std = fallback_std,
                              .noise = noise_fit(NULL, NULL, 0, fallback_std),
                              .gp_score = NAN,
                              .quadratic_score = NAN};
    belief->moments = calloc(n, sizeof(*belief->moments));
    belief->excluded = calloc(n, sizeof(*belief->excluded));
    belief->mean = calloc(n, sizeof(*belief->mean));
    belief->variance = calloc(n, sizeof(*belief->variance));
    if (model != BELIEF_QUADRATIC)
        belief->gp = calloc(1, surrogate_gp.state_size);
    if (model != BELIEF_GP)
        belief->quadratic = calloc(1, surrogate_quadratic.state_size);
    if (!belief->moments || !belief->excluded || !belief->mean || !belief->variance ||
        (model != BELIEF_QUADRATIC && !belief->gp) || (model != BELIEF_GP && !belief->quadratic)) {
        belief_done(belief);
        return -ENOMEM;
    }
    return 0;
}

void belief_done(struct belief *belief)
{
    if (!belief)
        return;
    if (belief->gp)
        surrogate_gp.done(belief->gp);
    if (belief->quadratic)
        surrogate_quadratic.done(belief->quadratic);
    belief_prior_done(belief);
    free(belief->gp);
    free(belief->quadratic);
    free(belief->moments);
    free(belief->excluded);
    free(belief->mean);
    free(belief->variance);
    *belief = (struct belief){0};
}

void belief_tell(struct belief *belief, size_t point, double response)
{
    struct moments *moments = &belief->moments[point];
    double n = (double)moments->n, difference = response - moments->mean;
    double squares = n > 0.0 ? (n - 1.0) * gsl_pow_2(moments->std) : 0.0;

    belief->n_measured += moments->n == 0;
    belief->n_told++;
    moments->n++;
    moments->mean += difference / (n + 1.0);
    squares += difference * (response - moments->mean);
    moments->std = n > 0.0 ? sqrt(fmax(0.0, squares) / n) : 0.0;
}

void belief_exclude(struct belief *belief, size_t point)
{
    belief->excluded[point] = true;
}

double belief_run_variance(const struct belief *belief, size_t point, double *ret_df)
{
    return noise_variance(&belief->noise, belief->moments[point].std, belief->moments[point].n, ret_df);
}

static bool usable(const struct belief *belief, size_t point)
{
    return belief->moments[point].n > 0 && !belief->excluded[point];
}

static int fit_noise(struct belief *belief)
{
    double *std = malloc((belief->n_measured + 1) * sizeof(*std));
    size_t *n = malloc((belief->n_measured + 1) * sizeof(*n)), count = 0;
    int result = std && n ? 0 : -ENOMEM;

    for (size_t point = 0; !result && point < belief->space->n_points; point++) {
        if (!usable(belief, point))
            continue;
        std[count] = belief->moments[point].std;
        n[count++] = belief->moments[point].n;
    }
    if (!result)
        belief->noise = noise_fit(std, n, count, belief->fallback_std);
    free(std);
    free(n);
    return result;
}

/* What is expected of a point before anything is measured; the surrogate explains the rest. */
static double offset_of(const struct belief *belief, size_t point)
{
    return belief->prior.offset ? belief->prior.offset[point] : 0.0;
}

static size_t collect(const struct belief *belief, struct observation *ret_data)
{
    size_t count = 0;

    for (size_t point = 0; point < belief->space->n_points; point++) {
        const struct moments *moments = &belief->moments[point];
        double df;

        if (!usable(belief, point))
            continue;
        ret_data[count++] = (struct observation){
            .point = point,
            .mean = moments->mean - offset_of(belief, point),
            .mean_variance = belief_run_variance(belief, point, &df) / (double)moments->n,
        };
    }
    return count;
}

/* Fits one model, if it is used, and scores it; NaN when it cannot be fitted. */
static int fit_and_score(const struct belief *belief, const struct surrogate_ops *ops, void *state,
                         const struct observation *data, size_t n, gsl_rng *rng, double *ret_score)
{
    double rmse;
    int result;

    *ret_score = NAN;
    if (!state)
        return -ENODATA;
    result = ops->fit(state, belief->space, data, n, 1, rng);
    if (!result)
        result = ops->leave_one_out(state, ret_score, &rmse);
    return result;
}

/* Fits what is used and chooses the better; the choice stays as it was when none can be fitted. */
static int refit_all(struct belief *belief, const struct observation *data, size_t n, gsl_rng *rng)
{
    int gp = fit_and_score(belief, &surrogate_gp, belief->gp, data, n, rng, &belief->gp_score);
    int quadratic = fit_and_score(belief, &surrogate_quadratic, belief->quadratic, data, n, rng,
                                  &belief->quadratic_score);

    if (gp && quadratic) {
        if (gp == -ENOMEM || quadratic == -ENOMEM)
            return -ENOMEM;
        return belief->gp ? gp : quadratic;
    }
    belief->chosen =
        quadratic || belief->gp_score >= belief->quadratic_score ? &surrogate_gp : &surrogate_quadratic;
    return 0;
}

static void *chosen_state(const struct belief *belief)
{
    return belief->chosen == &surrogate_gp ? belief->gp : belief->quadratic;
}

/* What a point must be able to reach to matter: the best measured one at its worst, less the widest margin
 * that is asked about. points has room for all points. */
static int find_floor(const struct belief *belief, size_t *points, double *ret_floor)
{
    double *mean = malloc(2 * (belief->n_measured + 1) * sizeof(*mean)), floor = -INFINITY;
    double *variance;
    size_t n = 0;
    int result;

    if (!mean)
        return -ENOMEM;
    variance = mean + belief->n_measured + 1;
    for (size_t i = 0; i < belief->space->n_points; i++)
        if (usable(belief, i))
            points[n++] = i;
    result = belief->chosen->predict(chosen_state(belief), points, n, -INFINITY, mean, variance);
    for (size_t i = 0; i < n && !result; i++)
        floor = fmax(floor, mean[i] - SURROGATE_HOPELESS_STDS * sqrt(variance[i]) - WIDEST_MARGIN);
    free(mean);
    /* What an offset adds differs from point to point: then all variances are wanted. */
    *ret_floor = belief->prior.offset ? -INFINITY : floor;
    return result;
}

static int predict_all(struct belief *belief)
{
    size_t n = belief->space->n_points, *points = malloc(n * sizeof(*points));
    double floor;
    int result = points ? find_floor(belief, points, &floor) : -ENOMEM;

    for (size_t i = 0; i < n && !result; i++)
        points[i] = i;
    if (!result)
        result =
            belief->chosen->predict(chosen_state(belief), points, n, floor, belief->mean, belief->variance);
    for (size_t i = 0; i < n && !result; i++)
        belief->mean[i] += offset_of(belief, i);
    free(points);
    return result;
}

static double score_of(const struct belief *belief)
{
    return belief->chosen == &surrogate_gp ? belief->gp_score : belief->quadratic_score;
}

/* Refits with figures from elsewhere and without them; what predicts left-out points better stays. data: room
 * for all observations. */
static int refit_and_weigh_prior(struct belief *belief, struct observation *data, gsl_rng *rng)
{
    int result = refit_all(belief, data, collect(belief, data), rng);
    double with_prior = score_of(belief);

    if (result || !belief->prior.offset)
        return result;
    belief_prior_ignore(belief, true);
    result = refit_all(belief, data, collect(belief, data), rng);
    if (result || score_of(belief) > with_prior)
        return result;
    belief_prior_ignore(belief, false);
    result = belief_prior_refit(belief);
    return result ? result : refit_all(belief, data, collect(belief, data), rng);
}

int belief_update(struct belief *belief, bool refit, gsl_rng *rng)
{
    struct observation *data = malloc((belief->n_measured + 1) * sizeof(*data));
    int result = data ? fit_noise(belief) : -ENOMEM;

    if (result)
        goto out;
    refit = refit || !belief->chosen;
    belief->prior.ignored = belief->prior.ignored && !refit;
    result = belief_prior_refit(belief);
    if (!result && refit)
        result = refit_and_weigh_prior(belief, data, rng);
    else if (!result)
        result =
            belief->chosen->fit(chosen_state(belief), belief->space, data, collect(belief, data), 0, rng);
    if (!result)
        result = predict_all(belief);
out:
    free(data);
    return result;
}

int belief_covariance(const struct belief *belief, size_t point, const size_t *points, size_t n,
                      double *ret_covariance)
{
    return belief->chosen->covariance(chosen_state(belief), point, points, n, ret_covariance);
}

int belief_sample(const struct belief *belief, const size_t *points, size_t n, size_t n_draws, gsl_rng *rng,
                  double *ret_draws)
{
    int result = belief->chosen->sample(chosen_state(belief), points, n, n_draws, rng, ret_draws);

    for (size_t i = 0; i < n * n_draws && !result; i++)
        ret_draws[i] += offset_of(belief, points[i % n]);
    return result;
}

size_t belief_best(const struct belief *belief, size_t min_replays)
{
    size_t best = belief->space->n_points;
    double highest = -INFINITY;

    for (size_t point = 0; point < belief->space->n_points; point++) {
        double mean = belief->chosen ? belief->mean[point] : belief->moments[point].mean;

        if (!usable(belief, point) || belief->moments[point].n < min_replays || !(mean > highest))
            continue;
        highest = mean;
        best = point;
    }
    return best;
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
        *ret_probability = 0.0;
        goto out;
    }
    n = 1 + find_rivals(belief, point, margin, rivals);
    for (size_t i = 1; i < n; i++)
        points[i] = rivals[i - 1].point;
    draws = malloc(n * n_draws * sizeof(*draws));
    result = draws ? belief_sample(belief, points, n, n_draws, rng, draws) : -ENOMEM;
    if (!result)
        *ret_probability = share_within(draws, n, n_draws, margin);
out:
    free(rivals);
    free(draws);
    return result;
}
