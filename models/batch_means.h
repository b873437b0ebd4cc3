/* models/batch_means: an interval for the mean of one long, autocorrelated series.
 *
 * The warm-up is cut (models/truncate); batches of consecutive values grow until the lag-1 correlation of
 * their means is no longer significant; Student's t over the batch means, corrected for what correlation and
 * skewness remain. */
#ifndef FSTUNE_MODELS_BATCH_MEANS_H
#define FSTUNE_MODELS_BATCH_MEANS_H

#include "models/student.h"

#include <stddef.h>

#define BATCH_MEANS_LEAST 5 /* effective batches; fewer: no interval */

struct batch_means {
    double mean;              /* of the values after the warm-up */
    struct interval interval; /* NaN where none can be claimed */
    size_t n_cut;             /* values left out as warm-up */
    size_t batch_size, n_batches;
    double n_effective; /* independent batches that these are worth */
    double lag1;        /* correlation of neighbouring batch means */
};

/* values: rates over windows of equal length. confidence 0..1. 0 (also when no interval can be claimed);
 * -EINVAL; -ENOMEM. */
int batch_means_of(const double *values, size_t n, double confidence, struct batch_means *ret_batch_means);

#endif
