/* models/statistics/line_fit: a straight line through costs over sizes: what a call costs whatever its size,
 * and what each byte adds.
 *
 * Costs scatter in proportion to themselves, so that squares of relative residuals are minimised: ordinary
 * least squares first, then once more with the weights 1/fitted^2 (gsl_fit). Where residuals are heavy, the
 * same scaled rows go through the bisquare M-estimator of gsl_multifit_robust. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct line_fit {
    double intercept, slope;
    double intercept_error, slope_error; /* standard errors, with n - 2 degrees of freedom */
    double residual_share;               /* root mean square of the residuals, outliers included, each
                                            relative to the line or a quarter of its cost, if that is more */
    size_t n, n_outliers;                /* relative residuals beyond LINE_FIT_HEAVY robust deviations */
    bool robust;                         /* there were outliers: the M-estimator's line */
};

/* In a normal sample one residual in two million is so far off. */
#define LINE_FIT_HEAVY 5.0

/* n >= 3 points, x of at least two values, y > 0. 0; -EINVAL; -ENOMEM; -EDOM: no line fits. */
int line_fit(const double *x, const double *y, size_t n, struct line_fit *ret);
