/* models/statistics/skew: intervals for the mean of few numbers whose distribution leans to one side.
 *
 * Student's t interval misses the mean of skewed numbers on one side more often than on the other. Its
 * quantiles are replaced by those of a cubic function of t that undoes the skewness to second order (Johnson
 * 1978; Hall 1992; in the closed form of Willink 2005). */
#pragma once

#include "models/statistics/student.h"

#include <stdbool.h>
#include <stddef.h>

/* Spread (std / mean) up to which the interval over replays stays Student's. */
#define SKEW_SPREAD_SHARE 0.20

/* Third central moment over the cubed standard deviation, both with denominator n; 0 for n < 3 and for equal
 * values. */
double skew_of(const double *values, size_t n);

/* Two-sided interval around a mean with this standard error, where `quantile` (> 0.2) is the quantile of t
 * and n numbers have this skewness. Contains the mean; finite for finite arguments. */
struct interval skew_shift(double mean, double standard_error, double quantile, double skewness, size_t n);

/* Interval for the mean of n numbers >= 0: Student's, and where their spread exceeds SKEW_SPREAD_SHARE that
 * extended on the side of the skew; it is never shorter than Student's, but never reaches below 0.
 * *ret_corrected tells which it is (may be NULL). NaN for n < 3. */
struct interval skew_interval(const double *values, size_t n, double confidence, bool *ret_corrected);
