/* models/surrogate/joint: a normal distribution of several responses, to be drawn from. */
#pragma once

#include <gsl/gsl_rng.h>
#include <stddef.h>

struct joint {
    size_t n;
    double *mean;
    double *factor; /* upper triangular, n x n, 0 below: scale^2 times its transpose times itself is the
                       covariance */
    double scale;
};

/* Room for n responses. 0; -ENOMEM: there is nothing to free. joint_done accepts a zeroed one. */
int joint_init(struct joint *joint, size_t n);
void joint_done(struct joint *joint);

/* Draws, row-major n_draws x n. 0, -ENOMEM. */
int joint_draw(const struct joint *joint, size_t n_draws, gsl_rng *rng, double *ret_draws);
