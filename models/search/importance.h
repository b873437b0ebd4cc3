/* models/search/importance: which factors, and which pairs of them, the differences of the response come
 * from.
 *
 * Everything is averaged with equal weights over the points that exist, which need not be a full product
 * (psync has depth 1 only). A factor that merely goes together with another one must not get its differences:
 *
 * - `own` of a factor: covariance of the response with the factor's part of the best additive fit (a value
 *   per level of every factor, least squares), over the variance of the response (Li et al., J. Phys. Chem. A
 *   114, 2010, equation 32: structural and correlative contribution together). These shares sum to what the
 *   additive fit explains. Factors that no point tells apart share evenly.
 * - `total`: variance left, on average, when all factors but this one are known (Homma and Saltelli 1996).
 * - of a pair: what a value per combination of the two adds to the additive fit.
 * - `unexplained`: what is left by the additive fit and all pairs together.
 *
 * On a full product these are Sobol's shares: own = first order, pair = second order, and all of them with
 * `unexplained` sum to 1. On other spaces the pairs may overlap, so that their sum can exceed what all of
 * them together explain. */
#pragma once

#include "models/search/belief.h"
#include "models/surrogate/space.h"

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>

/* Points in a joint draw at most; of larger spaces every other level of the ordered factors is left out. */
#define IMPORTANCE_MAX_POINTS 256

/* Mean over the draws, and the quantiles that leave (1 - confidence) / 2 on each side. Shares of the
 * variance: 0..1. */
struct importance_share {
    double mean, low, high;
};

struct importance {
    size_t n_points; /* that the shares are about */
    size_t n_dims;
    bool varies[SPACE_MAX_DIMS]; /* more than one level among those points; the others have no shares */
    struct importance_share own[SPACE_MAX_DIMS], total[SPACE_MAX_DIMS];
    struct importance_share pair[SPACE_MAX_DIMS][SPACE_MAX_DIMS]; /* first index below the second */
    struct importance_share unexplained;
    /* Standard deviation of the response over the points. */
    struct importance_share spread;
    /* Variance of the posterior mean over the points / average variance of the draws: 1 when the response is
     * known, near 0 when the differences are mere ignorance. */
    double known_share;
};

/* Shares of n_draws responses over n listed points, one row of n values per draw. `n` up to
 * IMPORTANCE_MAX_POINTS; known_share is left at 1. A draw that is constant has all shares 0. 0; -EINVAL:
 * fewer than 2 points or too many, no draw; -ENOMEM, -EDOM. */
int importance_decompose(const struct space *space, const size_t *points, size_t n, const double *draws,
                         size_t n_draws, double confidence, struct importance *ret_importance);

/* The same by joint posterior draws over the points that are not excluded. 0; -ENODATA while there is no
 * surrogate, or fewer than 2 points; -ENOMEM, -EDOM. */
int importance_of(const struct belief *belief, size_t n_draws, double confidence, gsl_rng *rng,
                  struct importance *ret_importance);

/* What setting one factor to another level does, near one point. */
struct importance_change {
    size_t point;              /* where that leads; equal to `from` for its own level */
    bool also[SPACE_MAX_DIMS]; /* factors that had to change with it, because the point does not exist */
    double difference,
        deviation; /* posterior mean and standard deviation of response(point) - response(from) */
};

/* One change per level of dimension `dim` among the points that are not excluded, in ascending order of the
 * level. Where `from` with that level does not exist, the point that changes the fewest other factors, among
 * those the one with the highest posterior mean. ret_changes has room for space.n_levels[dim]. 0; -ENODATA
 * while there is no surrogate; -ENOMEM. */
int importance_changes(const struct belief *belief, size_t from, size_t dim,
                       struct importance_change *ret_changes, size_t *ret_n);
