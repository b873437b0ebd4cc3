/* models/statistics/skew: Student's interval with skewness taken into account. */
#include "models/statistics/skew.h"

#include <math.h>

/* The skewness of few numbers comes out too small; the factor was found by simulation (docs/method.md). */
#define SMALL_SAMPLE_FACTOR 1.5

double skew_of(const double *values, size_t n)
{
    struct moments moments = moments_of(values, n);
    if (n < 3 || !(moments.std > 0))
        return 0;
    double cubes = 0, std = moments.std * sqrt((double)(n - 1) / (double)n);
    for (size_t i = 0; i < n; i++)
        cubes += pow((values[i] - moments.mean) / std, 3);
    return cubes / (double)n;
}

/* Willink's G: the value of Student's ratio that corresponds to a symmetric t. */
static double ratio_of(double t, double lean)
{
    /* The limit; below this the difference of the cube root from 1 loses its digits. */
    if (fabs(lean) < 1e-6)
        return t;
    return (cbrt(1 + 6 * lean * (t - lean)) - 1) / (2 * lean);
}

struct interval skew_shift(double mean, double standard_error, double quantile, double skewness, size_t n)
{
    double lean = skewness / (6 * sqrt((double)n));
    return (struct interval){.low = mean - ratio_of(quantile, lean) * standard_error,
                             .high = mean - ratio_of(-quantile, lean) * standard_error};
}

struct interval skew_interval(const double *values, size_t n, double confidence, bool *ret_corrected)
{
    struct moments moments = moments_of(values, n);
    struct interval interval = student_interval(moments, confidence);
    bool corrected = n >= 3 && moments.std > SKEW_SPREAD_SHARE * moments.mean;
    if (corrected) {
        double quantile = student_quantile(0.5 + confidence / 2, (double)(n - 1));
        struct interval shifted = skew_shift(moments.mean, moments.std / sqrt((double)n), quantile,
                                             SMALL_SAMPLE_FACTOR * skew_of(values, n), n);
        interval.low = fmax(fmin(interval.low, shifted.low), 0);
        interval.high = fmax(interval.high, shifted.high);
    }
    if (ret_corrected != NULL)
        *ret_corrected = corrected;
    return interval;
}
