/* models/search/acquire: expected improvement of a normal response, plain and augmented for noise. */
#include "models/search/acquire.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

double acquire_expected_improvement(double mean, double std, double incumbent)
{
    double gain = mean - incumbent;
    double z;

    if (!(std > 0.0))
        return fmax(gain, 0.0);
    z = gain / std;
    /* The terms cancel for very negative z, where rounding could leave a tiny negative number. */
    return fmax(std * (z * gsl_cdf_ugaussian_P(z) + gsl_ran_ugaussian_pdf(z)), 0.0);
}

double acquire_augmented_improvement(double mean, double std, double incumbent, double noise_std)
{
    double improvement = acquire_expected_improvement(mean, std, incumbent);
    double total;

    if (!(noise_std > 0.0))
        return improvement;
    /* 1 - noise/total, rearranged so that it does not cancel to 0 where std is far below the noise. */
    total = hypot(std, noise_std);
    return improvement * (std / total) * (std / (total + noise_std));
}
