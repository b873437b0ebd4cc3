/* models/fleet/share: quantiles of the beta distribution. */
#include "models/fleet/share.h"

#include <gsl/gsl_cdf.h>

struct interval share_interval(size_t k, size_t n, double confidence)
{
    double tail = (1 - confidence) / 2, hits = (double)k, misses = (double)(n - k);
    return (struct interval){.low = k == 0 ? 0 : gsl_cdf_beta_Pinv(tail, hits, misses + 1),
                             .high = k == n ? 1 : gsl_cdf_beta_Qinv(tail, hits + 1, misses)};
}
