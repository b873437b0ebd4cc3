/* Rates that a cgroup lets last. */
#include "tuner/session/known_limits.h"

#include <math.h>

/* Of the bytes read, so many came from the device: the others were read ahead before the run's counters
 * began, or are counted in a moment. */
#define FROM_DEVICE_SHARE 0.9

/* Writes through the page cache reach the device later, and by version 1 of cgroups unlimited. */
static bool is_bound(const struct measure_plan *plan, const struct measure_result *result)
{
    if (plan->point.direct != 0)
        return true;
    return !pattern_writes(&plan->pattern) &&
           result->monitor.own_read_bytes >= FROM_DEVICE_SHARE * (double)result->total_bytes_read;
}

/* What `rate` has to be multiplied with, so that it does not pass the limit. */
static double share_that_lasts(double rate, double limit)
{
    return limit > 0 && rate > limit ? limit / rate : 1;
}

void known_limits_apply(const struct storage_stack *stack, const struct measure_plan *plan,
                        struct measure_result *result)
{
    double bytes = (double)(result->bytes_read + result->bytes_written);
    if (!stack->caps_known || bytes <= 0 || !is_bound(plan, result))
        return;
    double reads = (double)result->bytes_read / bytes, bps = result->throughput_bps;
    double share = fmin(share_that_lasts(reads * bps, stack->cap_read_bps),
                        share_that_lasts((1 - reads) * bps, stack->cap_write_bps));
    /* Requests through the page cache are merged on their way. */
    if (plan->point.direct != 0)
        share = fmin(share, fmin(share_that_lasts(reads * result->iops, stack->cap_read_iops),
                                 share_that_lasts((1 - reads) * result->iops, stack->cap_write_iops)));
    if (share == 1)
        return;
    result->burst_bps = result->throughput_bps;
    result->throughput_bps *= share;
    result->iops *= share;
}

double known_limits_ceiling(const struct storage_stack *stack, const struct pattern *pattern,
                            const struct point *point, bool cold)
{
    bool direct = point->direct != 0, bound = direct || (cold && !pattern_writes(pattern));
    double reads = (pattern->percent[PATTERN_SEQ_READ] + pattern->percent[PATTERN_RAND_READ]) / 100.0;
    double size = (double)point->request_size_bytes, ceiling = INFINITY;
    if (!stack->caps_known || !bound || factors_is_split(point))
        return ceiling;
    const double limits[] = {stack->cap_read_bps, stack->cap_read_iops * size, stack->cap_write_bps,
                             stack->cap_write_iops * size};
    for (size_t i = 0; i < 4; i++) {
        double share = i < 2 ? reads : 1 - reads;
        bool merged = i % 2 == 1 && !direct;
        if (limits[i] > 0 && share > 0 && !merged)
            ceiling = fmin(ceiling, limits[i] / share);
    }
    return ceiling;
}
