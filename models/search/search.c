/* Points in an order fixed beforehand: all of them in random order, by methods random and grid, which keeps a
 * slow minute from falling on one corner of the grid; or a Sobol design, and then batches of the points whose
 * measurement promises the greatest augmented expected improvement.
 *
 * Inside a batch a point already chosen is believed to come out at its posterior mean (Ginsbourger, Le Riche
 * and Carraro 2010, "kriging believer"). Such a result leaves all means as they are and takes a rank-one term
 * off the covariance, so no surrogate is fitted again. */
#include "models/search/search.h"
#include "models/search/acquire.h"
#include "models/surrogate/design.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* In log response: a hundredth of a percent is far below what can be measured. */
#define NIL_IMPROVEMENT 1e-4

struct order {
    size_t *points;
    size_t n, next, n_first; /* n_first: of the first design */
    bool *handed;            /* by point: asked for before, though perhaps not told of yet */
};

/* The candidates, and what is believed of them while a batch is put together. */
struct batch {
    struct order *order;
    size_t n, n_chosen;
    size_t *points;
    double *variance;
    double *explained; /* n_chosen rows of n: root of what each choice took off the variances, signed */
    double incumbent, noise_std;
};

static int draw_order(struct order *order, const struct space *space, const struct design_ops *design,
                      size_t n, size_t n_first, gsl_rng *rng)
{
    order->n_first = n_first;
    order->points = malloc((n + 1) * sizeof(*order->points));
    order->handed = calloc(space->n_points, sizeof(*order->handed));
    return order->points && order->handed ? design->draw(space, n, rng, order->points, &order->n) : -ENOMEM;
}

static int init_model(void *state, const struct space *space, size_t n_first, gsl_rng *rng)
{
    return draw_order(state, space, &design_sobol, n_first, n_first, rng);
}

static int init_random(void *state, const struct space *space, size_t n_first, gsl_rng *rng)
{
    return draw_order(state, space, &design_random, space->n_points, n_first, rng);
}

static int init_grid(void *state, const struct space *space, size_t n_first, gsl_rng *rng)
{
    (void)n_first;
    return init_random(state, space, space->n_points, rng);
}

static void order_done(void *state)
{
    struct order *order = state;

    free(order->points);
    free(order->handed);
    *order = (struct order){0};
}

static int is_in_first_design(const void *state)
{
    const struct order *order = state;

    return order->next < order->n_first && order->next < order->n;
}

static void give_back(void *state, size_t point)
{
    struct order *order = state;

    order->handed[point] = false;
}

/* The next points of the order, without those that are measured or excluded by now. */
static int ask_order(void *state, const struct belief *belief, size_t want, gsl_rng *rng, size_t *ret_points,
                     size_t *ret_n)
{
    struct order *order = state;
    size_t n = 0;

    (void)rng;
    while (n < want && order->next < order->n) {
        size_t point = order->points[order->next++];

        if (belief->moments[point].n == 0 && !belief->excluded[point])
            ret_points[n++] = point;
    }
    *ret_n = n;
    return 0;
}

static void batch_done(struct batch *batch)
{
    free(batch->points);
    free(batch->variance);
    free(batch->explained);
}

static int batch_init(struct batch *batch, struct order *order, const struct belief *belief, size_t want)
{
    size_t n_points = belief->space->n_points, best = belief_best(belief, 1);

    *batch = (struct batch){.order = order, .noise_std = sqrt(belief->noise.variance)};
    if (belief->chosen && best < n_points)
        batch->incumbent = belief->mean[best];
    batch->points = malloc(n_points * sizeof(*batch->points));
    batch->variance = malloc(n_points * sizeof(*batch->variance));
    if (!batch->points || !batch->variance)
        return -ENOMEM;
    for (size_t point = 0; point < n_points; point++) {
        if (belief->moments[point].n > 0 || belief->excluded[point] || order->handed[point])
            continue;
        batch->variance[batch->n] = belief->variance[point];
        batch->points[batch->n++] = point;
    }
    batch->explained = calloc(want * batch->n + 1, sizeof(*batch->explained));
    return batch->explained ? 0 : -ENOMEM;
}

/* Index of the candidate to choose next; n when none is expected to improve on the best so far. */
static size_t batch_best(const struct batch *batch, const struct belief *belief)
{
    size_t best = batch->n;
    double highest = -1.0, improvement = 0.0;

    for (size_t i = 0; i < batch->n; i++) {
        if (batch->order->handed[batch->points[i]])
            continue;
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

/* Takes the believed result of the last choice into account. */
static int batch_believe(struct batch *batch, const struct belief *belief, size_t last)
{
    size_t n = batch->n;
    double *row = batch->explained + (batch->n_chosen - 1) * n;
    double total = sqrt(fmax(0.0, batch->variance[last]) + gsl_pow_2(batch->noise_std));
    int result = belief_covariance(belief, batch->points[last], batch->points, n, row);

    if (result)
        return result;
    for (size_t j = 0; j < n; j++) {
        for (const double *before = batch->explained; before < row; before += n)
            row[j] -= before[last] * before[j];
        row[j] /= total;
        batch->variance[j] -= gsl_pow_2(row[j]);
    }
    batch->incumbent = fmax(batch->incumbent, belief->mean[batch->points[last]]);
    return 0;
}

static int choose_by_improvement(struct batch *batch, const struct belief *belief, size_t want,
                                 size_t *ret_points)
{
    int result = 0;

    while (!result && batch->n_chosen < want) {
        size_t best = batch_best(batch, belief);

        if (best == batch->n)
            break;
        ret_points[batch->n_chosen++] = batch->points[best];
        batch->order->handed[batch->points[best]] = true;
        if (batch->n_chosen < want)
            result = batch_believe(batch, belief, best);
    }
    return result;
}

/* Before there is anything to believe (too many points of the first design failed). */
static void choose_at_random(struct batch *batch, size_t want, gsl_rng *rng, size_t *ret_points)
{
    batch->n_chosen = GSL_MIN(want, batch->n);
    gsl_ran_choose(rng, ret_points, batch->n_chosen, batch->points, batch->n, sizeof(*ret_points));
}

static int ask_model(void *state, const struct belief *belief, size_t want, gsl_rng *rng, size_t *ret_points,
                     size_t *ret_n)
{
    struct order *order = state;
    struct batch batch = {0};
    int result = ask_order(order, belief, want, rng, ret_points, ret_n);

    if (*ret_n == 0) {
        result = batch_init(&batch, order, belief, want);
        if (!result && belief->chosen && belief_best(belief, 1) < belief->space->n_points)
            result = choose_by_improvement(&batch, belief, want, ret_points);
        else if (!result)
            choose_at_random(&batch, want, rng, ret_points);
        if (result)
            goto out;
        *ret_n = batch.n_chosen;
    }
    for (size_t i = 0; i < *ret_n; i++)
        order->handed[ret_points[i]] = true;
out:
    batch_done(&batch);
    return result;
}

#define SEARCH(label, fits, begins, asks, gives)                                                             \
    {                                                                                                        \
        .name = label, .state_size = sizeof(struct order), .surrogate = fits, .init = begins, .ask = asks,   \
        .give_back = gives, .in_first_design = is_in_first_design, .done = order_done,                       \
    }

const struct search_ops search_auto = SEARCH("auto", &surrogate_gp, init_model, ask_model, give_back);
const struct search_ops search_gp = SEARCH("gp", &surrogate_gp, init_model, ask_model, give_back);
const struct search_ops search_quadratic =
    SEARCH("quadratic", &surrogate_quadratic, init_model, ask_model, give_back);
const struct search_ops search_random = SEARCH("random", &surrogate_gp, init_random, ask_order, NULL);
const struct search_ops search_grid = SEARCH("grid", &surrogate_gp, init_grid, ask_order, NULL);

const struct search_ops *const search_table[] = {
    &search_auto, &search_gp, &search_quadratic, &search_random, &search_grid, NULL,
};

const struct search_ops *search_find(const char *name)
{
    for (size_t i = 0; search_table[i]; i++)
        if (strcmp(search_table[i]->name, name) == 0)
            return search_table[i];
    return NULL;
}
