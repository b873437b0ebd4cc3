/* Which points a night must go on measuring, because they may still be better than the baseline. The bound of
 * a measured point comes from its own runs, because the surrogate may be sure too early or misled. */
#include "models/engine/engine_internal.h"

#include <math.h>

#define CAUTIOUS_SD 2.5
/* In log response: by how much a surrogate may underrate an isolated fast point. */
#define UNSEEN_PEAK 0.3

/* Mean response of the baseline; NaN before its first run, or where its runs do not support one. */
static double baseline_response(const struct engine *engine)
{
    size_t baseline = engine->baseline;
    if (baseline == ENGINE_NONE)
        return NAN;
    const struct moments *moments = baseline < engine->space->n_points ? &engine->belief.moments[baseline]
                                                                       : &engine->points[baseline].response;
    return moments->n > 0 ? moments->mean : NAN;
}

bool engine_knows_baseline(const struct engine *engine)
{
    return isfinite(baseline_response(engine));
}

/* Upper bound of a point's response. */
static double upper_bound(const struct engine *engine, size_t point)
{
    const struct belief *belief = &engine->belief;
    const struct moments *own = &belief->moments[point];
    double df;
    if (own->n > 0)
        return own->mean + CAUTIOUS_SD * sqrt(belief_run_variance(belief, point, &df) / (double)own->n);
    if (belief->chosen == NULL)
        return INFINITY;
    return belief->mean[point] + CAUTIOUS_SD * sqrt(belief->variance[point]) + UNSEEN_PEAK;
}

static bool is_open(const struct engine *engine, size_t point, double level)
{
    return point != engine->baseline && !engine->belief.excluded[point] &&
           !engine_is_hopeless(engine, point) && upper_bound(engine, point) > level + engine->margin;
}

bool engine_has_chance(const struct engine *engine, size_t point)
{
    return is_open(engine, point, baseline_response(engine));
}

bool engine_may_beat(const struct engine *engine, size_t point, size_t other)
{
    return upper_bound(engine, point) > engine_worth(engine, other);
}

size_t engine_list_chances(const struct engine *engine, size_t *ret_points, size_t room)
{
    double bounds[ENGINE_MAX_LISTED], level = baseline_response(engine);
    size_t n = 0;
    for (size_t i = 0; i < engine->space->n_points; i++) {
        if (is_open(engine, i, level))
            n = engine_list_highest(ret_points, bounds, n, room, i, upper_bound(engine, i));
    }
    return n;
}
