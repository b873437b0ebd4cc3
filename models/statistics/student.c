/* models/statistics/student: Student's t and Welch's difference over GSL's distribution functions. */
#include "models/statistics/student.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

void moments_add(struct moments *moments, double value)
{
    double n = (double)moments->n, difference = value - moments->mean;
    double squares = n > 1.0 ? (n - 1.0) * moments->std * moments->std : 0.0;

    moments->n++;
    moments->mean += difference / (n + 1.0);
    squares += difference * (value - moments->mean);
    moments->std = n > 0.0 ? sqrt(fmax(0.0, squares) / n) : 0.0;
}

static double squares_of(struct moments moments)
{
    return moments.n > 1 ? (double)(moments.n - 1) * moments.std * moments.std : 0.0;
}

void moments_merge(struct moments *moments, struct moments other)
{
    double n = (double)(moments->n + other.n), difference = other.mean - moments->mean;
    if (other.n == 0)
        return;
    double squares = squares_of(*moments) + squares_of(other) +
                     difference * difference * (double)moments->n * (double)other.n / n;
    moments->mean += difference * (double)other.n / n;
    moments->n += other.n;
    moments->std = moments->n > 1 ? sqrt(squares / (n - 1.0)) : 0.0;
}

struct moments moments_of(const double *values, size_t n)
{
    struct moments moments = {0};

    for (size_t i = 0; i < n; i++)
        moments_add(&moments, values[i]);
    return moments;
}

struct moments moments_of_logs(const double *values, size_t n)
{
    struct moments moments = {0};

    for (size_t i = 0; i < n; i++)
        moments_add(&moments, log(values[i]));
    return moments;
}

double student_quantile(double p, double df)
{
    /* Written so that NaN arguments fail the test too. */
    if (!(p > 0.0 && p < 1.0 && df > 0.0 && isfinite(df)))
        return NAN;
    return gsl_cdf_tdist_Pinv(p, df);
}

double student_cdf(double x, double df)
{
    if (isnan(x) || !(df > 0.0 && isfinite(df)))
        return NAN;
    return gsl_cdf_tdist_P(x, df);
}

static struct interval interval_around(double centre, double half_width)
{
    return (struct interval){.low = centre - half_width, .high = centre + half_width};
}

struct interval student_interval(struct moments moments, double confidence)
{
    double quantile;

    if (moments.n < 3)
        return (struct interval){.low = NAN, .high = NAN};
    quantile = student_quantile(0.5 + confidence / 2.0, (double)(moments.n - 1));
    return interval_around(moments.mean, quantile * moments.std / sqrt((double)moments.n));
}

struct welch welch_from_variances(double difference, double variance_a, double df_a, double variance_b,
                                  double df_b)
{
    double total = variance_a + variance_b;
    struct welch welch = {.difference = difference, .standard_error = sqrt(total), .df = df_a + df_b};

    if (total > 0.0) {
        /* By shares of the total, because squares of tiny variances would underflow. */
        double share_a = variance_a / total;
        double share_b = variance_b / total;

        welch.df = 1.0 / (share_a * share_a / df_a + share_b * share_b / df_b);
    }
    return welch;
}

struct welch welch_of(struct moments a, struct moments b)
{
    double difference = a.mean - b.mean;

    if (a.n < 2 || b.n < 2)
        return (struct welch){.difference = difference, .standard_error = NAN, .df = 0.0};
    return welch_from_variances(difference, a.std * a.std / (double)a.n, (double)(a.n - 1),
                                b.std * b.std / (double)b.n, (double)(b.n - 1));
}

struct interval welch_interval(struct welch welch, double confidence)
{
    double quantile = student_quantile(0.5 + confidence / 2.0, welch.df);

    return interval_around(welch.difference, quantile * welch.standard_error);
}

double welch_lower(struct welch welch, double confidence)
{
    return welch.difference - student_quantile(confidence, welch.df) * welch.standard_error;
}

double welch_upper(struct welch welch, double confidence)
{
    return welch.difference + student_quantile(confidence, welch.df) * welch.standard_error;
}

double median_of(double *values, size_t n)
{
    if (n == 0)
        return 0.0;
    gsl_sort(values, 1, n);
    if (n % 2 == 1)
        return values[n / 2];
    /* Halved first: the sum of two large values could overflow. */
    return values[n / 2 - 1] / 2.0 + values[n / 2] / 2.0;
}
