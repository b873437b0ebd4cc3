/* The evidence for every profile's point, and the points that are not dominated. */
#include "tuner/search/profiles.h"

#include "bench/base/rng.h"
#include "tuner/search/tune.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#define N_DRAWS    1000
#define RNG_STREAM 21
#define NEAR       M_LN2 /* of logs: a factor of two */

/* Correlation of log rate and log delay inside the points, over all of them: by Little's law near -1 where
 * the depth is fixed. 0 where nothing scatters; points of one replay say nothing. */
static double correlation_of(const struct tune *tune, const struct profiles_field *field)
{
    double xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < field->n; i++) {
        const struct record *record = &tune->records[field->point[i]];
        for (size_t k = 0; k < record->n; k++) {
            double x = log(record->samples[k].throughput_bps) - field->pair[i].rate.moments.mean;
            double y = log(record->samples[k].latency_mean_ns) - field->pair[i].delay.moments.mean;
            xx += x * x;
            yy += y * y;
            xy += x * y;
        }
    }
    return xx > 0 && yy > 0 ? fmax(-1, fmin(1, xy / sqrt(xx * yy))) : 0;
}

static size_t position_of(const struct profiles_field *field, size_t point)
{
    for (size_t i = 0; i < field->n; i++) {
        if (field->point[i] == point)
            return i;
    }
    return ENGINE_NONE;
}

static void count_explored(const struct tune *tune, const struct profiles_field *field, size_t position,
                           struct profiles_verdict *verdict)
{
    size_t neighbours[PROFILES_NEIGHBOURS_MOST];
    const struct pareto_point *own = &field->pair[position];
    verdict->n_neighbours =
        profiles_neighbours(tune, field->point[position], neighbours, PROFILES_NEIGHBOURS_MOST);
    for (size_t i = 0; i < verdict->n_neighbours; i++)
        verdict->n_neighbours_measured +=
            tune->records[neighbours[i]].n > 0 || tune->records[neighbours[i]].failed != 0;
    for (size_t i = 0; i < field->n; i++) {
        const struct pareto_point *pair = &field->pair[i];
        verdict->n_near += fabs(pair->rate.moments.mean - own->rate.moments.mean) <= NEAR &&
                           fabs(pair->delay.moments.mean - own->delay.moments.mean) <= NEAR;
    }
    size_t least = tune->space.n_points < PROFILES_NEAR_LEAST ? tune->space.n_points : PROFILES_NEAR_LEAST;
    verdict->explored = (verdict->n_near >= least || verdict->n_neighbours_measured >= least) &&
                        verdict->n_neighbours_measured == verdict->n_neighbours;
}

static bool is_confirming(const struct tune *tune, size_t point)
{
    return record_count(&tune->records[point], true) >= ENGINE_MIN_REPLAYS;
}

static void compare_with_fastest(const struct tune *tune, size_t point, struct profiles_verdict *verdict)
{
    size_t fastest = tune->profiles.point[PROFILE_MAX_THROUGHPUT];
    double confidence = tune->settings->runs.confidence_share;
    verdict->confirming = is_confirming(tune, point);
    if (fastest == ENGINE_NONE)
        return;
    const struct record *a = &tune->records[point], *b = &tune->records[fastest];
    bool confirming = verdict->confirming && is_confirming(tune, fastest);
    verdict->throughput =
        objective_ratio(a, b, confirming, confidence, objective_table[OBJECTIVE_THROUGHPUT].value);
    verdict->latency =
        objective_ratio(a, b, confirming, confidence, objective_table[OBJECTIVE_LATENCY].value);
}

/* Share of the draws in which the point at a position fits a profile best; points behind a cliff are no
 * rivals of a balanced one. */
static int judge_fit(const struct tune *tune, const struct profiles_field *field, struct pareto_draws draws,
                     enum profile profile, size_t position, double *ret_share)
{
    struct pareto_point *rivals = malloc((field->n + 1) * sizeof *rivals);
    double *share = malloc((field->n + 1) * sizeof *share);
    size_t n = 1;
    int result = rivals != NULL && share != NULL ? 0 : -ENOMEM;
    if (result == 0) {
        rivals[0] = field->pair[position];
        for (size_t i = 0; i < field->n; i++) {
            if (i != position && !(profile == PROFILE_BALANCED && profiles_is_steep(tune, field, i)))
                rivals[n++] = field->pair[i];
        }
        struct pareto_score score = profiles_score(tune->settings, profile, profiles_reference(tune));
        result = pareto_shares(rivals, n, draws, &score, profiles_margin(tune->settings, profile), share);
    }
    if (result == 0)
        *ret_share = share[0];
    free(rivals);
    free(share);
    return result;
}

static int judge_points(struct tune *tune, const struct profiles_field *field, struct pareto_draws draws,
                        const double *on_front)
{
    int result = 0;
    for (size_t p = 0; p < PROFILE_N && result == 0; p++) {
        struct profiles_verdict *verdict = &tune->profiles.verdict[p];
        size_t position = position_of(field, tune->profiles.point[p]);
        *verdict = (struct profiles_verdict){.on_front = NAN, .on_top = NAN};
        if (position == ENGINE_NONE)
            continue;
        result = judge_fit(tune, field, draws, (enum profile)p, position, &verdict->on_top);
        verdict->on_front = on_front[position];
        count_explored(tune, field, position, verdict);
        compare_with_fastest(tune, tune->profiles.point[p], verdict);
    }
    return result;
}

static double mean_latency_ns(const struct record *record)
{
    double sum = 0;
    for (size_t i = 0; i < record->n; i++)
        sum += record->samples[i].latency_mean_ns;
    return sum / (double)record->n;
}

/* The points that are not dominated, by ascending latency. */
static int rank(struct tune *tune, const struct profiles_field *field, const double *on_front)
{
    size_t n = field->n;
    bool *dominated = malloc((n + 1) * sizeof *dominated);
    double *delay = malloc((n + 1) * sizeof *delay);
    size_t *order = malloc((n + 1) * sizeof *order);
    struct profiles_rank *front = malloc((n + 1) * sizeof *front);
    bool ready = dominated != NULL && delay != NULL && order != NULL && front != NULL;
    tune->profiles.n_front = 0;
    if (ready) {
        pareto_dominated(field->pair, n, tune->settings->runs.confidence_share, dominated);
        for (size_t i = 0; i < n; i++)
            delay[i] = mean_latency_ns(&tune->records[field->point[i]]);
        gsl_sort_index(order, delay, 1, n);
        for (size_t k = 0; k < n; k++) {
            size_t i = order[k];
            if (!dominated[i])
                front[tune->profiles.n_front++] =
                    (struct profiles_rank){field->point[i], delay[i], on_front[i]};
        }
        tune->profiles.n_dominated = n - tune->profiles.n_front;
        free(tune->profiles.front);
        tune->profiles.front = front;
    }
    free(dominated);
    free(delay);
    free(order);
    if (!ready)
        free(front);
    return ready ? 0 : -ENOMEM;
}

static int judge_field(struct tune *tune, const struct profiles_field *field, gsl_rng *rng)
{
    double *on_front = malloc((field->n + 1) * sizeof *on_front);
    if (on_front == NULL)
        return -ENOMEM;
    struct pareto_draws draws = {.correlation = correlation_of(tune, field), .n_draws = N_DRAWS, .rng = rng};
    double margin = profiles_margin(tune->settings, PROFILE_MAX_THROUGHPUT);
    int result = pareto_shares(field->pair, field->n, draws, NULL, margin, on_front);
    if (result == 0)
        result = judge_points(tune, field, draws, on_front);
    if (result == 0)
        result = rank(tune, field, on_front);
    free(on_front);
    return result;
}

int profiles_judge(struct tune *tune)
{
    struct profiles_field field;
    if (!tune->profiles.chosen)
        return 0;
    /* Replays after the choice may have spoken against the answer. */
    if (tune->settings->search.objective == OBJECTIVE_THROUGHPUT)
        tune->profiles.point[tune->settings->search.profile] = tune->engine.chosen;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int result = rng != NULL ? profiles_field_of(tune, &field) : -ENOMEM;
    if (result == 0) {
        gsl_rng_set(rng, rng_derive(tune->session->seed, RNG_STREAM));
        result = judge_field(tune, &field, rng);
        profiles_field_done(&field);
    }
    tune->profiles.judged = result == 0;
    if (rng != NULL)
        gsl_rng_free(rng);
    return result;
}
