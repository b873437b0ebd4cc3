/* models/statistics/noise: run-to-run variances pooled over points by empirical Bayes. */
#include "models/statistics/noise.h"

#include <gsl/gsl_sf_gamma.h>
#include <math.h>

/* Smallest std of log throughput that is believed: below it runs agree only because clock and counters are
 * discrete. */
#define STD_FLOOR 1e-8

#define DF_MIN 1.0
#define DF_MAX 100.0

#define MIN_POINTS 3

/* Prior of d0: lognormal, a factor of 4 either way; so few points can show neither that all scatter alike nor
 * that each scatters as it likes. */
#define DF_PRIOR_MEAN log(8.0)
#define DF_PRIOR_STD  log(4.0)

#define N_SECTIONS   20
#define N_ITERATIONS 100

/* Pooled variance of the points with n >= 2, and how many there are; NaN where there are none. */
static double pooled_variance(const double *std, const size_t *n, size_t n_points, size_t *ret_n_usable)
{
    double sum = 0.0;
    double sum_df = 0.0;
    size_t n_usable = 0;

    for (size_t i = 0; i < n_points; i++) {
        if (n[i] < 2)
            continue;
        sum += (double)(n[i] - 1) * std[i] * std[i];
        sum_df += (double)(n[i] - 1);
        n_usable++;
    }
    *ret_n_usable = n_usable;
    return n_usable > 0 ? fmax(sum / sum_df, STD_FLOOR * STD_FLOOR) : NAN;
}

/* What sample variances say of a prior. */
struct spreads {
    const double *std;
    const size_t *n;
    size_t n_points;
    double pooled;
};

/* Most likely s0^2 for this d0, by expectation maximisation: 1/s0^2 is the mean of the expected 1/variance of
 * the points. */
static double most_likely_variance(const struct spreads *spreads, double d0)
{
    double variance = spreads->pooled, before = 0.0;

    for (int i = 0; i < N_ITERATIONS && fabs(variance - before) > 1e-6 * variance; i++) {
        double sum = 0.0, count = 0.0;

        for (size_t k = 0; k < spreads->n_points; k++) {
            double df = (double)spreads->n[k] - 1.0;

            if (spreads->n[k] < 2)
                continue;
            sum += (d0 + df) / (d0 * variance + df * spreads->std[k] * spreads->std[k]);
            count += 1.0;
        }
        before = variance;
        variance = fmax(count / sum, STD_FLOOR * STD_FLOOR);
    }
    return variance;
}

/* Log of the marginal likelihood of the sample variances times the prior of d0, up to a constant: each is
 * s0^2 times an F number of n - 1 and d0 degrees of freedom. */
static double log_evidence(const struct spreads *spreads, double log_d0, double *ret_variance)
{
    double d0 = exp(log_d0), variance = most_likely_variance(spreads, d0);
    double z = (log_d0 - DF_PRIOR_MEAN) / DF_PRIOR_STD, sum = -0.5 * z * z;
    double of_prior = gsl_sf_lngamma(d0 / 2.0), log_scale = log(d0 * variance), of_both = 0.0;
    size_t n = 0; /* that of_both is of: most points have as many runs as the one before */

    for (size_t i = 0; i < spreads->n_points; i++) {
        double df = (double)spreads->n[i] - 1.0, squares = spreads->std[i] * spreads->std[i];

        if (spreads->n[i] < 2)
            continue;
        if (spreads->n[i] != n)
            of_both = gsl_sf_lngamma((d0 + df) / 2.0);
        n = spreads->n[i];
        sum += of_both - of_prior - df / 2.0 * log_scale -
               (d0 + df) / 2.0 * log1p(df * squares / (d0 * variance));
    }
    *ret_variance = variance;
    return sum;
}

/* Golden-section search over log d0. */
static struct noise_prior most_likely_prior(const struct spreads *spreads)
{
    const double ratio = (sqrt(5.0) - 1.0) / 2.0;
    double low = log(DF_MIN), high = log(DF_MAX), variance;
    double left = high - ratio * (high - low), right = low + ratio * (high - low);
    double at_left = log_evidence(spreads, left, &variance);
    double at_right = log_evidence(spreads, right, &variance);

    for (int i = 0; i < N_SECTIONS; i++) {
        if (at_left > at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - ratio * (high - low);
            at_left = log_evidence(spreads, left, &variance);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + ratio * (high - low);
            at_right = log_evidence(spreads, right, &variance);
        }
    }
    log_evidence(spreads, (low + high) / 2.0, &variance);
    return (struct noise_prior){.variance = variance, .df = exp((low + high) / 2.0)};
}

struct noise_prior noise_fit(const double *std, const size_t *n, size_t n_points, double fallback_std)
{
    struct spreads spreads = {.std = std, .n = n, .n_points = n_points};
    size_t n_usable;

    spreads.pooled = pooled_variance(std, n, n_points, &n_usable);
    if (n_usable == 0)
        return (struct noise_prior){.variance = fmax(fallback_std * fallback_std, STD_FLOOR * STD_FLOOR),
                                    .df = DF_MIN};
    if (n_usable < MIN_POINTS)
        return (struct noise_prior){.variance = spreads.pooled, .df = DF_MIN};
    return most_likely_prior(&spreads);
}

double noise_variance(const struct noise_prior *prior, double std, size_t n, double *ret_df)
{
    double own_df = n >= 2 ? (double)(n - 1) : 0.0;
    double df = prior->df + own_df;

    *ret_df = df;
    return (prior->df * prior->variance + own_df * std * std) / df;
}
