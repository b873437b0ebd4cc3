/* models/statistics/student: means of few numbers and how far they can be trusted.
 *
 * Source: Student's t (Erofeev 2021, "accuracy of results"). Pure functions, no state, no
 * allocation. */
#pragma once

#include <stddef.h>

/* Sample moments; std has the n - 1 denominator and is 0 for n < 2; mean is 0 for n = 0. */
struct moments {
    size_t n;
    double mean, std;
};

struct moments moments_of(const double *values, size_t n);

/* One value more (Welford 1962), the first of a zeroed struct; a constant sample keeps a std of exactly 0. */
void moments_add(struct moments *moments, double value);

/* All values of another sample more (Chan, Golub and LeVeque 1983). */
void moments_merge(struct moments *moments, struct moments other);

/* As moments_of, of the natural logarithms; values must be > 0. */
struct moments moments_of_logs(const double *values, size_t n);

/* Quantile of Student's t: the x with P(T_df <= x) = p. 0 < p < 1, df > 0 (any real). NaN outside. */
double student_quantile(double p, double df);

/* P(T_df <= x). */
double student_cdf(double x, double df);

struct interval {
    double low, high; /* NaN where the sample does not support one */
};

/* Two-sided t interval of the mean at `confidence` (0..1); NaN for n < 3 (interfaces, section 5). */
struct interval student_interval(struct moments moments, double confidence);

/* Difference of means a - b of independent samples with unequal variances (Welch 1947): estimate, standard
 * error and Satterthwaite's degrees of freedom. Needs n >= 2 in both; otherwise df is 0 and every bound NaN.
 */
struct welch {
    double difference, standard_error, df;
};

struct welch welch_of(struct moments a, struct moments b);

/* As welch_of, where the variances of the two means (>= 0) and their degrees of freedom (> 0) come from
 * elsewhere. df_a + df_b where both variances are 0: the bounds are then the difference itself. */
struct welch welch_from_variances(double difference, double variance_a, double df_a, double variance_b,
                                  double df_b);

struct interval welch_interval(struct welch welch, double confidence);

/* One-sided lower and upper bounds of the difference at `confidence`. */
double welch_lower(struct welch welch, double confidence);
double welch_upper(struct welch welch, double confidence);

/* Medians and robust spread for reports and tests. values is reordered. 0 for n = 0. */
double median_of(double *values, size_t n);
