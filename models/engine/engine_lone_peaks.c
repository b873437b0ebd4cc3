/* Isolated fast points may be much faster than their neighbours, from which the surrogate predicts. Late in
 * the search some runs go to points that were hardly measured. */
#include "models/engine/engine_internal.h"

/* The least share of the probability of such points that the listed ones must hold. */
#define LEAST_SHARE 0.02

/* The points with the highest probability of beating `response` by the second that a run takes. ret_sum: the
 * sum of their probabilities. */
static size_t list_likely(const struct engine *engine, double response, size_t most, size_t *ret_points,
                          double *ret_sum)
{
    double worth[ENGINE_MAX_LISTED];
    size_t n = 0;
    for (size_t i = 0; i < engine->space->n_points; i++) {
        double lone_peaks = i == engine->chosen ? 0 : belief_lone_peaks(&engine->belief, i, response);
        if (lone_peaks > 0)
            n = engine_list_highest(ret_points, worth, n, most, i, lone_peaks / engine->seconds[i]);
    }
    *ret_sum = 0;
    for (size_t k = 0; k < n; k++)
        *ret_sum += worth[k] * engine->seconds[ret_points[k]];
    return n;
}

size_t engine_list_lone_peaks(const struct engine *engine, double risk, size_t most, size_t *ret_points)
{
    double sum;
    if (engine->belief.chosen == NULL || engine->chosen == ENGINE_NONE)
        return 0;
    double response = engine->belief.mean[engine->chosen] + engine->margin;
    if (response >= engine->belief.ceiling)
        return 0;
    size_t n = list_likely(engine, response, most, ret_points, &sum);
    if (n == 0)
        return 0;
    double any = 1 - belief_no_lone_peaks(&engine->belief, engine->chosen, response);
    return any > 0 && any >= risk && sum >= LEAST_SHARE * any ? n : 0;
}
