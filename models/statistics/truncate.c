/* models/statistics/truncate: MSER-5. */
#include "models/statistics/truncate.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#define BATCH        5
#define LEAST_VALUES 20
/* Sums of squares rounded differently must not move the cut of a constant series. */
#define ROUNDING_SHARE 1e-12

static double batch_mean(const double *values, size_t batch)
{
    double sum = 0;

    for (size_t i = 0; i < BATCH; i++)
        sum += values[batch * BATCH + i];
    return sum / BATCH;
}

int truncate_mser5(const double *values, size_t n, size_t *ret_n_cut)
{
    size_t n_batches = n / BATCH, last_cut = n / 2 / BATCH, best = 0;
    double mean = 0, squares = 0, least = INFINITY;

    if (n < LEAST_VALUES)
        return -ENODATA;
    /* From the end, so that one pass (Welford's) has the sums of every tail. */
    for (size_t k = n_batches; k-- > 0;) {
        double kept = (double)(n_batches - k), value = batch_mean(values, k), delta = value - mean, error;
        mean += delta / kept;
        squares += delta * (value - mean);
        error = squares / (kept * kept);
        /* The earliest of equal cuts keeps most. */
        if (k <= last_cut && error <= least + ROUNDING_SHARE * mean * mean) {
            least = error;
            best = k;
        }
    }
    if (best == last_cut && best > 0)
        return -ENODATA;
    *ret_n_cut = best * BATCH;
    return 0;
}
