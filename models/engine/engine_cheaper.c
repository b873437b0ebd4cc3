/* Once the evidence settles a choice, what is left of the time goes to the question whether something cheaper
 * would do. */
#include "models/engine/engine_internal.h"

#include "models/search/acquire.h"

#include <math.h>

double engine_expected_shortfall(double mean, double variance)
{
    return acquire_expected_improvement(mean, sqrt(variance), 0);
}

/* Whether no more than the margin is expected to be lost with a point that too few runs tell of. */
static bool may_do(const struct engine *engine, size_t point)
{
    const struct belief *belief = &engine->belief;
    size_t best = engine->best;
    return !belief->excluded[point] && belief->moments[point].n < ENGINE_CONFIRMING_LEAST &&
           !engine->points[point].failed && !engine->points[point].distrusted &&
           !engine_is_hopeless(engine, point) &&
           engine_expected_shortfall(belief->mean[best] - belief->mean[point],
                                     belief->variance[best] + belief->variance[point]) <= engine->margin;
}

size_t engine_list_cheaper(const struct engine *engine, size_t *ret_points, size_t room)
{
    double bounds[ENGINE_MAX_LISTED], most = engine->points[engine->chosen].in_flight_bytes;
    size_t n = 0;
    if (engine->belief.chosen == NULL || engine->prefers_fastest)
        return 0;
    for (size_t i = 0; i < engine->space->n_points; i++) {
        double in_flight = engine->points[i].in_flight_bytes;
        if (in_flight < most && may_do(engine, i))
            n = engine_list_highest(ret_points, bounds, n, room, i, -in_flight);
    }
    return n;
}
