/* Isolated fast points may be much faster than their neighbours, from which the surrogate predicts. Late in
 * the search some runs go to points that were hardly measured. */
#include "tuner/search/tune.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#define DRAWS 512
/* The least share of the probability of such points that the listed ones must hold. */
#define LEAST_SHARE 0.02

/* The points with the highest probability of beating `response` by the second that a run takes. ret_sum: the
 * sum of their probabilities. 0 or -ENOMEM. */
static int list_likely(const struct tune *tune, double response, size_t most, size_t *ret_points,
                       size_t *ret_n, double *ret_sum)
{
    size_t n_points = tune->space.n_points, n = 0;
    double *worth = calloc(n_points, sizeof *worth), sum = 0;
    size_t *order = malloc(n_points * sizeof *order);
    int result = worth == NULL || order == NULL ? -ENOMEM : 0;
    for (size_t i = 0; result == 0 && i < n_points; i++) {
        double lone_peaks = i == tune->chosen ? 0 : belief_lone_peaks(&tune->belief, i, response);
        worth[i] = lone_peaks / tune->cost.point_seconds[i];
    }
    if (result == 0)
        gsl_sort_index(order, worth, 1, n_points);
    for (size_t k = n_points; result == 0 && k-- > 0 && n < most && worth[order[k]] > 0;) {
        sum += worth[order[k]] * tune->cost.point_seconds[order[k]];
        ret_points[n++] = order[k];
    }
    *ret_n = n;
    *ret_sum = sum;
    free(worth);
    free(order);
    return result;
}

/* Whether an isolated fast point is a larger risk for the choice than the points that the surrogate knows
 * about. none: the probability that no such point exists. */
static bool is_feared(struct tune *tune, double none)
{
    double probability = 0;
    return belief_probability_within(&tune->belief, tune->chosen, tune->margin, DRAWS, tune->rng,
                                     &probability) == 0 &&
           none * none < probability;
}

int tune_list_lone_peaks(struct tune *tune, size_t most, size_t *ret_points, size_t *ret_n)
{
    size_t n = 0;
    double sum = 0;
    *ret_n = 0;
    if (tune->belief.chosen == NULL || tune->chosen == TUNE_NONE)
        return 0;
    double response = tune->belief.mean[tune->chosen] + tune->margin;
    int result = list_likely(tune, response, most, ret_points, &n, &sum);
    if (result < 0 || n == 0)
        return result;
    double none = belief_no_lone_peaks(&tune->belief, tune->chosen, response);
    if (sum >= LEAST_SHARE * (1 - none) && is_feared(tune, none))
        *ret_n = n;
    return 0;
}
