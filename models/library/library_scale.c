/* Figures of a program as responses of the engine, for which higher is better and errors are added. */
#include "models/library/library_internal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

bool library_is_linear(enum fst_scale scale)
{
    return scale == FST_HIGHER_LINEAR || scale == FST_LOWER_LINEAR;
}

static double sign_of(enum fst_scale scale)
{
    return scale == FST_LOWER || scale == FST_LOWER_LINEAR ? -1 : 1;
}

double library_response(enum fst_scale scale, double value)
{
    return sign_of(scale) * (library_is_linear(scale) ? value : log(value));
}

double library_value(enum fst_scale scale, double response)
{
    double signless = sign_of(scale) * response;
    return library_is_linear(scale) ? signless : exp(signless);
}

double library_margin(enum fst_scale scale, double tolerance)
{
    if (library_is_linear(scale))
        return tolerance;
    return scale == FST_HIGHER ? -log1p(-tolerance) : log1p(tolerance);
}

double library_share(enum fst_scale scale, double margin)
{
    if (library_is_linear(scale))
        return margin;
    return scale == FST_HIGHER ? -expm1(-margin) : expm1(margin);
}

/* A mean with an error and no number counts as two. */
static size_t shown_replays(const struct fst_result *result)
{
    if (result->n < 2)
        return 2;
    return result->n < LIBRARY_MOST_REPLAYS ? result->n : LIBRARY_MOST_REPLAYS;
}

/* Normal scores have the form that the engine expects of replays; they are stretched until their standard
 * deviation is the one that belongs to the standard error. */
size_t library_spread(enum fst_scale scale, const struct fst_result *result, double *ret_responses)
{
    double mean = library_response(scale, result->value), squares = 0;
    double error = library_is_linear(scale) ? result->std_error : result->std_error / result->value;
    if (!(error > 0)) {
        ret_responses[0] = mean;
        return 1;
    }
    size_t n = shown_replays(result);
    for (size_t i = 0; i < n; i++) {
        ret_responses[i] = gsl_cdf_ugaussian_Pinv(((double)i + 0.5) / (double)n);
        squares += ret_responses[i] * ret_responses[i];
    }
    double stretch = error * sqrt((double)n) / sqrt(squares / (double)(n - 1));
    for (size_t i = 0; i < n; i++)
        ret_responses[i] = mean + stretch * ret_responses[i];
    return n;
}
