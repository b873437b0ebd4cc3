/* Learns what a run of each point is expected to cost. The search weighs what a run teaches by its seconds: a
 * run of 64 large requests on a slow point takes many times as long as others. */
#include "tuner/search/tune.h"

#include <math.h>

/* Weight of the newest run in the running means. */
#define COST_WEIGHT 0.1

void tune_learn_cost(struct tune *tune, size_t point, double seconds, const struct measure_result *measured)
{
    double waited = fmin(measured->warmup_seconds, tune_transient_seconds(tune, point, false));
    double around = fmax(0, seconds - measured->seconds - waited);
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

void tune_expect_costs(struct tune *tune)
{
    for (size_t i = 0; i < tune->space.n_points; i++) {
        double least_bytes =
            measure_request_bytes(&tune->settings->workload.pattern, &tune->records[i].point) *
            MEASURE_MIN_REQUESTS;
        double span = fmax((double)tune->duration_ns / 1e9, least_bytes / tune_expected_bps(tune, i));
        tune->cost.point_seconds[i] =
            tune->cost.around_seconds + span + tune_transient_seconds(tune, i, false);
    }
    tune->belief.run_seconds = tune->cost.point_seconds;
}
