/* What a run of each point is expected to cost. The search weighs what a run teaches by its seconds: a run of
 * 64 large requests on a slow point takes many times as long as others. */
#include "tuner/search/tune.h"

#include <math.h>

/* Weight of the newest run in the running means. */
#define COST_WEIGHT 0.1
/* A point is expected to be faster than the fastest so far by this factor at most. */
#define FASTER_AT_MOST 4
/* A first design leaves out what would take more than this share of the budget. */
#define DEAR_SHARE 0.05

/* Seconds that a full queue takes to turn over: it does so once before a run counts and once more at its end,
 * when it drains. */
static double turnover_seconds(const struct point *point, double bps)
{
    return (double)factors_bytes_in_flight(point) / bps;
}

void tune_learn_cost(struct tune *tune, size_t point, double seconds, const struct measure_result *measured)
{
    double turnover = turnover_seconds(&tune->records[point].point, measured->throughput_bps);
    double warmup =
        fmin(measured->warmup_seconds, fmax(tune_transient_seconds(tune, point, false), turnover));
    double around = fmax(0, seconds - measured->seconds - warmup - turnover);
    tune->cost.run_seconds += COST_WEIGHT * (seconds - tune->cost.run_seconds);
    tune->cost.around_seconds += COST_WEIGHT * (around - tune->cost.around_seconds);
}

double tune_expected_bps(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    if (record->n > 0)
        return record->samples[record->n - 1].throughput_bps;
    if (tune->belief.chosen != NULL && tune_is_of_throughput(tune))
        return exp(tune->belief.mean[point]);
    return INFINITY;
}

double tune_fastest_bps(const struct tune *tune)
{
    double fastest = 0;
    for (size_t i = 0; i < tune->n_records; i++) {
        const struct record *record = &tune->records[i];
        fastest = record->n > 0 ? fmax(fastest, record->samples[record->n - 1].throughput_bps) : fastest;
    }
    return fastest;
}

static double price_seconds(const struct tune *tune, size_t point, double bps)
{
    const struct point *setting = &tune->records[point].point;
    double requests_bytes =
        measure_request_bytes(&tune->settings->workload.pattern, setting) * MEASURE_MIN_REQUESTS;
    double turnover = turnover_seconds(setting, bps);
    double counts = fmax(fmax((double)tune->duration_ns / 1e9, turnover), requests_bytes / bps);
    return tune->cost.around_seconds + fmax(tune_transient_seconds(tune, point, false), turnover) + counts +
           turnover;
}

void tune_expect_costs(struct tune *tune)
{
    for (size_t i = 0; i < tune->space.n_points; i++)
        tune->cost.point_seconds[i] = price_seconds(tune, i, tune_expected_bps(tune, i));
    tune->belief.run_seconds = tune->cost.point_seconds;
}

bool tune_is_dear(const struct tune *tune, size_t point)
{
    double fastest = tune_fastest_bps(tune);
    if (fastest <= 0 || tune->records[point].n > 0)
        return false;
    double bps = fmin(tune_expected_bps(tune, point), FASTER_AT_MOST * fastest);
    return price_seconds(tune, point, bps) * 1e9 > DEAR_SHARE * (double)tune->settings->limits.budget_ns;
}
