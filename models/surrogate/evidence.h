/* models/surrogate/evidence: how well hyper-parameters of a kernel explain observations, and those that do it
 * best.
 *
 * Minus the log marginal likelihood (Rasmussen and Williams 2006, equations 5.8 and 5.9) minus the log prior
 * of the hyper-parameters, with its gradient in their logarithms. */
#pragma once

#include "models/surrogate/kernel.h"
#include "models/surrogate/lattice.h"
#include "models/surrogate/space.h"

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evidence {
    const struct space *space;
    bool stiff;             /* kernel */
    size_t n;               /* observations */
    const double *response; /* borrowed; centred and scaled */
    const double *noise;    /* borrowed; variance of each, in the same units */
    uint32_t *distance;     /* by pair (row > column): index of how far its points are apart */
    size_t n_distances;
    double *apart;         /* by distance and dimension, as kernel_at_apart wants it; owns all below */
    double *value, *slope; /* by distance: what kernel_at_apart gave at the last evaluation */
    double *share;         /* by distance: what its pairs weigh in the gradient */
    double *covariance;    /* n x n: its factor (models/surrogate/dense) */
    double *inverse;       /* n x n, upper triangle */
    double *scratch;       /* n x n */
    double *weights;       /* inverse covariance times response */
};

/* response and noise must outlive it; an empty lattice only makes it slower. 0, -ENOMEM. */
int evidence_init(struct evidence *evidence, const struct space *space, const struct lattice *lattice,
                  const size_t *points, size_t n, const double *response, const double *noise);
void evidence_done(struct evidence *evidence);

/* Loss at logs, lower is better; ret_gradient has kernel_n_logs entries. Beyond four prior standard
 * deviations the likelihood is held constant, so that a line search that overshoots stays finite. 0; -EDOM:
 * the covariance cannot be factorised; -ENOMEM. */
int evidence_loss(struct evidence *evidence, const double *logs, double *ret_loss, double *ret_gradient);

/* Lowest loss of several quasi-Newton descents: from logs if `warm`, from the prior mean, and from n_random
 * draws of the prior. logs receives the place. 0; -EDOM: no start gave a finite loss; -ENOMEM. */
int evidence_minimise(struct evidence *evidence, int warm, size_t n_random, gsl_rng *rng, double *logs);

/* Cholesky factor of the covariance (n x n, row-major, symmetric), in its upper triangle, with growing jitter
 * on the diagonal where rounding made it indefinite. `unit`: size of the numbers that were rounded, which a
 * difference of covariances no longer shows; the jitter is at most 1e-5 of it. 0, -EDOM, -ENOMEM. */
int evidence_factorise(double *covariance, size_t n, double unit);
