/* What was told so far, the surrogate fitted to it, and what follows for every point. */
#include "models/search/belief_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In log response: a factor of 1.35. Only a wider tolerance would look at points below it. */
#define WIDEST_MARGIN 0.3

int belief_init(struct belief *belief, const struct space *space, const struct surrogate_ops *surrogate,
                double fallback_std)
{
    size_t n = space->n_points;

    struct robust_prior prior = robust_prior_default(fallback_std);

    *belief = (struct belief){.space = space,
                              .surrogate = surrogate,
                              .fallback_std = fallback_std,
                              .noise = prior.noise,
                              .low_share = prior.low_share,
                              .high_share = prior.high_share,
                              .ceiling = INFINITY,
                              .score = NAN};
    belief->moments = calloc(n, sizeof(*belief->moments));
    belief->replays = calloc(n, sizeof(*belief->replays));
    belief->robust = calloc(n, sizeof(*belief->robust));
    belief->single_weight = calloc(n, sizeof(*belief->single_weight));
    belief->excluded = calloc(n, sizeof(*belief->excluded));
    belief->mean = calloc(n, sizeof(*belief->mean));
    belief->variance = calloc(n, sizeof(*belief->variance));
    belief->state = calloc(1, surrogate->state_size);
    if (!belief->moments || !belief->replays || !belief->robust || !belief->single_weight ||
        !belief->excluded || !belief->mean || !belief->variance || !belief->state) {
        belief_done(belief);
        return -ENOMEM;
    }
    for (size_t point = 0; point < n; point++)
        belief->single_weight[point] = 1.0;
    return 0;
}

void belief_done(struct belief *belief)
{
    if (!belief)
        return;
    if (belief->state)
        belief->surrogate->done(belief->state);
    belief_prior_done(belief);
    free(belief->state);
    for (size_t point = 0; belief->replays && point < belief->space->n_points; point++)
        free(belief->replays[point].values);
    free(belief->runs.all);
    free(belief->replays);
    free(belief->robust);
    free(belief->single_weight);
    free(belief->moments);
    free(belief->excluded);
    free(belief->mean);
    free(belief->variance);
    *belief = (struct belief){0};
}

static int reserve(struct belief_replays *replays)
{
    if (replays->n < replays->room)
        return 0;
    size_t room = replays->room ? 2 * replays->room : 4;
    double *values = realloc(replays->values, room * sizeof(*values));

    if (!values)
        return -ENOMEM;
    replays->values = values;
    replays->room = room;
    return 0;
}

/* Inserts in order. There must be room. */
static void keep_replay(struct belief_replays *replays, double value)
{
    size_t place = replays->n++;

    for (; place > 0 && replays->values[place - 1] > value; place--)
        replays->values[place] = replays->values[place - 1];
    replays->values[place] = value;
}

/* Takes what is common off anew. */
static int find_common(struct belief *belief, bool anew)
{
    bool changed;
    int result = belief_common_learn(belief, anew, &changed);

    if (result || !changed)
        return result;
    for (size_t point = 0; point < belief->space->n_points; point++)
        belief->replays[point].n = 0;
    for (size_t i = 0; i < belief->runs.n; i++) {
        const struct belief_run *run = &belief->runs.all[i];

        keep_replay(&belief->replays[run->point], run->response - run->common);
    }
    return 0;
}

static struct robust_sample sample_of(const struct belief *belief, size_t point)
{
    const struct belief_replays *replays = &belief->replays[point];

    return (struct robust_sample){.values = replays->values, .n = replays->n};
}

/* What the replays of a point say by the noise known now. */
static void look_at(struct belief *belief, size_t point)
{
    struct robust_prior prior = belief_run_prior(belief);
    struct robust_point *robust = &belief->robust[point];

    robust_point_of(&prior, sample_of(belief, point), robust);
    robust->location_variance += belief_common_error(belief, point);
    belief->moments[point] =
        (struct moments){.n = belief->replays[point].n, .mean = robust->location, .std = robust->std};
    if (belief->replays[point].n != 1)
        belief->single_weight[point] = 1.0;
}

int belief_tell(struct belief *belief, size_t point, double response)
{
    int result = reserve(&belief->replays[point]);

    if (!result)
        result = belief_runs_reserve(&belief->runs);
    if (result)
        return result;
    keep_replay(&belief->replays[point], response);
    belief_runs_add(&belief->runs, (struct belief_run){
                                       .point = point, .seconds = belief->now_seconds, .response = response});
    belief->n_measured += belief->replays[point].n == 1;
    belief->n_told++;
    look_at(belief, point);
    return 0;
}

void belief_exclude(struct belief *belief, size_t point)
{
    belief->excluded[point] = true;
}

void belief_forget(struct belief *belief, size_t point)
{
    belief->n_measured -= belief->moments[point].n > 0;
    belief->n_told -= belief->moments[point].n;
    belief->moments[point] = (struct moments){0};
    belief->replays[point].n = 0;
    belief_runs_forget(&belief->runs, point);
    belief->robust[point] = (struct robust_point){0};
    belief->single_weight[point] = 1.0;
}

double belief_run_variance(const struct belief *belief, size_t point, double *ret_df)
{
    const struct robust_point *robust = &belief->robust[point];
    size_t n = belief->replays[point].n;

    *ret_df = n > 0 ? robust->df : belief->noise.df;
    return n > 0 ? robust->location_variance * (double)n : belief->noise.variance;
}

static int fit_noise(struct belief *belief)
{
    struct robust_sample *samples = malloc((belief->n_measured + 1) * sizeof(*samples));
    struct robust_prior prior;
    size_t count = 0;
    int result = samples ? 0 : -ENOMEM;

    for (size_t point = 0; !result && point < belief->space->n_points; point++)
        if (belief_usable(belief, point))
            samples[count++] = sample_of(belief, point);
    if (!result)
        result = robust_fit(samples, count, belief->fallback_std, &prior);
    free(samples);
    if (result)
        return result;
    belief->noise = prior.noise;
    belief->low_share = prior.low_share;
    belief->high_share = prior.high_share;
    for (size_t point = 0; point < belief->space->n_points; point++)
        if (belief->replays[point].n > 0)
            look_at(belief, point);
    return 0;
}

static size_t collect(const struct belief *belief, struct observation *ret_data)
{
    size_t count = 0;

    for (size_t point = 0; point < belief->space->n_points; point++) {
        if (!belief_usable(belief, point))
            continue;
        ret_data[count++] = (struct observation){
            .point = point,
            .mean = belief->moments[point].mean - belief_offset(belief, point),
            .mean_variance = belief_told_variance(belief, point),
        };
    }
    return count;
}

/* Fits hyper-parameters anew, and says how well that predicts. */
static int fit_anew(struct belief *belief, struct observation *data, gsl_rng *rng)
{
    double rmse;
    int result = belief->surrogate->fit(belief->state, belief->space, data, collect(belief, data), 1, rng);

    if (!result)
        result = belief->surrogate->leave_one_out(belief->state, &belief->score, &rmse);
    if (!result)
        belief->chosen = belief->surrogate;
    return result;
}

static int predict(struct belief *belief, const size_t *points, size_t n, double floor)
{
    double *mean = malloc((2 * n + 1) * sizeof(*mean));
    int result = mean ? belief->surrogate->predict(belief->state, points, n, floor, mean, mean + n) : -ENOMEM;

    for (size_t i = 0; i < n && !result; i++) {
        belief->mean[points[i]] = mean[i];
        belief->variance[points[i]] = mean[n + i];
    }
    free(mean);
    return result;
}

/* What a point must be able to reach to matter: the best measured one at its worst, less the widest margin
 * that is asked about. */
static double find_floor(const struct belief *belief, const size_t *measured, size_t n)
{
    double floor = -INFINITY;

    /* An offset adds a different amount at each point, so all variances are needed. */
    if (belief->prior.offset)
        return -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double std = sqrt(belief->variance[measured[i]]);

        floor = fmax(floor, belief->mean[measured[i]] - SURROGATE_HOPELESS_STDS * std - WIDEST_MARGIN);
    }
    return floor;
}

/* The posterior of measured points is exact however poor they are: whether a single run is an outlier depends
 * on it. */
static int predict_all(struct belief *belief)
{
    size_t n_points = belief->space->n_points, n = 0, others = n_points;
    size_t *points = calloc(n_points, sizeof(*points));
    int result = points ? 0 : -ENOMEM;

    for (size_t i = 0; i < n_points && !result; i++)
        points[belief_usable(belief, i) ? n++ : --others] = i;
    if (!result)
        result = predict(belief, points, n, -INFINITY);
    if (!result)
        result = predict(belief, points + n, n_points - n, find_floor(belief, points, n));
    for (size_t i = 0; i < n_points && !result; i++)
        belief->mean[i] += belief_offset(belief, i);
    free(points);
    return result;
}

/* Refits with figures from elsewhere and without them; what predicts left-out points better stays. data: room
 * for all observations. */
static int refit_and_weigh_prior(struct belief *belief, struct observation *data, gsl_rng *rng)
{
    int result = fit_anew(belief, data, rng);
    double with_prior = belief->score;

    if (result || !belief->prior.offset)
        return result;
    belief_prior_ignore(belief, true);
    result = fit_anew(belief, data, rng);
    if (result || belief->score > with_prior)
        return result;
    belief_prior_ignore(belief, false);
    result = belief_prior_refit(belief);
    return result ? result : fit_anew(belief, data, rng);
}

/* Exchanges the data and keeps the hyper-parameters. */
static int tell_surrogate(struct belief *belief, struct observation *data, gsl_rng *rng)
{
    size_t n = collect(belief, data);

    return belief->surrogate->fit(belief->state, belief->space, data, n, 0, rng);
}

int belief_update(struct belief *belief, bool refit, gsl_rng *rng)
{
    struct observation *data = malloc((belief->n_measured + 1) * sizeof(*data));
    int result = data ? 0 : -ENOMEM;

    refit = refit || !belief->chosen;
    if (!result)
        result = find_common(belief, refit);
    if (!result)
        result = fit_noise(belief);
    if (result)
        goto out;
    belief->prior.ignored = belief->prior.ignored && !refit;
    result = belief_prior_refit(belief);
    if (!result && refit)
        result = refit_and_weigh_prior(belief, data, rng);
    else if (!result)
        result = tell_surrogate(belief, data, rng);
    if (!result)
        result = predict_all(belief);
    if (!result && belief_suspects_weigh(belief)) {
        result = tell_surrogate(belief, data, rng);
        if (!result)
            result = predict_all(belief);
    }
    if (!result)
        belief_lone_peaks_learn(belief);
out:
    free(data);
    return result;
}

/* Highest among points that are at least so likely feasible. */
static size_t best_of(const struct belief *belief, size_t min_replays, double feasible)
{
    size_t best = belief->space->n_points;
    double highest = -INFINITY;

    for (size_t point = 0; point < belief->space->n_points; point++) {
        double mean = belief->chosen ? belief->mean[point] : belief->moments[point].mean;

        if (!belief_usable(belief, point) || belief->moments[point].n < min_replays || !(mean > highest) ||
            (belief->feasible && belief->feasible[point] < feasible))
            continue;
        highest = mean;
        best = point;
    }
    return best;
}

size_t belief_best(const struct belief *belief, size_t min_replays)
{
    size_t best = belief->space->n_points;

    if (belief->feasible)
        best = best_of(belief, min_replays, 0.5);
    return best < belief->space->n_points ? best : best_of(belief, min_replays, 0.0);
}
