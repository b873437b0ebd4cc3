/* models/noise: run-to-run variances pooled over points by empirical Bayes. */
#include "models/noise.h"

#include <gsl/gsl_sf_psi.h>
#include <math.h>

/* Smallest std of log throughput that is believed: below it runs agree only because clock and counters are
 * discrete. */
#define STD_FLOOR 1e-8

/* A variance this far below the pooled one is clamped before its logarithm is taken: one point whose runs
 * came out equal by chance would otherwise pull the mean of the logs, and so the prior, to nothing. */
#define RELATIVE_FLOOR 1e-5

#define DF_MIN 1.0
#define DF_MAX 100.0

#define MIN_POINTS 3

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

/* The y with trigamma(y) = x. Newton on 1/trigamma, which is convex and nearly linear: from 0.5 + 1/x it
 * converges monotonically (Smyth 2004, appendix). */
static double trigamma_inverse(double x)
{
    double y = 0.5 + 1.0 / x;

    for (int i = 0; i < 50; i++) {
        double trigamma = gsl_sf_psi_1(y);
        double step = trigamma * (1.0 - trigamma / x) / gsl_sf_psi_n(2, y);

        y += step;
        if (fabs(step) < 1e-10 * y)
            break;
    }
    return y;
}

/* Prior degrees of freedom from the variance between points that sampling alone does not explain. */
static double prior_df(double excess)
{
    if (excess <= gsl_sf_psi_1(DF_MAX / 2.0))
        return DF_MAX;
    if (excess >= gsl_sf_psi_1(DF_MIN / 2.0))
        return DF_MIN;
    return 2.0 * trigamma_inverse(excess);
}

struct noise_prior noise_fit(const double *std, const size_t *n, size_t n_points, double fallback_std)
{
    size_t n_usable;
    double pooled = pooled_variance(std, n, n_points, &n_usable);
    double floor_variance = fmax(STD_FLOOR * STD_FLOOR, RELATIVE_FLOOR * pooled);
    double count = 0.0, mean = 0.0, sum_of_squares = 0.0, sampling = 0.0;
    double half_df;

    if (n_usable == 0)
        return (struct noise_prior){.variance = fmax(fallback_std * fallback_std, STD_FLOOR * STD_FLOOR),
                                    .df = DF_MIN};
    if (n_usable < MIN_POINTS)
        return (struct noise_prior){.variance = pooled, .df = DF_MIN};

    for (size_t i = 0; i < n_points; i++) {
        double half, e, delta;

        if (n[i] < 2)
            continue;
        half = (double)(n[i] - 1) / 2.0;
        e = log(fmax(std[i] * std[i], floor_variance)) - gsl_sf_psi(half) + log(half);
        count += 1.0;
        delta = e - mean;
        mean += delta / count;
        sum_of_squares += delta * (e - mean);
        sampling += gsl_sf_psi_1(half);
    }
    half_df = prior_df(sum_of_squares / (count - 1.0) - sampling / count) / 2.0;
    return (struct noise_prior){.variance = exp(mean + gsl_sf_psi(half_df) - log(half_df)),
                                .df = 2.0 * half_df};
}

double noise_variance(const struct noise_prior *prior, double std, size_t n, double *ret_df)
{
    double own_df = n >= 2 ? (double)(n - 1) : 0.0;
    double df = prior->df + own_df;

    *ret_df = df;
    return (prior->df * prior->variance + own_df * std * std) / df;
}
