/* A ceiling that no setting passes, such as a limit on bytes per second that nobody told us of. It is learnt
 * from many points that have one rate although the others say that their rates should differ. */
#include "models/search/belief_internal.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>

/* Before anything is measured there is a ceiling with these odds, and then it lies anywhere within so much,
 * in log response, about the best point. */
#define PRIOR_ODDS  1.0
#define PRIOR_WIDTH 1.0
/* Levels that are tried; one that lies higher is none. */
#define BELOW_BEST 0.2
#define STEP       0.005
/* Fewer points than these that lie at a level do not show that it is a ceiling. */
#define LEAST_POINTS 5
/* A ceiling may give way by so much: rates saturate, and limits are not kept to the last byte. */
#define SOFT_STD 0.02

/* A point this many of its standard deviations below the lowest level, by the others and by its runs, says
 * nothing about any. */
#define FAR_BELOW 5.0

/* What the other points and its own runs say of a point. */
struct said {
    double mean, variance, seen, noise_variance;
};

/* What speaks for a level. */
struct level {
    double log_factor; /* how much more likely the runs of all points are where it is the ceiling */
    double n_at;       /* points that lie at it, then */
};

/* Where there is this ceiling, a response is what the others say, or the ceiling where that is lower. */
static void weigh(const struct said *said, double ceiling, struct level *level)
{
    double both = said->variance + said->noise_variance, weight = said->variance / both;
    double open_mean = said->mean + weight * (said->seen - said->mean);
    double below = gsl_cdf_ugaussian_P((ceiling - open_mean) / sqrt(said->variance * (1.0 - weight)));
    double at = gsl_cdf_ugaussian_Q((ceiling - said->mean) / sqrt(said->variance)) *
                gsl_ran_gaussian_pdf(said->seen - ceiling, sqrt(said->noise_variance + gsl_pow_2(SOFT_STD))) /
                gsl_ran_gaussian_pdf(said->seen - said->mean, sqrt(both));

    level->log_factor += log(below + at);
    level->n_at += at / (below + at);
}

static bool is_far_below(const struct said *said, double level)
{
    return level - said->mean > FAR_BELOW * sqrt(said->variance) &&
           level - said->seen > FAR_BELOW * sqrt(said->noise_variance + gsl_pow_2(SOFT_STD));
}

static void weigh_levels(const struct belief *belief, double first, struct level *levels)
{
    for (size_t point = 0; point < belief->space->n_points; point++) {
        struct said said = {.seen = belief->moments[point].mean};

        if (!belief_usable(belief, point) || !belief_leave_out(belief, point, &said.mean, &said.variance))
            continue;
        said.noise_variance = belief_told_variance(belief, point);
        if (is_far_below(&said, first))
            continue;
        for (size_t i = 0; i < BELIEF_CEILING_LEVELS; i++)
            weigh(&said, first + STEP * (double)i, &levels[i]);
    }
}

void belief_ceiling_learn(const struct belief *belief, struct belief_ceiling *ret_ceiling)
{
    struct level levels[BELIEF_CEILING_LEVELS] = {0};
    double highest = 0.0, sum;
    size_t best = belief_best(belief, 1);

    *ret_ceiling = (struct belief_ceiling){0};
    if (best >= belief->space->n_points)
        return;
    ret_ceiling->first = belief->mean[best] - BELOW_BEST;
    weigh_levels(belief, ret_ceiling->first, levels);
    for (size_t i = 0; i < BELIEF_CEILING_LEVELS; i++) {
        if (!(levels[i].n_at >= LEAST_POINTS))
            levels[i].log_factor = -INFINITY;
        highest = fmax(highest, levels[i].log_factor);
    }
    /* Without a ceiling the factor is 1. */
    sum = exp(-highest);
    for (size_t i = 0; i < BELIEF_CEILING_LEVELS; i++) {
        ret_ceiling->probability[i] = PRIOR_ODDS * STEP / PRIOR_WIDTH * exp(levels[i].log_factor - highest);
        sum += ret_ceiling->probability[i];
    }
    for (size_t i = 0; i < BELIEF_CEILING_LEVELS; i++)
        ret_ceiling->probability[i] /= sum;
}

double belief_ceiling_up_to(const struct belief_ceiling *ceiling, double response, double std)
{
    double sum = 0.0, softness = hypot(SOFT_STD, std);

    for (size_t i = 0; i < BELIEF_CEILING_LEVELS; i++)
        sum += ceiling->probability[i] *
               gsl_cdf_ugaussian_P((response - ceiling->first - STEP * (double)i) / softness);
    return sum;
}

double belief_ceiling_draw(const struct belief_ceiling *ceiling, gsl_rng *rng)
{
    double left = gsl_rng_uniform(rng), softness = gsl_ran_gaussian_ziggurat(rng, SOFT_STD);

    for (size_t i = 0; i < BELIEF_CEILING_LEVELS; i++) {
        left -= ceiling->probability[i];
        if (left < 0.0)
            return ceiling->first + STEP * (double)i + softness;
    }
    return INFINITY;
}

void belief_ceiling_lower(const struct belief *belief, const size_t *points, size_t n, double ceiling,
                          double *draw)
{
    for (size_t i = 0; i < n; i++)
        draw[i] = fmin(draw[i],
                       belief_usable(belief, points[i]) ? belief->ceiling : fmin(ceiling, belief->ceiling));
}

double belief_likely_ceiling(const struct belief *belief, double confidence)
{
    struct belief_ceiling learnt;
    double sum = 0.0, mean = 0.0;

    if (belief->chosen == NULL)
        return INFINITY;
    belief_ceiling_learn(belief, &learnt);
    for (size_t i = 0; i < BELIEF_CEILING_LEVELS; i++) {
        sum += learnt.probability[i];
        mean += learnt.probability[i] * (learnt.first + STEP * (double)i);
    }
    return sum >= confidence ? mean / sum : INFINITY;
}
