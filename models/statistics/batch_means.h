/* models/statistics/batch_means: an interval for the mean of one long, autocorrelated series.
 *
 * 1. The start that models/statistics/line finds is left out, if the mean before its last change differs from
 * the one after it by more than the noise explains: a cut that only chance suggests biases the mean of a
 * correlated series.
 * 2. Batches of consecutive values grow until the lag-1 correlation r of their means is no longer significant
 *    (bias of its estimate removed: Kendall 1954).
 * 3. Not significant is not nothing: the variance of the mean is taken as that of a first-order
 *    autoregression, s^2/k (1 + r)/(1 - r), on k/(1 + 2 (1 + r)/(1 - r)) degrees of freedom, which account
 *    for the scatter of s and of r (delta method).
 * 4. Student's t on these, its skewness corrected (models/statistics/skew). */
#pragma once

#include "models/statistics/student.h"

#include <stddef.h>

#define BATCH_MEANS_LEAST   5  /* effective batches; fewer: no interval */
#define BATCH_MEANS_BATCHES 10 /* batches grow as long as there are so many */

struct batch_means {
    double mean;                  /* of the values after the warm-up */
    struct interval interval;     /* NaN where none can be claimed */
    size_t n_cut;                 /* values left out as warm-up; half of them where that shows no end */
    size_t batch_size, n_batches; /* batches are counted from the end; 0 where there are too few values */
    double n_effective;           /* independent batches that these are worth; NaN as the next */
    double lag1;                  /* correlation of neighbouring batch means, bias removed */
};

/* values: rates over windows of equal length. confidence in (0, 1). 0 (also when no interval can be claimed);
 * -EINVAL for n = 0, a confidence outside or a value that is not finite; -ENOMEM. */
int batch_means_of(const double *values, size_t n, double confidence, struct batch_means *ret_batch_means);
