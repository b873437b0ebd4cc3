/* Where prior knowledge says to look first. */
#include "models/engine/engine_internal.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <stdlib.h>

#define FIRST_POINTS 4 /* of the first source; of each other half of them */

/* The most promising points of one source that are not among ret_points yet. */
static size_t add_best(const struct engine *engine, const double *mean, size_t wanted, size_t *order,
                       size_t *ret_points, size_t n)
{
    gsl_sort_index(order, mean, 1, engine->space->n_points);
    for (size_t k = engine->space->n_points; k-- > 0 && wanted > 0;) {
        size_t before = n;
        if (!engine->belief.excluded[order[k]])
            n = engine_list_once(ret_points, n, order[k]);
        wanted -= n - before;
    }
    return n;
}

int engine_known_points(const struct engine *engine, size_t *ret_points, size_t room, size_t *ret_n)
{
    const struct belief_prior *prior = &engine->belief.prior;
    size_t *order = calloc(engine->space->n_points, sizeof *order), n = 0;
    for (size_t i = 0; order != NULL && i < prior->n; i++) {
        size_t wanted = i == 0 ? FIRST_POINTS : FIRST_POINTS / 2;
        n = add_best(engine, prior->mean[i], wanted < room - n ? wanted : room - n, order, ret_points, n);
    }
    *ret_n = n;
    int result = order != NULL ? 0 : -ENOMEM;
    free(order);
    return result;
}

/* The best point whose coordinate in one dimension is `level`. */
static size_t best_with(const struct engine *engine, size_t dim, double level)
{
    const double *mean = engine->belief.prior.mean[0];
    size_t best = ENGINE_NONE;
    for (size_t i = 0; i < engine->space->n_points; i++) {
        if (space_row(engine->space, i)[dim] == level && !engine->belief.excluded[i] &&
            (best == ENGINE_NONE || mean[i] > mean[best]))
            best = i;
    }
    return best;
}

static bool is_first_with(const struct engine *engine, size_t point, size_t dim)
{
    double level = space_row(engine->space, point)[dim];
    for (size_t i = 0; i < point; i++) {
        if (space_row(engine->space, i)[dim] == level)
            return false;
    }
    return true;
}

/* For every level of every factor the point that the first source promises most of: a change since then that
 * raised all points of one level (a size, an API) shows in one of them. */
size_t engine_known_probes(const struct engine *engine, size_t *ret_points, size_t room)
{
    const struct space *space = engine->space;
    size_t n = 0;
    if (engine->belief.prior.n == 0)
        return 0;
    for (size_t dim = 0; dim < space->n_dims; dim++) {
        for (size_t i = 0; i < space->n_points && n < room; i++) {
            if (is_first_with(engine, i, dim))
                n = engine_list_once(ret_points, n, best_with(engine, dim, space_row(space, i)[dim]));
        }
    }
    return n;
}
