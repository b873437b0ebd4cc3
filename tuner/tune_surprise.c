/* Looks at points that nobody expects anything of. */
#include "tuner/tune.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#define DRAWS 512
/* Of all that is open about surprises, what a look must be able to settle. */
#define LEAST_SHARE 0.02

/* Probability that a surprise beats the choice where that is the larger part of what is open; else 0. */
static double feared(struct tune *tune, double response)
{
    double none = belief_no_surprise(&tune->belief, tune->chosen, response), probability = 0;
    if (!(none < 1) || belief_probability_within(&tune->belief, tune->chosen, tune->margin, DRAWS, tune->rng,
                                                 &probability) < 0)
        return 0;
    return none * none < probability ? 1 - none : 0;
}

int tune_list_surprises(struct tune *tune, size_t most, size_t *ret_points, size_t *ret_n)
{
    size_t n_points = tune->space.n_points, n = 0;
    *ret_n = 0;
    if (tune->belief.chosen == NULL || tune->chosen == TUNE_NONE)
        return 0;
    double response = tune->belief.mean[tune->chosen] + tune->margin, open = feared(tune, response), sum = 0;
    if (!(open > 0))
        return 0;
    double *worth = malloc(n_points * sizeof *worth);
    size_t *order = malloc(n_points * sizeof *order);
    int result = worth == NULL || order == NULL ? -ENOMEM : 0;
    for (size_t i = 0; result == 0 && i < n_points; i++) {
        double surprise = i == tune->chosen ? 0 : belief_surprise(&tune->belief, i, response);
        worth[i] = surprise / tune->point_seconds[i];
    }
    if (result == 0)
        gsl_sort_index(order, worth, 1, n_points);
    for (size_t k = n_points; result == 0 && k-- > 0 && n < most && worth[order[k]] > 0;) {
        sum += worth[order[k]] * tune->point_seconds[order[k]];
        ret_points[n++] = order[k];
    }
    *ret_n = sum >= LEAST_SHARE * open ? n : 0;
    free(worth);
    free(order);
    return result;
}
