/* models/impact/regression: a target as a sum of metrics, c_0 + c_1 M_1 + ... + c_k M_k, from programs whose
 * target is known (Wood 2008). It is what the atomic tests are compared with.
 *
 * Least squares, an M-estimator that outliers hardly move (gsl_multifit_robust, bisquare), or least squares
 * with no coefficient below 0 and no constant (Lawson and Hanson 1974), for costs of activities. */
#pragma once

#include "models/statistics/student.h"

#include <stdbool.h>
#include <stddef.h>

enum regression_method { REGRESSION_LEAST_SQUARES, REGRESSION_ROBUST, REGRESSION_NON_NEGATIVE, REGRESSION_N };

#define REGRESSION_MAX_METRICS 64

/* A metric of which the others tell more than this share of the variance says nothing of its own. */
#define REGRESSION_COLLINEAR_R2 0.9999

/* Rows of metrics and their targets. */
struct regression_rows {
    const double *metrics; /* [n * k], row by row */
    const double *targets; /* [n] */
    size_t n, k;
};

struct regression {
    enum regression_method method;
    size_t n, k;
    double coefficient[REGRESSION_MAX_METRICS + 1];       /* [0]: the constant, then the metrics */
    struct interval interval[REGRESSION_MAX_METRICS + 1]; /* NaN for non-negative ones */
    double least[REGRESSION_MAX_METRICS], most[REGRESSION_MAX_METRICS]; /* of each metric in the rows */
    double residual_std;                                                /* n - k - 1 degrees of freedom */
    double left_out_error; /* median of |predicted / true - 1| over the rows, each left out in turn */
    double r_squared;
    double covariance[(REGRESSION_MAX_METRICS + 1) * (REGRESSION_MAX_METRICS + 1)]; /* [(k+1) * (k+1)] */
};

/* 0; -EINVAL: too many metrics, or fewer than k + 3 rows; -EDOM: metric *ret_collinear (from 0) is constant
 * or a sum of the others; -ENOMEM. */
int regression_fit(const struct regression_rows *rows, enum regression_method method, double confidence_share,
                   struct regression *ret, size_t *ret_collinear);

struct regression_prediction {
    double value;
    struct interval interval; /* of a new program's target; NaN for non-negative coefficients */
    bool extrapolates;
    size_t beyond; /* then the first metric outside of what was trained on */
};

struct regression_prediction regression_predict(const struct regression *regression, const double *metrics,
                                                double confidence_share);
