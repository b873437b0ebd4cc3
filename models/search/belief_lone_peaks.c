/* Isolated fast points (lone peaks), which no surrogate expects: far better than all others say, such as a
 * size that one path of the kernel favours. How often they come is learnt from the measured points, each
 * predicted by the rest. */
#include "models/search/belief_internal.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>

/* Before anything is measured, a quarter of a lone peak in a hundred points is assumed ... */
#define PRIOR_LONE_PEAKS 0.25
#define PRIOR_POINTS     100.0
/* ... better by a factor of 1.6 or so. */
#define PRIOR_STD 0.5

/* With more points than these, steps are so fine that neighbours share a lone peak. */
#define APART_POINTS 400.0

/* What the others say of a point, and what its own runs say of its mean (infinite variance without runs). */
struct said {
    double mean, variance, own_mean, own_variance;
};

static bool said_of(const struct belief *belief, size_t point, struct said *ret_said)
{
    *ret_said = (struct said){belief->mean[point], belief->variance[point], 0.0, INFINITY};
    if (belief->moments[point].n == 0)
        return true;
    ret_said->own_mean = belief->moments[point].mean;
    ret_said->own_variance = belief->robust[point].location_variance;
    return belief_leave_out(belief, point, &ret_said->mean, &ret_said->variance);
}

/* Probability that the point is a lone peak by its runs, and was not lucky or, with a single run, an
 * outlier. */
static double came_as_lone_peak(const struct belief *belief, size_t point, const struct said *said)
{
    double above = said->own_mean - said->mean, expected = sqrt(said->variance + said->own_variance);
    double odds = belief->lone_peaks_share / (1.0 - belief->lone_peaks_share);
    struct robust_prior prior = belief_run_prior(belief);

    if (isinf(said->own_variance))
        return belief->lone_peaks_share;
    if (above <= 0.0)
        return 0.0;
    odds *= 2.0 * gsl_ran_gaussian_pdf(above, hypot(expected, belief->lone_peaks_std)) /
            gsl_ran_gaussian_pdf(above, expected);
    if (belief->moments[point].n == 1)
        odds *= robust_single_weight(&prior, said->own_mean, said->mean, said->variance);
    return isfinite(odds) ? odds / (1.0 + odds) : 1.0;
}

/* Each point counts by how probable it is that it came as one, by what is assumed before anything is
 * measured: one lucky run says little. */
void belief_lone_peaks_learn(struct belief *belief)
{
    double n_lone_peaks = PRIOR_LONE_PEAKS, n_points = PRIOR_POINTS, squares = gsl_pow_2(PRIOR_STD), n = 1.0;

    belief->lone_peaks_share = PRIOR_LONE_PEAKS / PRIOR_POINTS;
    belief->lone_peaks_std = PRIOR_STD;
    for (size_t point = 0; point < belief->space->n_points; point++) {
        struct said said;
        double came;

        if (!belief_usable(belief, point) || !said_of(belief, point, &said))
            continue;
        came = came_as_lone_peak(belief, point, &said);
        n_points += 1.0;
        n_lone_peaks += came;
        squares += came * gsl_pow_2(said.own_mean - said.mean);
        n += came;
    }
    belief->lone_peaks_share =
        n_lone_peaks / n_points * fmin(1.0, APART_POINTS / (double)belief->space->n_points);
    belief->lone_peaks_std = sqrt(squares / n);
}

/* Probability that the point reaches the response if it is a lone peak. */
static double beyond_as_lone_peak(const struct belief *belief, const struct said *said, double response)
{
    double variance = said->variance + gsl_pow_2(belief->lone_peaks_std), weight, mean;

    if (isinf(said->own_variance))
        return fmin(1.0, 2.0 * gsl_cdf_ugaussian_Q((response - said->mean) / sqrt(variance)));
    weight = variance / (variance + said->own_variance);
    mean = said->mean + weight * (said->own_mean - said->mean);
    return gsl_cdf_ugaussian_Q((response - mean) / sqrt(variance * (1.0 - weight)));
}

double belief_lone_peaks(const struct belief *belief, size_t point, double response)
{
    struct said said;
    double expected;

    if (belief->ignores_lone_peaks || belief->excluded[point] || !said_of(belief, point, &said))
        return 0.0;
    expected = gsl_cdf_ugaussian_Q((response - belief->mean[point]) / sqrt(belief->variance[point]));
    return came_as_lone_peak(belief, point, &said) *
           fmax(0.0, beyond_as_lone_peak(belief, &said, response) - expected);
}

double belief_no_lone_peaks(const struct belief *belief, size_t but, double response)
{
    double none = 0.0;

    for (size_t point = 0; point < belief->space->n_points; point++)
        none += point != but ? log1p(-belief_lone_peaks(belief, point, response)) : 0.0;
    return exp(none);
}
