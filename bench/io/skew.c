/* bench/io/skew: skewed numbers. */
#include "bench/io/skew.h"

#include <math.h>
#include <stdbool.h>

#define TINY 1e-8

/* (e^x - 1) / x and log(1 + x) / x, which are 1 at 0. */
static double expm1_over(double x)
{
    return fabs(x) > TINY ? expm1(x) / x : 1 + x / 2;
}

static double log1p_over(double x)
{
    return fabs(x) > TINY ? log1p(x) / x : 1 - x / 2;
}

/* The integral of x^-theta from 1, and the inverse of it. */
static double integral(double theta, double x)
{
    return expm1_over((1 - theta) * log(x)) * log(x);
}

static double integral_inverse(double theta, double y)
{
    return exp(log1p_over(fmax(y * (1 - theta), -1)) * y);
}

void skew_draw_init(struct skew_draw *draw, const struct skew *skew, uint64_t n_places, uint64_t seed)
{
    double n_hot = round(skew->hot_share * (double)n_places), theta = skew->theta;
    *draw = (struct skew_draw){.skew = *skew, .n_places = n_places};
    draw->n_hot = n_hot < 1 ? 1 : (uint64_t)n_hot;
    rng_init(&draw->rng, seed);
    if (skew->kind != SKEW_ZIPF)
        return;
    draw->first = integral(theta, 1.5) - 1;
    draw->last = integral(theta, (double)n_places + 0.5);
    draw->accepted = 2 - integral_inverse(theta, integral(theta, 2.5) - pow(2, -theta));
}

static uint64_t next_rank(struct skew_draw *draw)
{
    const double theta = draw->skew.theta, n = (double)draw->n_places;
    for (;;) {
        double y = draw->last + rng_uniform(&draw->rng) * (draw->first - draw->last);
        double x = integral_inverse(theta, y), k = fmin(fmax(floor(x + 0.5), 1), n);
        if (k - x <= draw->accepted || y >= integral(theta, k + 0.5) - pow(k, -theta))
            return (uint64_t)k - 1;
    }
}

static uint64_t next_below(struct rng *rng, uint64_t n)
{
    uint64_t k = (uint64_t)(rng_uniform(rng) * (double)n);
    return k < n ? k : n - 1;
}

static uint64_t next_place(struct skew_draw *draw)
{
    bool is_hot = rng_uniform(&draw->rng) < draw->skew.hot_access_share;
    if (is_hot || draw->n_hot == draw->n_places)
        return next_below(&draw->rng, draw->n_hot);
    return draw->n_hot + next_below(&draw->rng, draw->n_places - draw->n_hot);
}

uint64_t skew_draw_next(struct skew_draw *draw)
{
    return draw->skew.kind == SKEW_ZIPF ? next_rank(draw) : next_place(draw);
}
