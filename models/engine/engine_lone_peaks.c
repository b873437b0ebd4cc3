/* Isolated fast points may be much faster than their neighbours, from which the surrogate predicts. Late in
 * the search some runs go to points that were hardly measured. */
#include "models/engine/engine_internal.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#define DRAWS 512
/* The least share of the probability of such points that the listed ones must hold. */
#define LEAST_SHARE 0.02

/* The points with the highest probability of beating `response` by the second that a run takes. ret_sum: the
 * sum of their probabilities. 0 or -ENOMEM. */
static int list_likely(const struct engine *engine, double response, size_t most, size_t *ret_points,
                       size_t *ret_n, double *ret_sum)
{
    size_t n_points = engine->space->n_points, n = 0;
    double *worth = calloc(n_points, sizeof *worth), sum = 0;
    size_t *order = malloc(n_points * sizeof *order);
    int result = worth == NULL || order == NULL ? -ENOMEM : 0;
    for (size_t i = 0; result == 0 && i < n_points; i++) {
        double lone_peaks = i == engine->chosen ? 0 : belief_lone_peaks(&engine->belief, i, response);
        worth[i] = lone_peaks / engine->seconds[i];
    }
    if (result == 0)
        gsl_sort_index(order, worth, 1, n_points);
    for (size_t k = n_points; result == 0 && k-- > 0 && n < most && worth[order[k]] > 0;) {
        sum += worth[order[k]] * engine->seconds[order[k]];
        ret_points[n++] = order[k];
    }
    *ret_n = n;
    *ret_sum = sum;
    free(worth);
    free(order);
    return result;
}

/* Whether an isolated fast point is a larger risk for the choice than the points that the surrogate knows
 * about. none: the probability that no such point exists. 0 or -ENOMEM. */
static int weigh_fear(struct engine *engine, double none, bool *ret_feared)
{
    double probability = 0;
    int result = belief_probability_within(&engine->belief, engine->chosen, engine->margin, DRAWS,
                                           engine->rng, &probability);
    *ret_feared = result == 0 && none * none < probability;
    return result == -ENOMEM ? result : 0;
}

int engine_list_lone_peaks(struct engine *engine, size_t most, size_t *ret_points, size_t *ret_n)
{
    size_t n = 0;
    double sum = 0;
    *ret_n = 0;
    if (engine->belief.chosen == NULL || engine->chosen == ENGINE_NONE)
        return 0;
    double response = engine->belief.mean[engine->chosen] + engine->margin;
    int result = list_likely(engine, response, most, ret_points, &n, &sum);
    if (result < 0 || n == 0)
        return result;
    double none = belief_no_lone_peaks(&engine->belief, engine->chosen, response);
    bool feared = false;
    if (sum >= LEAST_SHARE * (1 - none))
        result = weigh_fear(engine, none, &feared);
    *ret_n = feared ? n : 0;
    return result;
}
