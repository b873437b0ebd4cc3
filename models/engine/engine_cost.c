/* What a run of each point is expected to cost. The search weighs what a run teaches by its seconds: a run of
 * 64 large requests on a slow point takes many times as long as others. */
#include "models/engine/engine_internal.h"

#include <math.h>

/* Weight of the newest run in the running means. */
#define COST_WEIGHT 0.1
/* A point is expected to be faster than the fastest so far by this factor at most. */
#define FASTER_AT_MOST 4
/* A first design puts off what would take more than this share of the budget, and more runs than these. */
#define DEAR_SHARE 0.02
#define DEAR_RUNS  2

/* Seconds that a full queue takes to turn over: it does so once before a run counts and once more at its end,
 * when it drains. */
static double turnover_seconds(const struct engine_point *point, double bps)
{
    return point->in_flight_bytes / bps;
}

void engine_tell_cost(struct engine *engine, size_t point, double seconds, double warmup_seconds,
                      double span_seconds, double bps)
{
    const struct engine_point *told = &engine->points[point];
    double turnover = turnover_seconds(told, bps);
    double warmup = fmin(warmup_seconds, fmax(told->wait_seconds, turnover));
    double around = fmax(0, seconds - span_seconds - warmup - turnover);
    engine->run_seconds += COST_WEIGHT * (seconds - engine->run_seconds);
    engine->around_seconds += COST_WEIGHT * (around - engine->around_seconds);
}

double engine_expected_bps(const struct engine *engine, size_t point)
{
    if (engine->points[point].n_runs > 0)
        return engine->points[point].last_bps;
    if (engine->belief.chosen != NULL && engine->is_of_rates)
        return exp(engine->belief.mean[point]);
    return INFINITY;
}

double engine_fastest_bps(const struct engine *engine)
{
    double fastest = 0;
    for (size_t i = 0; i < engine->space->n_points + engine->n_outside_most; i++)
        fastest = fmax(fastest, engine->points[i].n_runs > 0 ? engine->points[i].last_bps : 0);
    return fastest;
}

static double price_seconds(const struct engine *engine, size_t point, double bps)
{
    const struct engine_point *of = &engine->points[point];
    double turnover = turnover_seconds(of, bps);
    double counts = fmax(fmax(engine->duration_seconds, turnover), of->least_bytes / bps);
    return engine->around_seconds + fmax(of->wait_seconds, turnover) + counts + turnover;
}

void engine_expect_costs(struct engine *engine)
{
    for (size_t i = 0; i < engine->space->n_points; i++)
        engine->seconds[i] = price_seconds(engine, i, engine_expected_bps(engine, i));
    engine->belief.run_seconds = engine->seconds;
}

bool engine_is_dear(const struct engine *engine, size_t point)
{
    double fastest = engine_fastest_bps(engine);
    if (fastest <= 0 || engine->points[point].n_runs > 0)
        return false;
    double bps = fmin(engine_expected_bps(engine, point), FASTER_AT_MOST * fastest);
    return price_seconds(engine, point, bps) >
           fmax(DEAR_SHARE * engine->budget_seconds, DEAR_RUNS * engine->run_seconds);
}
