/* Once the evidence settles a choice, what is left of the time goes to the question whether something cheaper
 * would do. */
#include "tuner/search/tune.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

double tune_expected_shortfall(double mean, double variance)
{
    double std = sqrt(variance);
    if (!(std > 0))
        return fmax(mean, 0);
    return std * gsl_ran_ugaussian_pdf(mean / std) + mean * gsl_cdf_ugaussian_P(mean / std);
}

/* Whether no more than the tolerance is expected to be lost with a point that too few runs tell of. */
static bool may_do(const struct tune *tune, size_t point)
{
    const struct belief *belief = &tune->belief;
    size_t best = tune->best;
    return !belief->excluded[point] && belief->moments[point].n < TUNE_CONFIRMING_LEAST &&
           tune->records[point].failed == 0 && !tune_misses_p99(tune, point) &&
           tune_distrust(tune, point) == 0 &&
           tune_expected_shortfall(belief->mean[best] - belief->mean[point],
                                   belief->variance[best] + belief->variance[point]) <= tune->margin;
}

size_t tune_list_cheaper(const struct tune *tune, size_t *ret_points, size_t room)
{
    double bounds[TUNE_MAX_NOT_RULED_OUT];
    double most = (double)factors_bytes_in_flight(&tune->records[tune->chosen].point);
    size_t n = 0;
    if (tune->belief.chosen == NULL || tune->settings->search.prefers == PREFERS_FASTEST)
        return 0;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        double in_flight = (double)factors_bytes_in_flight(&tune->records[i].point);
        if (in_flight < most && may_do(tune, i))
            n = tune_list_highest(ret_points, bounds, n, room, i, -in_flight);
    }
    return n;
}
