/* What a run showed becomes what is known. */
#include "models/engine/engine_internal.h"

#include <math.h>

/* A run is cut when its point is slower than the best so far by so many standard deviations of a run, and at
 * least by this factor. */
#define CAUTIOUS_SD      1.645
#define HOPELESS_SD      4.0
#define HOPELESS_FACTOR  2.0
#define HOPELESS_REPLAYS 2 /* the best so far must have so many runs */

int engine_tell(struct engine *engine, const struct engine_run *run, const struct engine_result *result)
{
    struct engine_point *point = &engine->points[run->point];
    /* Replays of a point have equal length. */
    if (result->cut && point->n_runs > 0 && !point->is_cut)
        return 0;
    if (point->is_cut)
        engine_forget(engine, run->point);
    point->is_cut = result->cut;
    point->n_runs++;
    point->last_bps = result->bps;
    point->last_seconds = result->seconds;
    if (result->latency_ns > 0)
        moments_add(&point->latency, log(result->latency_ns));
    engine_limit_tell(engine, run->point, result);
    if (!isfinite(result->response)) {
        if (run->point < engine->space->n_points)
            belief_exclude(&engine->belief, run->point);
        return 0;
    }
    if (run->confirming)
        moments_add(&point->confirming, result->response);
    engine->belief.now_seconds = result->at_seconds;
    if (run->point < engine->space->n_points)
        return belief_tell(&engine->belief, run->point, result->response);
    moments_add(&point->response, result->response);
    return 0;
}

void engine_fail(struct engine *engine, size_t point)
{
    engine->points[point].failed = true;
    if (point < engine->space->n_points)
        belief_exclude(&engine->belief, point);
}

void engine_forget(struct engine *engine, size_t point)
{
    struct engine_point *of = &engine->points[point];
    of->n_runs = 0;
    of->is_cut = false;
    of->last_bps = of->last_seconds = 0;
    of->response = of->confirming = of->latency = (struct moments){0};
    of->limit.n_timed = of->limit.n_over = of->limit.over_squares = 0;
    if (point < engine->space->n_points)
        belief_forget(&engine->belief, point);
}

double engine_hopeless(const struct engine *engine, const struct engine_run *run)
{
    size_t best = belief_best(&engine->belief, HOPELESS_REPLAYS), n_points = engine->space->n_points;
    /* Only the first run of a point is cut: without its slow runs the mean of a point would be too high. */
    if (run->confirming || run->point >= n_points || best >= n_points ||
        engine->points[run->point].n_runs > 0 || engine->search == &search_grid || engine_is_limited(engine))
        return -INFINITY;
    double df, std = sqrt(belief_run_variance(&engine->belief, best, &df));
    const struct moments *moments = &engine->belief.moments[best];
    double sure = moments->mean - CAUTIOUS_SD * std / sqrt((double)moments->n);
    return sure - fmax(engine->margin + HOPELESS_SD * std, log(HOPELESS_FACTOR));
}
