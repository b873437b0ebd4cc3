/* models/statistics/robust: where a point lies and how much its runs scatter, when a run now and then is an
 * outlier and some points have two levels.
 *
 * Values are responses on a log scale. A run is ordinary (normal around the point's location, with a variance
 * of the pooled prior), or an outlier: further off than `robust_least_distance`, mostly below. Which runs are
 * outliers is not decided but averaged over: every split of the sorted runs into outliers below, ordinary
 * runs (at least half) and outliers above has a probability, with location and variance integrated out in
 * closed form (O'Hagan and Forster 2004, "Bayesian Inference", chapter 9: normal sample, conjugate prior).
 * Two levels that share one variance are a further explanation. Where no run is far off, the result is the
 * plain mean with the variance of noise_variance.
 *
 * Outliers meet all points alike, so they are kept out of a location; the levels of a point are its own, so
 * the location of a point with two levels is the mean of all its runs. */
#pragma once

#include "models/statistics/noise.h"

#include <stdbool.h>
#include <stddef.h>

struct robust_prior {
    struct noise_prior noise;     /* of ordinary runs */
    double low_share, high_share; /* of runs that are outliers below, above; > 0, their sum < 0.5 */
};

struct robust_sample {
    const double *values; /* ascending; borrowed */
    size_t n;
};

struct robust_point {
    double location;          /* 0 for n = 0 */
    double location_variance; /* of the location; of one run for n = 0 */
    double df;                /* degrees of freedom of that variance */
    double std;               /* of the runs that are most likely ordinary, within their level; 0 for one */
    size_t std_df;            /* its degrees of freedom */
    double n_low, n_high;     /* expected numbers of outliers */
    size_t n_outliers;        /* most likely number */
    bool two_levels;          /* more likely than not; then nothing is an outlier */
};

/* One point, by a given prior. */
void robust_point_of(const struct robust_prior *prior, struct robust_sample sample,
                     struct robust_point *ret_point);

/* What points have in common: expectation maximisation from the median deviation, so a few wild points do not
 * set the start. With no point of n >= 2: fallback_std, and shares as seen elsewhere. 0, -ENOMEM. */
int robust_fit(const struct robust_sample *samples, size_t n_samples, double fallback_std,
               struct robust_prior *ret_prior);

/* The prior while nothing was measured. */
struct robust_prior robust_prior_default(double fallback_std);

/* A run nearer to its point's location than this is never an outlier: 2.5 pooled standard deviations, and at
 * least 25 % of the rate. */
double robust_least_distance(const struct robust_prior *prior);

/* Probability that the only run of a point is ordinary, given what other points say of it: a normal
 * prediction of its location, before the run. */
double robust_single_weight(const struct robust_prior *prior, double value, double mean, double variance);
