/* The rate of a setting inside a virtual machine, from its rate on the host. */
#include "models/impact/guest_rate.h"

#include <math.h>

static double half_width(struct atomic_cost cost)
{
    return isfinite(cost.interval.low) ? (cost.interval.high - cost.interval.low) / 2 : 0;
}

struct atomic_cost guest_rate_added(struct atomic_cost small, double small_bytes, struct atomic_cost large,
                                    double large_bytes, double bytes)
{
    const double noise = hypot(half_width(small), half_width(large));
    const double weight =
        large.s - small.s > noise ? (bytes - small_bytes) / (large_bytes - small_bytes) : 0.5;
    const double middle = (1 - weight) * small.s + weight * large.s;
    const double half = hypot((1 - weight) * half_width(small), weight * half_width(large));
    return (struct atomic_cost){middle, {middle - half, middle + half}};
}

double guest_rate(double requests_per_s, unsigned in_flight, double added_s, double shared_s)
{
    const double added = fmax(added_s, 0), shared = fmin(fmax(shared_s, 0), added);
    const double delay_s = in_flight / requests_per_s + shared;
    double waiting = 0, rate = 0; /* of n requests: how many are at the processor */
    for (unsigned n = 1; n <= in_flight; n++) {
        const double there_s = (added - shared) * (1 + waiting);
        rate = n / (delay_s + there_s);
        waiting = rate * there_s;
    }
    return rate;
}
