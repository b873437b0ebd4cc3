/* Which points a night must go on measuring, because they may still be better than the baseline. The bound of
 * a measured point comes from its own runs, because the surrogate may be sure too early or misled. */
#include "tuner/search/tune.h"

#include <math.h>
#include <stdlib.h>

#define CAUTIOUS_SD 2.5
/* In log response: by how much a surrogate may underrate an isolated fast point. */
#define UNSEEN_PEAK 0.3

/* Mean response of the baseline, which may lie outside the space; NaN before its first run, or where its runs
 * do not support the objective. */
static double baseline_response(const struct tune *tune)
{
    const struct record *record = &tune->records[tune->baseline];
    double sum = 0;
    if (tune->baseline < tune->space.n_points && tune->belief.moments[tune->baseline].n > 0)
        return tune->belief.moments[tune->baseline].mean;
    for (size_t i = 0; i < record->n; i++)
        sum += tune_response(tune, &record->samples[i]);
    return sum / (double)record->n;
}

bool tune_not_ruled_out_known(const struct tune *tune)
{
    return isfinite(baseline_response(tune));
}

/* Upper bound of a point's response. */
static double upper_bound(const struct tune *tune, size_t point)
{
    const struct belief *belief = &tune->belief;
    const struct moments *own = &belief->moments[point];
    double df;
    if (own->n > 0)
        return own->mean + CAUTIOUS_SD * sqrt(belief_run_variance(belief, point, &df) / (double)own->n);
    if (belief->chosen == NULL)
        return INFINITY;
    return belief->mean[point] + CAUTIOUS_SD * sqrt(belief->variance[point]) + UNSEEN_PEAK;
}

static bool is_open(const struct tune *tune, size_t point, double level)
{
    return point != tune->baseline && !tune->belief.excluded[point] && !tune_misses_p99(tune, point) &&
           upper_bound(tune, point) > level + tune->margin;
}

bool tune_chance(const struct tune *tune, size_t point)
{
    return is_open(tune, point, baseline_response(tune));
}

bool tune_not_ruled_out_against(const struct tune *tune, size_t point, size_t other)
{
    return upper_bound(tune, point) > tune_worth(tune, other);
}

size_t tune_list_highest(size_t *points, double *bounds, size_t n, size_t room, size_t point, double bound)
{
    if (n == room && bound <= bounds[n - 1])
        return n;
    size_t place = n < room ? n++ : n - 1;
    for (; place > 0 && bounds[place - 1] < bound; place--) {
        bounds[place] = bounds[place - 1];
        points[place] = points[place - 1];
    }
    bounds[place] = bound;
    points[place] = point;
    return n;
}

size_t tune_not_ruled_out_list(const struct tune *tune, size_t *ret_points, size_t room)
{
    double bounds[TUNE_MAX_NOT_RULED_OUT], level = baseline_response(tune);
    size_t n = 0;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (is_open(tune, i, level))
            n = tune_list_highest(ret_points, bounds, n, room, i, upper_bound(tune, i));
    }
    return n;
}
