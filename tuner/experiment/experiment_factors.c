/* Names and levels of what an experiment varies. */
#include "tuner/experiment/experiment.h"

#include <stdlib.h>

const struct experiment_factor experiment_factors[EXPERIMENT_N] = {
    [FACTOR_REQUEST_SIZE] = {"request_size", EXPERIMENT_BYTES, true},
    [FACTOR_QUEUE_DEPTH] = {"queue_depth", EXPERIMENT_COUNT, true},
    [FACTOR_DIRECT] = {"direct", EXPERIMENT_COUNT, false},
    [FACTOR_API] = {"api", EXPERIMENT_NAME, false},
    [FACTOR_THREADS] = {"threads", EXPERIMENT_COUNT, true},
    [FACTOR_SYNC] = {"sync", EXPERIMENT_NAME, false},
    [FACTOR_WRITE_SIZE] = {"write_request_size", EXPERIMENT_BYTES, true},
    [FACTOR_N + CONDITION_PATTERN] = {"pattern", EXPERIMENT_NAME, false},
    [FACTOR_N + CONDITION_CACHE] = {"cache", EXPERIMENT_NAME, false},
    [FACTOR_N + CONDITION_FILE_SIZE] = {"file_size", EXPERIMENT_BYTES, true},
    [FACTOR_N + CONDITION_FILES] = {"files", EXPERIMENT_COUNT, true},
    [FACTOR_N + CONDITION_ALIGNMENT] = {"alignment", EXPERIMENT_BYTES, true},
};

static int compare_levels(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

size_t experiment_levels(const struct experiment *experiment, size_t factor,
                         uint64_t ret_levels[EXPERIMENT_MAX_LEVELS])
{
    size_t n = 0;
    for (size_t i = 0; i < experiment->n_cells; i++) {
        uint64_t level = experiment->cells[i].level[factor];
        bool is_new = !experiment->cells[i].left_out && n < EXPERIMENT_MAX_LEVELS;
        for (size_t k = 0; k < n && is_new; k++)
            is_new = ret_levels[k] != level;
        if (is_new)
            ret_levels[n++] = level;
    }
    if (n > 1)
        qsort(ret_levels, n, sizeof ret_levels[0], compare_levels);
    return n;
}

/* All factors: those that were given first, in their order. */
static void order_factors(const struct experiment *experiment, size_t ret_factors[EXPERIMENT_N])
{
    const struct settings_experiment *asked = &experiment->settings->experiment;
    bool placed[EXPERIMENT_N] = {false};
    size_t n = 0;
    for (size_t i = 0; i < asked->n_order; i++) {
        ret_factors[n++] = asked->order[i];
        placed[asked->order[i]] = true;
    }
    for (size_t factor = 0; factor < EXPERIMENT_N; factor++) {
        if (!placed[factor])
            ret_factors[n++] = factor;
    }
}

size_t experiment_varied(const struct experiment *experiment, size_t ret_factors[EXPERIMENT_N])
{
    uint64_t levels[EXPERIMENT_MAX_LEVELS];
    size_t order[EXPERIMENT_N], n = 0;
    order_factors(experiment, order);
    for (size_t i = 0; i < EXPERIMENT_N; i++) {
        if (experiment_levels(experiment, order[i], levels) > 1)
            ret_factors[n++] = order[i];
    }
    return n;
}
