/* Whether a point is probably good enough, asked at every look of a race. It is answered without draws, by
 * Bonferroni's inequality: the chances of all rivals together are at least the chance of any. */
#include "models/search/belief_internal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Rivals whose covariances with the point are asked for at once: what these have in common is solved once. */
#define CHUNK 256

/* Sums, over rivals, of the probability that the rival exceeds the point by more than the margin. */
struct chances {
    double measured, unmeasured;
};

static double exceeds(const struct belief *belief, size_t point, size_t rival, double margin,
                      double covariance)
{
    double variance = belief->variance[point] + belief->variance[rival] - 2.0 * covariance;
    double lead = belief->mean[point] + margin - belief->mean[rival];

    return variance > 0.0 ? gsl_cdf_ugaussian_Q(lead / sqrt(variance)) : lead < 0.0;
}

static int add_chances(const struct belief *belief, size_t point, double margin, const size_t *rivals,
                       size_t n, struct chances *chances)
{
    double covariance[CHUNK];
    int result = belief_covariance(belief, point, rivals, n, covariance);

    for (size_t i = 0; i < n && !result; i++) {
        double chance = exceeds(belief, point, rivals[i], margin, covariance[i]);

        *(belief_usable(belief, rivals[i]) ? &chances->measured : &chances->unmeasured) += chance;
    }
    return result;
}

static int weigh_rivals(const struct belief *belief, size_t point, const struct belief_level *own,
                        double margin, struct chances *ret_chances)
{
    size_t rivals[CHUNK], n = 0;
    int result = 0;

    for (size_t i = 0; i < belief->space->n_points && !result; i++) {
        if (belief_is_rival(belief, i, point, own, margin))
            rivals[n++] = i;
        if (n == CHUNK) {
            result = add_chances(belief, point, margin, rivals, n, ret_chances);
            n = 0;
        }
    }
    return result || n == 0 ? result : add_chances(belief, point, margin, rivals, n, ret_chances);
}

/* Nothing exceeds a point that lies within the margin of the known ceiling. */
static double below_ceiling(const struct belief *belief, const struct belief_level *own, double margin)
{
    return gsl_cdf_ugaussian_P((belief->ceiling - margin - own->mean) / sqrt(own->variance));
}

/* The probability that nothing exceeds the point, after a fit; it may be too small. enough: one that is
 * smaller need not be exact. */
static int least_probability(const struct belief *belief, size_t point, double margin, double enough,
                             double *ret_probability)
{
    struct belief_level own = belief_level_of(belief, point);
    struct chances chances = {0};
    struct belief_ceiling learnt;
    int result = weigh_rivals(belief, point, &own, margin, &chances);
    double below = below_ceiling(belief, &own, margin), response = own.mean + margin;

    *ret_probability = 1.0 - fmin(chances.measured, below);
    if (result || *ret_probability < enough)
        return result;
    /* What was not measured exceeds the point only where the learnt ceiling lies higher. */
    belief_ceiling_learn(belief, &learnt);
    double open = 1.0 - belief_ceiling_up_to(&learnt, response, sqrt(own.variance));
    double open_for_peaks = 1.0 - belief_ceiling_up_to(&learnt, response, 0.0);
    double lone_peaks = 1.0 - belief_no_lone_peaks_within(belief, point, &own, margin);
    double any = chances.measured + fmin(chances.unmeasured, open);
    *ret_probability = fmax(0.0, 1.0 - fmin(any, below) - open_for_peaks * lone_peaks);
    return 0;
}

int belief_is_within(const struct belief *belief, size_t point, double margin, double enough,
                     bool *ret_within)
{
    struct belief_level own = belief_level_of(belief, point);
    double probability = 0.0;
    int result = 0;

    if (belief->chosen)
        result = least_probability(belief, point, margin, enough, &probability);
    else
        probability = belief_within_alone(belief, point, &own, margin);
    *ret_within = !result && probability >= enough;
    return result;
}
