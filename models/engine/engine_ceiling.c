/* Where a known limit binds every point, nothing is better than a point that reaches it. What is left to ask
 * is whether one with less in flight reaches it, too. */
#include "models/engine/engine_internal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* A point that lies this far below the ceiling, as a difference of logs, does not reach it. The tolerance is
 * too wide for that question, because a limit is known exactly. */
#define REACHED_MARGIN 0.02
/* A point is run only if its run is expected to halve what is in flight at least so many times. */
#define LEAST_HALVINGS 0.1
/* A point with so many runs gets no more, whether they told or not. */
#define MOST_REPLAYS 15
/* A point that is less likely to reach the ceiling is not run for it. */
#define LEAST_PROBABILITY 0.05

double engine_ceiling_margin(const struct engine *engine)
{
    return fmin(engine->margin, REACHED_MARGIN);
}

static double level(const struct engine *engine)
{
    return engine->belief.ceiling - engine_ceiling_margin(engine);
}

/* Half the width of the interval of its mean, by its own runs. */
static double error_of(const struct engine *engine, size_t point)
{
    double df, variance = belief_run_variance(&engine->belief, point, &df);
    return student_quantile(engine->confidence_share, df) *
           sqrt(variance / (double)engine->belief.moments[point].n);
}

static bool has_runs(const struct engine *engine, size_t point, size_t least)
{
    return isfinite(engine->belief.ceiling) && engine->belief.moments[point].n >= least &&
           engine_is_eligible(engine, point);
}

bool engine_seems_at_ceiling(const struct engine *engine, size_t point)
{
    const struct belief *belief = &engine->belief;
    if (has_runs(engine, point, ENGINE_MIN_REPLAYS))
        return belief->moments[point].mean >= level(engine);
    return belief->chosen != NULL && has_runs(engine, point, 1) && belief->mean[point] >= level(engine);
}

bool engine_is_at_ceiling(const struct engine *engine, size_t point)
{
    return has_runs(engine, point, ENGINE_MIN_REPLAYS) &&
           engine->belief.moments[point].mean - error_of(engine, point) >= level(engine);
}

bool engine_nears_ceiling(const struct engine *engine)
{
    size_t best = belief_best(&engine->belief, 1);
    return engine->belief.chosen != NULL && best < engine->space->n_points &&
           engine->belief.mean[best] >= level(engine);
}

/* Whether its own runs say if it reaches the ceiling, or hardly ever will. */
static bool is_judged(const struct engine *engine, size_t point)
{
    const struct moments *own = &engine->belief.moments[point];
    return own->n >= MOST_REPLAYS ||
           (own->n >= ENGINE_MIN_REPLAYS && fabs(own->mean - level(engine)) > error_of(engine, point));
}

/* By what is believed of it; 0 where a limit of its own is lower, or where its runs have settled it. */
static double reaches(const struct engine *engine, size_t point)
{
    const struct belief *belief = &engine->belief;
    const struct engine_point *of = &engine->points[point];
    bool is_lower = of->most_bps > 0 && log(of->most_bps) < level(engine);
    if (is_lower || belief->excluded[point] || of->failed || of->distrusted || is_judged(engine, point))
        return 0;
    double probability =
        gsl_cdf_gaussian_Q(level(engine) - belief->mean[point], sqrt(belief->variance[point]));
    return probability >= LEAST_PROBABILITY ? probability * engine_feasible(engine, point) : 0;
}

/* Before a point is known to reach the ceiling, the one that seems to is worth runs as well. */
static double most_in_flight(const struct engine *engine)
{
    size_t chosen = engine->chosen;
    if (engine_is_at_ceiling(engine, chosen))
        return engine->points[chosen].in_flight_bytes;
    return 2 *
           engine->points[engine_seems_at_ceiling(engine, chosen) ? chosen : engine->best].in_flight_bytes;
}

size_t engine_list_at_ceiling(const struct engine *engine, size_t *ret_points, size_t room)
{
    double halvings[ENGINE_MAX_LISTED], most = most_in_flight(engine);
    size_t n = 0;
    for (size_t i = 0; i < engine->space->n_points; i++) {
        double in_flight = engine->points[i].in_flight_bytes;
        double promised = in_flight < most ? log2(most / in_flight) * reaches(engine, i) : 0;
        if (promised >= LEAST_HALVINGS)
            n = engine_list_highest(ret_points, halvings, n, room, i, promised);
    }
    return n;
}
