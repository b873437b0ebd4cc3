/* models/search/belief: everything known about the response over a space: the replays told so far, how noisy
 * they are, and a surrogate fitted to them.
 *
 * The response is "higher is better" and additive in its errors: log throughput, or minus log latency. */
#pragma once

#include "models/search/belief_prior.h"
#include "models/statistics/noise.h"
#include "models/statistics/robust.h"
#include "models/statistics/student.h"
#include "models/statistics/wander.h"
#include "models/surrogate/space.h"
#include "models/surrogate/surrogate.h"

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>

/* A run as it was told. */
struct belief_run {
    size_t point;
    double seconds, response;
    double common; /* what all points have in common at that time, as far as it is known */
};

struct belief_runs {
    struct belief_run *all; /* ascending in time */
    size_t n, room;
};

/* All replays of a point without what is common at their times, ascending. */
struct belief_replays {
    double *values;
    size_t n, room;
};

struct belief {
    const struct space *space;
    const struct surrogate_ops *surrogate;
    double fallback_std;     /* assumed run-to-run std before there are replays */
    struct moments *moments; /* by point; n: all replays, 0: not measured; mean: robust location, by the noise
                                known at the last belief_update; std: of ordinary runs, within their level */
    struct belief_runs runs;
    struct wander wander;           /* what all points have in common */
    double common_variance;         /* of it, what is left at the time of a run */
    double now_seconds;             /* set by the owner: when what is told was run; 0: unknown */
    struct belief_replays *replays; /* by point */
    struct robust_point *robust;    /* by point: where moments come from */
    double *single_weight; /* by point of one replay: probability that it is ordinary, by the other points;
                              1 for all others */
    bool *excluded; /* by point: its runs failed or it is not trusted; never asked for or chosen again */
    size_t n_measured, n_told;
    struct noise_prior noise;     /* of ordinary runs */
    double low_share, high_share; /* of runs that are outliers below, above */
    struct belief_prior prior;    /* figures from elsewhere; empty unless belief_prior_add was called */
    double ceiling; /* response that no point passes, set by the owner; INFINITY: none is known. Draws are
                       lowered to it; mean and variance are not */
    bool ignores_lone_peaks;            /* set by the owner: it has no use for isolated fast points */
    double lone_peaks_share;            /* of all points: those better than the others say */
    double lone_peaks_std;              /* half normal: log of by how much */
    const struct surrogate_ops *chosen; /* fitted; NULL before the first successful belief_update */
    void *state;                        /* of the surrogate */
    double score;              /* leave-one-out log density of the last refit; NaN before the first */
    const double *run_seconds; /* borrowed, by point: what a run is expected to cost; NULL: all alike */
    const double *feasible; /* borrowed, by point: probability that it keeps a limit; NULL: there is none */
    /* Posterior of the response by point, valid while chosen != NULL. The variance is an upper bound where a
     * point is hopeless with it and without (see predict of models/surrogate/surrogate). */
    double *mean, *variance;
};

int belief_init(struct belief *belief, const struct space *space, const struct surrogate_ops *surrogate,
                double fallback_std);
void belief_done(struct belief *belief);

/* One more replay of a point, run at now_seconds; the memory used grows with the replays. 0; -ENOMEM: it is
 * not known then. */
int belief_tell(struct belief *belief, size_t point, double response);
void belief_exclude(struct belief *belief, size_t point);

/* As if nothing had been told of the point. */
void belief_forget(struct belief *belief, size_t point);

/* The last n runs of a point, n at most all of them, without what is common at their times. */
struct moments belief_latest(const struct belief *belief, size_t point, size_t n);

/* Fits noise and surrogate to what was told and refreshes mean and variance. 0; -ENODATA while there is too
 * little (chosen stays NULL); -EDOM, -ENOMEM: what was known before stays. Data of excluded points are not
 * used. */
int belief_update(struct belief *belief, bool refit, gsl_rng *rng);

/* Posterior covariance of the response at `point` with that at each listed point, by the chosen surrogate:
 * after a successful belief_update only. 0, -ENOMEM. */
int belief_covariance(const struct belief *belief, size_t point, const size_t *points, size_t n,
                      double *ret_covariance);

/* n_draws joint posterior samples of the response at the listed points, row-major n_draws x n: after a
 * successful belief_update only. n up to 2048. 0, -ENOMEM, -EDOM. */
int belief_sample(const struct belief *belief, const size_t *points, size_t n, size_t n_draws, gsl_rng *rng,
                  double *ret_draws);

/* Variance of one run of this point (shrunk), and its degrees of freedom: divided by the replays, the
 * variance of moments.mean. It contains what is not known about which runs are outliers. */
double belief_run_variance(const struct belief *belief, size_t point, double *ret_df);

/* The point measured once, more than three standard deviations below what the other points say, that they
 * call most promising, of those that could be the best: probably an outlier run, to be measured again before
 * the point is written off. n_points: there is none, or no surrogate. */
size_t belief_suspect(const struct belief *belief);

/* The response that no point passes, where the runs of all points say with the confidence that there is one;
 * else INFINITY. */
double belief_likely_ceiling(const struct belief *belief, double confidence);

/* Over all measured points that are not excluded: runs that were most likely outliers, by the other replays
 * of their points (robust[].n_outliers), and points that most likely have two levels. 0 of a zeroed belief.
 */
size_t belief_outlier_runs(const struct belief *belief);
size_t belief_two_level_points(const struct belief *belief);

/* Measured, not excluded point with the highest posterior mean (highest sample mean while there is no
 * surrogate) among those with at least min_replays, and, where there are such, among those that are more
 * likely feasible than not; n_points when there is none. */
size_t belief_best(const struct belief *belief, size_t min_replays);

/* Probability that this point reaches `response` as an isolated fast point, beyond what the surrogate grants
 * it: for a point never measured, or so little that its runs could be luck or outliers. And that no point but
 * `but` does. After a successful belief_update only. */
double belief_lone_peaks(const struct belief *belief, size_t point, double response);
double belief_no_lone_peaks(const struct belief *belief, size_t but, double response);

/* Whether it is at least as probable as `enough` (0..1) that no point of the space that is not excluded
 * exceeds `point`, which was measured, by more than `margin` in response. After a fit the chances of all
 * others are added up (Bonferroni's inequality), those of isolated fast points too, as far as known and
 * learnt ceilings leave them any; points five standard deviations away have none. Where many others go
 * together the answer no so comes more often than by belief_claim. While there is no surrogate, of the points
 * by themselves; the probability is 0 where one was never measured. 0, -ENOMEM. */
int belief_is_within(const struct belief *belief, size_t point, double margin, double enough,
                     bool *ret_within);

/* A point's response and how uncertain that is. */
struct belief_level {
    double mean, variance;
};

/* What the runs of the other points say of a point, after a fit: its posterior with its own observation taken
 * out again (a quotient of normal densities). False where nothing is left. */
bool belief_leave_out(const struct belief *belief, size_t point, double *ret_mean, double *ret_variance);

/* What can be said of a point against the whole space: the probability that belief_is_within asks about, at
 * `margin`, and the shortfall, the smallest margin at which it reaches `confidence` (INFINITY: none does).
 * Both by the same draws, so that shortfall <= margin says the same as probability_within >= confidence.
 * other: the point's level where something else than all its runs tells of it; NULL: they do. 0, -ENOMEM,
 * -EDOM. */
struct belief_claim {
    double probability_within, shortfall;
};
int belief_claim(const struct belief *belief, size_t point, const struct belief_level *other, double margin,
                 double confidence, size_t n_draws, gsl_rng *rng, struct belief_claim *ret_claim);
