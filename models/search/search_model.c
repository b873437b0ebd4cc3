/* Model-based search: a Sobol design, then batches of the points whose measurement promises the greatest
 * augmented expected improvement.
 *
 * Inside a batch a point already chosen is believed to come out at its posterior mean (Ginsbourger, Le Riche
 * and Carraro 2010, "kriging believer"). Such a result leaves all means as they are and takes a rank-one term
 * off the covariance, so no surrogate is fitted again. */
#include "models/search/acquire.h"
#include "models/search/search.h"
#include "models/search/search_queue.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* In log response: a hundredth of a percent is far below what can be measured. */
#define NIL_IMPROVEMENT 1e-4

struct model_search {
    struct search_queue design;
    bool *handed; /* by point: asked for before, though perhaps not told of yet */
};

/* The candidates, of which the first n_chosen are chosen, and what is believed of them while a batch is put
 * together. */
struct batch {
    size_t n, n_chosen, want;
    size_t *points;
    double *variance;
    double *explained; /* n_chosen rows of n: root of what each choice took off the variances, signed */
    double incumbent, noise_std;
};

static int model_init(void *state, const struct space *space, size_t n_first, gsl_rng *rng)
{
    struct model_search *search = state;

    search->handed = calloc(space->n_points, sizeof(*search->handed));
    if (!search->handed)
        return -ENOMEM;
    return search_queue_init(&search->design, space, &design_sobol, n_first, rng);
}

static void model_done(void *state)
{
    struct model_search *search = state;

    free(search->handed);
    search_queue_done(&search->design);
    *search = (struct model_search){0};
}

static int model_in_first_design(const void *state)
{
    const struct model_search *search = state;

    return search->design.next < search->design.n;
}

static void batch_done(struct batch *batch)
{
    free(batch->points);
    free(batch->variance);
    free(batch->explained);
}

static int batch_init(struct batch *batch, const struct model_search *search, const struct belief *belief,
                      size_t want)
{
    size_t n_points = belief->space->n_points, best = belief_best(belief, 1);

    *batch = (struct batch){.noise_std = sqrt(belief->noise.variance)};
    if (belief->chosen && best < n_points)
        batch->incumbent = belief->mean[best];
    batch->points = malloc(n_points * sizeof(*batch->points));
    batch->variance = malloc(n_points * sizeof(*batch->variance));
    if (!batch->points || !batch->variance)
        return -ENOMEM;
    for (size_t point = 0; point < n_points; point++) {
        if (belief->moments[point].n > 0 || belief->excluded[point] || search->handed[point])
            continue;
        batch->variance[batch->n] = belief->variance[point];
        batch->points[batch->n++] = point;
    }
    batch->want = GSL_MIN(want, batch->n);
    batch->explained = calloc(batch->want * batch->n + 1, sizeof(*batch->explained));
    return batch->explained ? 0 : -ENOMEM;
}

/* Index of the candidate to choose next; n when none is expected to improve on the best so far. */
static size_t batch_best(const struct batch *batch, const struct belief *belief)
{
    size_t best = batch->n;
    double highest = -1.0, improvement = 0.0;

    for (size_t i = batch->n_chosen; i < batch->n; i++) {
        double mean = belief->mean[batch->points[i]], std = sqrt(fmax(0.0, batch->variance[i]));
        double worth = acquire_augmented_improvement(mean, std, batch->incumbent, batch->noise_std);

        if (belief->run_seconds)
            worth /= belief->run_seconds[batch->points[i]];
        if (belief->feasible)
            worth *= belief->feasible[batch->points[i]];
        improvement = fmax(improvement, acquire_expected_improvement(mean, std, batch->incumbent));
        if (worth > highest) {
            highest = worth;
            best = i;
        }
    }
    return improvement < NIL_IMPROVEMENT ? batch->n : best;
}

static void swap_doubles(double *values, size_t i, size_t j)
{
    double kept = values[i];

    values[i] = values[j];
    values[j] = kept;
}

/* Moves candidate i behind those chosen before. */
static void batch_choose(struct batch *batch, size_t i)
{
    size_t place = batch->n_chosen++, point = batch->points[i];

    batch->points[i] = batch->points[place];
    batch->points[place] = point;
    swap_doubles(batch->variance, i, place);
    for (size_t row = 0; row < place; row++)
        swap_doubles(batch->explained + row * batch->n, i, place);
}

/* Takes the believed result of the last choice into account. */
static int batch_believe(struct batch *batch, const struct belief *belief)
{
    size_t last = batch->n_chosen - 1, n = batch->n;
    double *row = batch->explained + last * n;
    double total = sqrt(fmax(0.0, batch->variance[last]) + gsl_pow_2(batch->noise_std));
    int result = belief_covariance(belief, batch->points[last], batch->points, n, row);

    if (result)
        return result;
    for (size_t j = 0; j < n; j++) {
        for (size_t before = 0; before < last; before++)
            row[j] -= batch->explained[before * n + last] * batch->explained[before * n + j];
        row[j] /= total;
        batch->variance[j] -= gsl_pow_2(row[j]);
    }
    batch->incumbent = fmax(batch->incumbent, belief->mean[batch->points[last]]);
    return 0;
}

static int choose_by_improvement(struct batch *batch, const struct belief *belief)
{
    int result = 0;

    while (!result && batch->n_chosen < batch->want) {
        size_t best = batch_best(batch, belief);

        if (best == batch->n)
            break;
        batch_choose(batch, best);
        if (batch->n_chosen < batch->want)
            result = batch_believe(batch, belief);
    }
    return result;
}

/* Before there is anything to believe (too many points of the first design failed). */
static void choose_at_random(struct batch *batch, gsl_rng *rng)
{
    while (batch->n_chosen < batch->want)
        batch_choose(batch, batch->n_chosen + gsl_rng_uniform_int(rng, batch->n - batch->n_chosen));
}

static int model_ask(void *state, const struct belief *belief, size_t want, gsl_rng *rng, size_t *ret_points,
                     size_t *ret_n)
{
    struct model_search *search = state;
    size_t n = search_queue_take(&search->design, belief, want, ret_points);
    struct batch batch = {0};
    int result = 0;

    if (n == 0) {
        result = batch_init(&batch, search, belief, want);
        if (result)
            goto out;
        if (belief->chosen && belief_best(belief, 1) < belief->space->n_points)
            result = choose_by_improvement(&batch, belief);
        else
            choose_at_random(&batch, rng);
        if (result)
            goto out;
        n = batch.n_chosen;
        memcpy(ret_points, batch.points, n * sizeof(*ret_points));
    }
    for (size_t i = 0; i < n; i++)
        search->handed[ret_points[i]] = true;
    *ret_n = n;
out:
    batch_done(&batch);
    return result;
}

#define MODEL_SEARCH(label, its_surrogate)                                                                   \
    {                                                                                                        \
        .name = label, .state_size = sizeof(struct model_search), .surrogate = its_surrogate,                \
        .init = model_init, .ask = model_ask, .in_first_design = model_in_first_design, .done = model_done,  \
    }

const struct search_ops search_auto = MODEL_SEARCH("auto", &surrogate_gp);
const struct search_ops search_gp = MODEL_SEARCH("gp", &surrogate_gp);
const struct search_ops search_quadratic = MODEL_SEARCH("quadratic", &surrogate_quadratic);
