/* models/engine/effects: how likely each point keeps the limits on what is measured besides. */
#include "models/engine/effects.h"

#include "models/statistics/student.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#define FALLBACK_STD 0.1  /* of an effect from measurement to measurement, before replays tell */
#define OWN_LEAST    3    /* measurements that judge a point by themselves */
#define REFIT_GROWTH 1.25 /* hyper-parameters are fitted anew after so many times as many measurements */

int effects_init(struct effects *effects, size_t n, const struct space *space, uint64_t seed)
{
    effects->beliefs = calloc(n, sizeof *effects->beliefs);
    effects->kept = calloc(space->n_points, sizeof *effects->kept);
    effects->rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (effects->beliefs == NULL || effects->kept == NULL || effects->rng == NULL)
        return -ENOMEM;
    gsl_rng_set(effects->rng, (unsigned long)seed);
    for (size_t i = 0; i < space->n_points; i++)
        effects->kept[i] = 1;
    for (; effects->n < n; effects->n++) {
        if (belief_init(&effects->beliefs[effects->n], space, &surrogate_gp, FALLBACK_STD) < 0)
            return -ENOMEM;
    }
    return 0;
}

void effects_done(struct effects *effects)
{
    for (size_t i = 0; i < effects->n; i++)
        belief_done(&effects->beliefs[i]);
    free(effects->beliefs);
    free(effects->kept);
    if (effects->rng != NULL)
        gsl_rng_free(effects->rng);
    *effects = (struct effects){0};
}

static double kept_by(const struct belief *belief, size_t point)
{
    const struct moments *own = &belief->moments[point];
    double df, variance = belief_run_variance(belief, point, &df);
    if (own->n >= OWN_LEAST || (own->n > 0 && belief->chosen == NULL))
        return student_cdf(own->mean / sqrt(variance / (double)own->n), df);
    return belief->chosen == NULL ? 1
                                  : gsl_cdf_ugaussian_P(belief->mean[point] / sqrt(belief->variance[point]));
}

static double all_kept_by(const struct effects *effects, size_t point)
{
    double kept = 1;
    for (size_t i = 0; i < effects->n; i++)
        kept *= kept_by(&effects->beliefs[i], point);
    return kept;
}

int effects_tell(struct effects *effects, size_t point, const double *within)
{
    int result = 0;
    for (size_t i = 0; i < effects->n && result == 0; i++)
        result = belief_tell(&effects->beliefs[i], point, within[i]);
    effects->stale = effects->n > 0;
    if (effects->stale && result == 0)
        effects->kept[point] = all_kept_by(effects, point);
    return result;
}

int effects_update(struct effects *effects)
{
    if (!effects->stale)
        return 0;
    size_t n_told = effects->beliefs[0].n_told;
    bool refit = (double)n_told >= REFIT_GROWTH * (double)effects->n_refitted;
    for (size_t i = 0; i < effects->n; i++) {
        if (belief_update(&effects->beliefs[i], refit, effects->rng) == -ENOMEM)
            return -ENOMEM;
    }
    for (size_t k = 0; k < effects->beliefs[0].space->n_points; k++)
        effects->kept[k] = all_kept_by(effects, k);
    effects->n_refitted = refit ? n_told : effects->n_refitted;
    effects->stale = false;
    return 0;
}
