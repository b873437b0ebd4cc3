/* models/belief: everything known about the response over a space: the replays told so far, how noisy they
 * are, and a surrogate fitted to them.
 *
 * The response is "higher is better" and additive in its errors: log throughput, or minus log latency. */
#ifndef FSTUNE_MODELS_BELIEF_H
#define FSTUNE_MODELS_BELIEF_H

#include "models/belief_prior.h"
#include "models/noise.h"
#include "models/space.h"
#include "models/student.h"
#include "models/surrogate.h"

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>

enum belief_model { BELIEF_AUTO, BELIEF_GP, BELIEF_QUADRATIC };

struct belief {
    const struct space *space;
    enum belief_model model;
    double fallback_std;     /* assumed run-to-run std before there are replays */
    struct moments *moments; /* by point; n = 0: not measured */
    bool *excluded; /* by point: its runs failed or it is not trusted; never asked for or chosen again */
    size_t n_measured, n_told;
    struct noise_prior noise;
    struct belief_prior prior;          /* figures from elsewhere; empty unless belief_prior_add was called */
    const struct surrogate_ops *chosen; /* fitted; NULL before the first successful belief_update */
    void *gp, *quadratic;               /* states; NULL where the model is not used */
    double gp_score, quadratic_score; /* leave-one-out log density of the last refit; NaN where not fitted */
    const double *run_seconds; /* borrowed, by point: what a run is expected to cost; NULL: all alike */
    /* Posterior of the response by point, valid while chosen != NULL. The variance is an upper bound where a
     * point is hopeless with it and without (see predict of models/surrogate). */
    double *mean, *variance;
};

int belief_init(struct belief *belief, const struct space *space, enum belief_model model,
                double fallback_std);
void belief_done(struct belief *belief);

/* One more replay of a point. */
void belief_tell(struct belief *belief, size_t point, double response);
void belief_exclude(struct belief *belief, size_t point);

/* Fits noise and surrogate to what was told and refreshes mean and variance. AUTO takes the model with the
 * better leave-one-out log density at every refit. 0; -ENODATA while there is too little (chosen stays NULL);
 * -EDOM, -ENOMEM: what was known before stays. Data of excluded points are not used. */
int belief_update(struct belief *belief, bool refit, gsl_rng *rng);

/* Posterior covariance of the response at `point` with that at each listed point, by the chosen surrogate:
 * after a successful belief_update only. 0, -ENOMEM. */
int belief_covariance(const struct belief *belief, size_t point, const size_t *points, size_t n,
                      double *ret_covariance);

/* n_draws joint posterior samples of the response at the listed points, row-major n_draws x n: after a
 * successful belief_update only. n up to 2048. 0, -ENOMEM, -EDOM. */
int belief_sample(const struct belief *belief, const size_t *points, size_t n, size_t n_draws, gsl_rng *rng,
                  double *ret_draws);

/* Variance of one run of this point (shrunk), and its degrees of freedom. */
double belief_run_variance(const struct belief *belief, size_t point, double *ret_df);

/* Measured, not excluded point with the highest posterior mean (highest sample mean while there is no
 * surrogate) among those with at least min_replays; n_points when there is none. */
size_t belief_best(const struct belief *belief, size_t min_replays);

/* Probability that no point of the space that is not excluded exceeds `point` by more than `margin` in
 * response, by joint posterior draws (the most promising 1024 points at most). *ret_probability is 0 while
 * there is no surrogate. 0, -ENOMEM, -EDOM. n_draws > 0. */
int belief_probability_within(const struct belief *belief, size_t point, double margin, size_t n_draws,
                              gsl_rng *rng, double *ret_probability);

#endif
