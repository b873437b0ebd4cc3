/* models/statistics/batch_means: cut, grow, correct. The thresholds were found by simulation
 * (docs/statistics.md). */
#include "models/statistics/batch_means.h"

#include "models/statistics/line.h"
#include "models/statistics/skew.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define GROWTH             1.3
#define SIGNIFICANT_LAG1   2.0 /* standard errors */
#define SIGNIFICANT_CUT    2.5
#define LARGEST_LAG1       0.95
#define LARGEST_BIAS_SHARE 0.8
#define LEAST_VALUES       20

/* What batches of one size say about the mean of a series. */
struct estimate {
    double mean, standard_error, df;
    double skewness, lag1, n_effective;
    size_t batch_size, n_batches;
};

static double mean_of(const double *values, size_t n)
{
    return moments_of(values, n).mean;
}

/* Counted from the end, so that what does not fill a batch is left out where a warm-up would be. */
static void batches_of(const double *values, size_t n, size_t size, double *batches)
{
    size_t n_batches = n / size, first = n - n_batches * size;
    for (size_t i = 0; i < n_batches; i++)
        batches[i] = mean_of(values + first + i * size, size);
}

/* Lag-1 correlation; its expectation is about rho - (1 + 3 rho) / n (Kendall 1954), which is solved for rho.
 */
static double lag1_of(const double *values, size_t n, struct moments moments)
{
    double products = 0, count = (double)n;
    if (!(moments.std > 0))
        return 0;
    for (size_t i = 1; i < n; i++)
        products += (values[i] - moments.mean) * (values[i - 1] - moments.mean);
    double raw = products / (moments.std * moments.std * (count - 1));
    return (raw + 1 / count) / (1 - 3 / count);
}

/* False where the correlation leaves too little to estimate a variance from. */
static bool judge_batches(const double *batches, struct moments moments, struct estimate *estimate)
{
    double count = (double)moments.n, lag1 = fmax(estimate->lag1, 0), inflation = (1 + lag1) / (1 - lag1);
    /* The sample variance of correlated values is too small by this share. */
    double bias_share = (inflation - 1) / (count - 1);
    estimate->n_effective = lag1 < 1 ? count / inflation : 0;
    if (lag1 > LARGEST_LAG1 || bias_share > LARGEST_BIAS_SHARE)
        return false;
    estimate->standard_error = moments.std * sqrt(inflation / (1 - bias_share) / count);
    estimate->df = count / (1 + 2 * inflation);
    estimate->skewness = skew_of(batches, moments.n);
    return true;
}

/* Needs room for n batches. */
static bool estimate_mean(const double *values, size_t n, double *batches, struct estimate *estimate)
{
    struct moments moments = {0};
    size_t size = 1, next = 1;
    *estimate = (struct estimate){.mean = mean_of(values, n), .lag1 = NAN, .n_effective = NAN};
    if (n < BATCH_MEANS_BATCHES)
        return false;
    bool significant = true;
    while (significant && n / next >= BATCH_MEANS_BATCHES) {
        size = next;
        batches_of(values, n, size, batches);
        moments = moments_of(batches, n / size);
        estimate->lag1 = lag1_of(batches, moments.n, moments);
        significant = estimate->lag1 > SIGNIFICANT_LAG1 / sqrt((double)moments.n);
        next = (size_t)fmax((double)size * GROWTH, (double)size + 1);
    }
    estimate->batch_size = size;
    estimate->n_batches = moments.n;
    return judge_batches(batches, moments, estimate);
}

/* Values before the steady part. *ret_ended is false when the warm-up shows no end. */
static size_t warmup_of(const double *values, size_t n, double *batches, bool *ret_ended)
{
    struct estimate rest;
    struct line line = line_of(values, n);
    size_t cut = line.held ? line.change : n / 2;
    *ret_ended = true;
    if (cut == 0)
        return 0;
    if (!estimate_mean(values + cut, n - cut, batches, &rest) && !estimate_mean(values, n, batches, &rest)) {
        *ret_ended = false;
        return 0;
    }
    double after = (double)(n - cut), before = (double)cut;
    double error = rest.standard_error * sqrt(1 + after / before);
    double difference = mean_of(values, cut) - mean_of(values + cut, n - cut);
    if (!(fabs(difference) > SIGNIFICANT_CUT * error))
        return 0;
    *ret_ended = line.held;
    return line.held ? line.start : n / 2;
}

static void fill_result(const double *values, size_t n, double confidence, double *batches,
                        struct batch_means *result)
{
    struct estimate estimate;
    bool ended = true;
    size_t cut = n < LEAST_VALUES ? 0 : warmup_of(values, n, batches, &ended);
    bool known = estimate_mean(values + cut, n - cut, batches, &estimate);
    *result = (struct batch_means){.mean = estimate.mean,
                                   .interval = {.low = NAN, .high = NAN},
                                   .n_cut = cut,
                                   .batch_size = estimate.batch_size,
                                   .n_batches = estimate.n_batches,
                                   .n_effective = estimate.n_effective,
                                   .lag1 = estimate.lag1};
    if (n < LEAST_VALUES || !ended || !known || estimate.n_effective < BATCH_MEANS_LEAST)
        return;
    double quantile = student_quantile(0.5 + confidence / 2, estimate.df);
    result->interval =
        skew_shift(estimate.mean, estimate.standard_error, quantile, estimate.skewness, estimate.n_batches);
}

int batch_means_of(const double *values, size_t n, double confidence, struct batch_means *ret_batch_means)
{
    if (n == 0 || !(confidence > 0 && confidence < 1))
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            return -EINVAL;
    }
    double *batches = malloc(n * sizeof *batches);
    if (batches == NULL)
        return -ENOMEM;
    fill_result(values, n, confidence, batches, ret_batch_means);
    free(batches);
    return 0;
}
