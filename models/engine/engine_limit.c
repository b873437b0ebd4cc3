/* A limit on latency that no more than a hundredth of the requests may pass.
 *
 * The requests of all runs of a point count together: how many passed the limit is binomial, and Jeffreys'
 * posterior of that share (a beta distribution) says how likely the limit is kept. Requests of one run share
 * its luck; where runs differ by more than chance, all numbers are divided by Pearson's dispersion. Of a
 * point never measured Little's law gives the mean latency, and the measured points by how much a p99 lies
 * above it. */
#include "models/engine/engine_internal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#define SHARE_OVER 0.01
#define JEFFREYS   0.5
#define MISSED     0.05 /* less likely to keep the limit than this: it does not */
#define TAIL_LOG   1.0  /* p99 by mean latency before any point showed it, and how uncertain that is */
#define TAIL_STD   0.7
#define TAIL_PRIOR 2.0 /* runs that this counts as */

/* By how much runs differ beyond chance; 1: not at all. */
static double dispersion(const struct engine_point *point)
{
    double n = point->limit.n_timed, share = point->limit.n_over / n;
    if (point->n_runs < 2 || !(share > 0 && share < 1))
        return 1;
    double pearson = (point->limit.over_squares - point->limit.n_over * share) / (share * (1 - share));
    return fmax(1, pearson / (double)(point->n_runs - 1));
}

/* Probability that the share of requests over the limit is at most SHARE_OVER. */
static double kept_by_runs(const struct engine_point *point)
{
    double by = dispersion(point), n = point->limit.n_timed / by, over = point->limit.n_over / by;
    return gsl_cdf_beta_P(SHARE_OVER, over + JEFFREYS, n - over + JEFFREYS);
}

/* The same of a point of which only a rate is expected. */
static double kept_by_law(const struct engine *engine, size_t point)
{
    const struct moments *tails = &engine->tails;
    const struct belief *belief = &engine->belief;
    if (belief->chosen == NULL || !engine->is_of_rates)
        return 1;
    double n = (double)tails->n, weight = n / (n + TAIL_PRIOR);
    double tail = weight * (n > 0 ? tails->mean : 0) + (1 - weight) * TAIL_LOG;
    double std = weight * (n > 1 ? tails->std : 0) + (1 - weight) * TAIL_STD;
    double mean = log(engine->points[point].in_flight_bytes * 1e9) - belief->mean[point];
    return gsl_cdf_ugaussian_P((log(engine->limit_ns) - mean - tail) /
                               sqrt(belief->variance[point] + std * std));
}

bool engine_is_limited(const struct engine *engine)
{
    return engine->limit_ns > 0 || engine->kept != NULL;
}

/* Whether runs of the point tell of the limits. */
static bool is_judged(const struct engine *engine, size_t point)
{
    const struct engine_point *of = &engine->points[point];
    return engine->limit_ns > 0 ? of->limit.n_timed > 0 : of->n_runs > 0;
}

double engine_feasible(const struct engine *engine, size_t point)
{
    const struct engine_point *of = &engine->points[point];
    /* Of points outside the space nothing is learnt. */
    double kept = engine->kept != NULL && point < engine->space->n_points ? engine->kept[point] : 1;
    if (engine->limit_ns <= 0)
        return kept;
    return kept * (of->limit.n_timed > 0 ? kept_by_runs(of) : kept_by_law(engine, point));
}

bool engine_keeps_limit(const struct engine *engine, size_t point)
{
    return !engine_is_limited(engine) ||
           (is_judged(engine, point) && engine_feasible(engine, point) >= engine->confidence_share);
}

bool engine_misses_limit(const struct engine *engine, size_t point)
{
    return engine_is_limited(engine) && is_judged(engine, point) && engine_feasible(engine, point) < MISSED;
}

bool engine_is_hopeless(const struct engine *engine, size_t point)
{
    return engine_is_limited(engine) && engine_feasible(engine, point) < MISSED;
}

double engine_limit_open(const struct engine *engine, size_t point)
{
    const struct engine_point *of = &engine->points[point];
    if (!engine_is_limited(engine) || engine_keeps_limit(engine, point))
        return 0;
    double feasible = engine_feasible(engine, point), runs = (double)of->n_runs;
    return feasible * (1 - feasible) / (1 + runs);
}

/* Whether it will rather keep the limits on effects than not, and its runs do not show that yet. */
static bool is_unproved(const struct engine *engine, size_t point)
{
    return engine->belief.moments[point].n > 0 && !engine->belief.excluded[point] &&
           engine_can_be_chosen(engine, point) && !engine_keeps_limit(engine, point) &&
           engine_feasible(engine, point) > ENGINE_LIKELY;
}

size_t engine_list_unproved(const struct engine *engine, size_t *ret_points, size_t room)
{
    double worths[ENGINE_MAX_LISTED];
    double least = engine->best != ENGINE_NONE ? engine_worth(engine, engine->best) : -INFINITY;
    size_t n = 0;
    for (size_t i = 0; engine->kept != NULL && i < engine->space->n_points; i++) {
        if (is_unproved(engine, i) && engine_worth(engine, i) > least)
            n = engine_list_highest(ret_points, worths, n, room, i, engine_worth(engine, i));
    }
    return n;
}

void engine_limit_tell(struct engine *engine, size_t point, const struct engine_result *result)
{
    struct engine_point *of = &engine->points[point];
    if (engine->limit_ns <= 0 || !(result->n_timed > 0))
        return;
    of->limit.n_timed += result->n_timed;
    of->limit.n_over += result->n_over_limit;
    of->limit.over_squares += result->n_over_limit * result->n_over_limit / result->n_timed;
    if (result->p99_ns > 0 && result->latency_ns > 0)
        moments_add(&engine->tails, log(result->p99_ns / result->latency_ns));
}

void engine_limit_expect(struct engine *engine)
{
    for (size_t i = 0; i < engine->space->n_points && engine->feasible != NULL; i++)
        engine->feasible[i] = engine_feasible(engine, i);
    engine->belief.feasible = engine->feasible;
}
