/* models/statistics/noise: how much a point scatters from run to run, where each point has few replays.
 *
 * Variances of log throughput are pooled by empirical Bayes: those of the points scatter as d0*s0^2 over a
 * chi^2 number of d0 degrees of freedom, so a sample variance is s0^2 times an F number of n - 1 and d0
 * (Smyth 2004, "Linear models and empirical Bayes methods"). s0^2 and d0 are most likely ones, d0 with a
 * lognormal prior around 8; Smyth's moments of log s^2 are not used, because pairs of runs that agree by
 * chance send them far off. The posterior variance of a point with n replays is (d0*s0^2 + (n-1)*s^2)/(d0 + n
 * - 1), on d0 + n - 1 degrees of freedom. With fewer than 3 points of n >= 2 the plain pooled variance is
 * used; its df is 1, because nothing shows yet that points scatter alike and their own replays must not count
 * twice. A pooled std below 1e-8 counts as 1e-8. */
#pragma once

#include <stddef.h>

struct noise_prior {
    double variance; /* s0^2 > 0, of log throughput */
    double df;       /* d0 >= 1; capped at 100 */
};

/* std[i], n[i] of every measured point (std of logs, n - 1 denominator). With no point of n >= 2: variance =
 * fallback_std^2, df = 1. */
struct noise_prior noise_fit(const double *std, const size_t *n, size_t n_points, double fallback_std);

/* Shrunk variance of one run of a point, and its degrees of freedom. */
double noise_variance(const struct noise_prior *prior, double std, size_t n, double *ret_df);
