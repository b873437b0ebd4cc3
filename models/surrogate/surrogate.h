/* models/surrogate/surrogate: a cheap model of the response (log throughput, or minus log latency; higher is
 * better) over the space.
 *
 * Data are one row per measured point: the mean of its replays and the variance of that mean. Each model is
 * a row, which the belief names; its state is allocated by the caller with the size that the row names,
 * zeroed. */
#pragma once

#include "models/surrogate/joint.h"
#include "models/surrogate/space.h"

#include <gsl/gsl_rng.h>
#include <stddef.h>

/* A response this many of its standard deviations above its mean is less likely than 1e-6. */
#define SURROGATE_HOPELESS_STDS 5.0

struct observation {
    size_t point;
    double mean;          /* of the response */
    double mean_variance; /* of that mean: run variance / replays, > 0 */
};

struct surrogate_ops {
    const char *name;
    size_t state_size;

    /* Fits to n observations of distinct points. `refit` asks for new hyper-parameters; without it only the
     * data are exchanged (it is done all the same on the first call). 0; -ENODATA: too few observations for
     * this model; -EDOM: not solvable numerically. */
    int (*fit)(void *state, const struct space *space, const struct observation *data, size_t n, int refit,
               gsl_rng *rng);

    /* Posterior mean and variance of the response itself (no run noise) at each listed point. Variances may
     * be too large, never too small, where mean + SURROGATE_HOPELESS_STDS standard deviations stay below
     * `floor` with the one written as with the true one; -INFINITY: all are exact. After a successful fit
     * only. 0, -ENOMEM. */
    int (*predict)(const void *state, const size_t *points, size_t n, double floor, double *ret_mean,
                   double *ret_variance);

    /* Posterior covariance of the response at `point` with the response at each listed point. 0, -ENOMEM. */
    int (*covariance)(const void *state, size_t point, const size_t *points, size_t n,
                      double *ret_covariance);

    /* The joint posterior of the responses at the listed points, into a joint that has room for them. 0,
     * -ENOMEM, -EDOM. */
    int (*joint)(const void *state, const size_t *points, size_t n, struct joint *joint);

    /* Leave-one-out predictive log density, averaged over observations (higher is better), and root mean
     * square residual, both with the hyper-parameters of the last refit. 0, -ENOMEM, -EDOM. */
    int (*leave_one_out)(const void *state, double *ret_log_density, double *ret_rmse);

    void (*done)(void *state); /* accepts a zeroed state */
};

/* quadratic: a Gaussian process so stiff that little but a quadratic surface is left of it
 * (kernel_from_logs). */
extern const struct surrogate_ops surrogate_gp, surrogate_quadratic;
