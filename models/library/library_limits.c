/* Limits on what is measured besides: how likely each setting keeps them.
 *
 * Each effect is learnt over the space by a belief of its own. A measured setting is judged by its own
 * measurements alone, others by what the surrogate makes of these. */
#include "models/library/library_internal.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#define FALLBACK_STD 0.1  /* of an effect from measurement to measurement, before replays tell */
#define SOFTENED     0.01 /* of the bound, added to effects, which may be 0 */
#define REFIT_GROWTH 1.25 /* hyper-parameters are fitted anew after so many times as many measurements */

int library_limits_init(struct library_limits *limits, const struct fst_limit *given, size_t n,
                        const struct space *space, uint64_t seed)
{
    if (n > FST_MAX_LIMITS || (n > 0 && given == NULL))
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (!(given[i].bound > 0) || !isfinite(given[i].bound) || !library_is_name(given[i].name))
            return -EINVAL;
    }
    if (n == 0)
        return 0;
    limits->effects = calloc(n, sizeof *limits->effects);
    limits->kept = calloc(space->n_points, sizeof *limits->kept);
    limits->rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (limits->effects == NULL || limits->kept == NULL || limits->rng == NULL)
        return -ENOMEM;
    gsl_rng_set(limits->rng, (unsigned long)seed);
    for (size_t i = 0; i < space->n_points; i++)
        limits->kept[i] = 1;
    for (; limits->n < n; limits->n++) {
        struct library_effect *effect = &limits->effects[limits->n];
        effect->bound = given[limits->n].bound;
        effect->at_least = given[limits->n].at_least != 0;
        if (belief_init(&effect->belief, space, &surrogate_gp, FALLBACK_STD) < 0)
            return -ENOMEM;
    }
    return 0;
}

void library_limits_done(struct library_limits *limits)
{
    for (size_t i = 0; i < limits->n; i++)
        belief_done(&limits->effects[i].belief);
    free(limits->effects);
    free(limits->kept);
    if (limits->rng != NULL)
        gsl_rng_free(limits->rng);
    *limits = (struct library_limits){0};
}

bool library_limits_accept(const struct library_limits *limits, const double *effects)
{
    for (size_t i = 0; i < limits->n; i++) {
        if (effects == NULL || !(effects[i] >= 0) || !isfinite(effects[i]))
            return false;
    }
    return true;
}

/* 0 where the effect is the bound itself, more where the limit is kept. */
static double response_of(const struct library_effect *effect, double value)
{
    double beyond = log((value / effect->bound + SOFTENED) / (1 + SOFTENED));
    return effect->at_least ? beyond : -beyond;
}

int library_limits_tell(struct library_limits *limits, size_t setting, const double *effects)
{
    int result = 0;
    for (size_t i = 0; i < limits->n && result == 0; i++)
        result =
            belief_tell(&limits->effects[i].belief, setting, response_of(&limits->effects[i], effects[i]));
    limits->stale = limits->n > 0;
    return result;
}

static double kept_by(const struct belief *belief, size_t setting)
{
    const struct moments *own = &belief->moments[setting];
    double df, variance = belief_run_variance(belief, setting, &df);
    if (own->n > 0)
        return student_cdf(own->mean / sqrt(variance / (double)own->n), df);
    return belief->chosen == NULL
               ? 1
               : gsl_cdf_ugaussian_P(belief->mean[setting] / sqrt(belief->variance[setting]));
}

int library_limits_update(struct library_limits *limits)
{
    if (!limits->stale)
        return 0;
    size_t n_told = limits->effects[0].belief.n_told;
    bool refit = (double)n_told >= REFIT_GROWTH * (double)limits->n_refitted;
    for (size_t i = 0; i < limits->n; i++) {
        if (belief_update(&limits->effects[i].belief, refit, limits->rng) == -ENOMEM)
            return -ENOMEM;
    }
    for (size_t k = 0; k < limits->effects[0].belief.space->n_points; k++) {
        limits->kept[k] = 1;
        for (size_t i = 0; i < limits->n; i++)
            limits->kept[k] *= kept_by(&limits->effects[i].belief, k);
    }
    limits->n_refitted = refit ? n_told : limits->n_refitted;
    limits->stale = false;
    return 0;
}
