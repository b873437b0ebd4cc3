/* The sum over the atomic tests, and its interval. */
#include "models/impact/atomic.h"

#include <errno.h>
#include <math.h>

static double square(double x)
{
    return x * x;
}

/* 0 where the bound is not known. */
static double below(struct atomic_cost cost)
{
    return isfinite(cost.interval.low) ? cost.s - cost.interval.low : 0;
}

static double above(struct atomic_cost cost)
{
    return isfinite(cost.interval.high) ? cost.interval.high - cost.s : 0;
}

int atomic_predict(struct atomic_cost host, const struct atomic_term *terms, size_t n,
                   struct atomic_prediction *ret)
{
    double vm_s = host.s, explained_s = 0, low = square(below(host)), high = square(above(host));
    if (!isfinite(host.s) || host.s < 0)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        const struct atomic_term *term = &terms[i];
        if (!isfinite(term->host.s) || !isfinite(term->guest.s) || !isfinite(term->count) || term->count < 0)
            return -EINVAL;
        vm_s += term->count * (term->guest.s - term->host.s);
        explained_s += term->count * term->host.s;
        /* A cheaper guest and a dearer host both lower the prediction. */
        low += square(term->count) * (square(below(term->guest)) + square(above(term->host)));
        high += square(term->count) * (square(above(term->guest)) + square(below(term->host)));
    }
    *ret = (struct atomic_prediction){
        .vm_s = vm_s, .interval = {vm_s - sqrt(low), vm_s + sqrt(high)}, .explained_s = explained_s};
    return 0;
}
