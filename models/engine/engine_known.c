/* Where prior knowledge says to look first. */
#include "models/engine/engine_internal.h"

#include <math.h>
#include <string.h>

#define FIRST_POINTS 4    /* of the first source; of each other half of them */
#define TIE          1e-9 /* far below what two points differ by; breaks ties between them */

static double highest_of(const struct engine *engine, const double *mean)
{
    double highest = -INFINITY;
    for (size_t i = 0; i < engine->space->n_points; i++)
        highest = engine->belief.excluded[i] ? highest : fmax(highest, mean[i]);
    return highest;
}

/* What a point promises: all that are expected to lose at most half the tolerance promise the same, and of
 * them the one with the least in flight comes first, whose run is cheap and whose answer would be. */
static double promise_of(const struct engine *engine, const double *mean, double highest, size_t point)
{
    return fmin(mean[point], highest - engine->tolerance / 2) -
           TIE * log(engine->points[point].in_flight_bytes);
}

/* The most promising points of one source that have no run and are not among ret_points yet. */
static size_t add_best(const struct engine *engine, const double *mean, size_t wanted, size_t *ret_points,
                       size_t n)
{
    size_t best[FIRST_POINTS] = {0}, n_best = 0;
    double bounds[FIRST_POINTS], highest = highest_of(engine, mean);
    for (size_t i = 0; i < engine->space->n_points && wanted > 0; i++) {
        bool known = engine->belief.excluded[i] || engine->belief.moments[i].n > 0;
        for (size_t k = 0; k < n; k++)
            known |= ret_points[k] == i;
        if (!known)
            n_best =
                engine_list_highest(best, bounds, n_best, wanted, i, promise_of(engine, mean, highest, i));
    }
    memcpy(ret_points + n, best, n_best * sizeof *best);
    return n + n_best;
}

size_t engine_known_points(const struct engine *engine, size_t *ret_points, size_t room)
{
    const struct belief_prior *prior = &engine->belief.prior;
    size_t n = 0;
    for (size_t i = 0; i < prior->n; i++) {
        size_t wanted = i == 0 ? FIRST_POINTS : FIRST_POINTS / 2;
        n = add_best(engine, prior->mean[i], wanted < room - n ? wanted : room - n, ret_points, n);
    }
    return n;
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
