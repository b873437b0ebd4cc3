/* What a search knows, and how long it goes on. */
#include "models/library/library_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

double fst_to_go(const struct fst_search *search)
{
    const struct engine *engine = &search->engine;
    double left = fmax(0, search->options.budget - search->used);
    if (search->is_over)
        return 0;
    if (engine->phase != ENGINE_CONFIRM)
        return left;
    size_t n_blocks = engine->confirm.replays > engine->confirm.replay
                          ? engine->confirm.replays - engine->confirm.replay
                          : 0;
    size_t n = n_blocks * engine->confirm.n + (engine->queue.n - engine->queue.next) + search->n_outstanding;
    return fmin(left, (double)n * engine->run_seconds);
}

static struct fst_estimate estimate_of(const struct fst_search *search, size_t setting)
{
    const struct engine *engine = &search->engine;
    const struct moments *moments = &engine->belief.moments[setting];
    enum fst_scale scale = search->options.scale;
    double df, variance = belief_run_variance(&engine->belief, setting, &df) / (double)moments->n;
    double value = library_value(scale, moments->mean);
    struct fst_estimate estimate = {
        .setting = setting,
        .value = value,
        .std_error = sqrt(variance) * (library_is_linear(scale) ? 1 : value),
        .n = engine->points[setting].n_runs,
        .n_confirming = engine->points[setting].confirming.n,
        .equivalent = engine->verdicts[setting] == VERDICT_EQUIVALENT || setting == engine->best,
        .kept = engine_feasible(engine, setting),
    };
    memcpy(estimate.values, library_values(search, setting), search->n_factors * sizeof(double));
    return estimate;
}

int fst_look(const struct fst_search *search, size_t setting, struct fst_estimate *ret_estimate)
{
    if (setting >= search->n)
        return -EINVAL;
    const struct belief *belief = &search->engine.belief;
    if (belief->moments[setting].n == 0 || belief->excluded[setting])
        return -ENODATA;
    *ret_estimate = estimate_of(search, setting);
    return 0;
}

/* What probably breaks a limit is not for a program that works with it. */
int fst_best_so_far(const struct fst_search *search, struct fst_estimate *ret_estimate)
{
    const struct belief *belief = &search->engine.belief;
    size_t best = search->n;
    double highest = -INFINITY;
    for (size_t i = 0; i < search->n; i++) {
        double mean = belief->chosen != NULL ? belief->mean[i] : belief->moments[i].mean;
        if (belief->moments[i].n == 0 || belief->excluded[i] || !(mean > highest) ||
            engine_feasible(&search->engine, i) < ENGINE_LIKELY)
            continue;
        highest = mean;
        best = i;
    }
    return best < search->n ? fst_look(search, best, ret_estimate) : -ENODATA;
}

int fst_answer(const struct fst_search *search, struct fst_answer *ret_answer)
{
    const struct engine *engine = &search->engine;
    if (!search->is_over || engine->chosen == ENGINE_NONE)
        return -ENODATA;
    double share = library_share(search->options.scale, engine->shortfall);
    *ret_answer = (struct fst_answer){.recommended = estimate_of(search, engine->chosen),
                                      .best = estimate_of(search, engine->best),
                                      .shortfall = isfinite(share) ? share : NAN,
                                      .conclusive = engine->conclusive};
    return 0;
}
