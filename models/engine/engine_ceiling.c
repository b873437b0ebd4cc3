/* Where a known limit binds every point, nothing is better than a point that reaches it. What is left to ask
 * is whether one with less in flight reaches it, too. */
#include "models/engine/engine_internal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* A run has to promise so many halvings of what is in flight, on average. */
#define LEAST_HALVINGS 0.1
/* A point may reach the ceiling that does so with this probability. */
#define LEAST_PROBABILITY 0.05

static double level(const struct engine *engine)
{
    return engine->belief.ceiling - engine->margin;
}

bool engine_is_at_ceiling(const struct engine *engine, size_t point)
{
    const struct moments *own = &engine->belief.moments[point];
    if (!isfinite(engine->belief.ceiling) || own->n < ENGINE_MIN_REPLAYS ||
        !engine_is_eligible(engine, point))
        return false;
    double df, variance = belief_run_variance(&engine->belief, point, &df) / (double)own->n;
    double error = student_quantile(engine->confidence_share, df) * sqrt(variance);
    return own->mean - error >= level(engine);
}

bool engine_nears_ceiling(const struct engine *engine)
{
    size_t best = belief_best(&engine->belief, 1);
    return engine->belief.chosen != NULL && best < engine->space->n_points &&
           engine->belief.mean[best] >= level(engine);
}

/* By what is believed of it; 0 where a limit of its own is lower, or where its runs should have shown it. */
static double reaches(const struct engine *engine, size_t point)
{
    const struct belief *belief = &engine->belief;
    const struct engine_point *of = &engine->points[point];
    bool is_lower = of->most_bps > 0 && log(of->most_bps) < level(engine);
    if (is_lower || belief->excluded[point] || of->failed || of->distrusted ||
        belief->moments[point].n >= ENGINE_CONFIRMING_LEAST)
        return 0;
    double probability =
        gsl_cdf_gaussian_Q(level(engine) - belief->mean[point], sqrt(belief->variance[point]));
    return probability >= LEAST_PROBABILITY ? probability * engine_feasible(engine, point) : 0;
}

size_t engine_list_at_ceiling(const struct engine *engine, size_t *ret_points, size_t room)
{
    /* Before a point is known to reach the ceiling, the one that seems to is worth runs as well. */
    bool known = engine_is_at_ceiling(engine, engine->chosen);
    double halvings[ENGINE_MAX_LISTED], most = known ? engine->points[engine->chosen].in_flight_bytes
                                                     : 2 * engine->points[engine->best].in_flight_bytes;
    size_t n = 0;
    for (size_t i = 0; i < engine->space->n_points; i++) {
        double in_flight = engine->points[i].in_flight_bytes;
        double promised = in_flight < most ? log2(most / in_flight) * reaches(engine, i) : 0;
        if (promised >= LEAST_HALVINGS)
            n = engine_list_highest(ret_points, halvings, n, room, i, promised);
    }
    return n;
}
