/* Rate against delay under noise: what is dominated, what is on the front, where the knee is. */
#include "models/search/pareto.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

/* A loss of log power beyond what saturation explains: the rate falls by 30 % where it should hold. */
#define STEEP_SLACK M_LN2

struct draw {
    double *rate, *delay;
    size_t *order; /* ascending delay */
};

double pareto_score_of(struct pareto_score score, double log_rate, double log_delay)
{
    return fmin(log_rate, score.log_enough) - score.delay_weight * log_delay;
}

static bool dominates(const struct pareto_point *a, const struct pareto_point *b, double confidence)
{
    /* The bounds cost a quantile each; most pairs are told apart by their means. */
    if (a->rate.moments.mean <= b->rate.moments.mean || a->delay.moments.mean >= b->delay.moments.mean)
        return false;
    return compare_bounds(&a->rate, &b->rate, confidence).low > 0 &&
           compare_bounds(&a->delay, &b->delay, confidence).high < 0;
}

void pareto_dominated(const struct pareto_point *points, size_t n, double confidence, bool *ret_dominated)
{
    for (size_t i = 0; i < n; i++) {
        ret_dominated[i] = false;
        for (size_t k = 0; k < n && !ret_dominated[i]; k++)
            ret_dominated[i] = k != i && dominates(&points[k], &points[i], confidence);
    }
}

static double standard_error(const struct contender *contender)
{
    return sqrt(contender->run_variance / (double)contender->moments.n);
}

/* One draw of the truth behind every point. */
static void draw_truth(const struct pareto_point *points, size_t n, const struct pareto_draws *draws,
                       struct draw *ret_draw)
{
    double rest = sqrt(1 - gsl_pow_2(draws->correlation));
    for (size_t i = 0; i < n; i++) {
        const struct contender *rate = &points[i].rate, *delay = &points[i].delay;
        double df = fmin(rate->run_df, delay->run_df);
        double widen = sqrt(df / gsl_ran_chisq(draws->rng, df));
        double first = gsl_ran_ugaussian(draws->rng), second = gsl_ran_ugaussian(draws->rng);
        second = draws->correlation * first + rest * second;
        ret_draw->rate[i] = rate->moments.mean + widen * first * standard_error(rate);
        ret_draw->delay[i] = delay->moments.mean + widen * second * standard_error(delay);
    }
}

/* Adds 1 to the counts of the points that none beats by more than the margin in both. */
static void count_front(struct draw *draw, size_t n, double margin, double *counts)
{
    size_t next = 0;
    double highest = -INFINITY; /* rate of the points that are faster to answer by more than the margin */
    gsl_sort_index(draw->order, draw->delay, 1, n);
    for (size_t k = 0; k < n; k++) {
        size_t i = draw->order[k];
        while (draw->delay[draw->order[next]] < draw->delay[i] - margin)
            highest = fmax(highest, draw->rate[draw->order[next++]]);
        counts[i] += highest <= draw->rate[i] + margin;
    }
}

static void count_top(const struct draw *draw, size_t n, struct pareto_score score, double margin,
                      double *counts)
{
    double highest = -INFINITY;
    for (size_t i = 0; i < n; i++)
        highest = fmax(highest, pareto_score_of(score, draw->rate[i], draw->delay[i]));
    for (size_t i = 0; i < n; i++)
        counts[i] += pareto_score_of(score, draw->rate[i], draw->delay[i]) >= highest - margin;
}

int pareto_shares(const struct pareto_point *points, size_t n, struct pareto_draws draws,
                  const struct pareto_score *score, double margin, double *ret_share)
{
    struct draw draw = {.rate = malloc((n + 1) * sizeof(double)),
                        .delay = malloc((n + 1) * sizeof(double)),
                        .order = malloc((n + 1) * sizeof(size_t))};
    double *counts = calloc(n + 1, sizeof *counts);
    bool ready = draw.rate != NULL && draw.delay != NULL && draw.order != NULL && counts != NULL;
    for (size_t k = 0; k < draws.n_draws && ready; k++) {
        draw_truth(points, n, &draws, &draw);
        if (score == NULL)
            count_front(&draw, n, margin, counts);
        else
            count_top(&draw, n, *score, margin, counts);
    }
    for (size_t i = 0; i < n && ready; i++)
        ret_share[i] = counts[i] / (double)draws.n_draws;
    free(draw.rate);
    free(draw.delay);
    free(draw.order);
    free(counts);
    return ready ? 0 : -ENOMEM;
}

bool pareto_is_steep(const struct contender *point, const struct contender *neighbour, double octaves,
                     double confidence)
{
    return compare_bounds(neighbour, point, confidence).high < -octaves * M_LN2 - STEEP_SLACK;
}
