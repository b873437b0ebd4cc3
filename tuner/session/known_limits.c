/* Rates that a cgroup lets last. */
#include "tuner/session/known_limits.h"

#include <math.h>

/* Of the bytes read, so many came from the device: the others were read ahead before the run's counters
 * began, or are counted in a moment. */
#define FROM_DEVICE_SHARE 0.9

/* Runs of a search are not longer. */
#define LONGEST_RUN_SECONDS 2

/* blk-throttle lends what it lets through in one of its slices, which are at most a tenth of a second long
 * (block/blk-throttle.c of Linux 6); a run may begin in one slice and end in another. */
#define MOST_LENT_SECONDS 0.2

/* What is above the limit by less, the clocks of both explain. */
#define BURST_TOLD 1.01

/* Writes through the page cache, of which so much may be dirty: the flush that makes them durable keeps the
 * limits, as long as nothing was written back before it. */
static bool binds_buffered(const struct storage_stack *stack, const struct point *point, double written_bytes)
{
    return point->sync != SYNC_NONE && written_bytes <= stack->dirty_background_bytes;
}

static bool is_bound(const struct storage_stack *stack, const struct measure_plan *plan,
                     const struct measure_result *result)
{
    double read_bytes = (double)result->total_bytes_read, written_bytes = (double)result->total_bytes_written;
    if (plan->point.direct != 0)
        return true;
    return (result->bytes_read == 0 || result->monitor.own_read_bytes >= FROM_DEVICE_SHARE * read_bytes) &&
           (result->bytes_written == 0 || binds_buffered(stack, &plan->point, written_bytes));
}

/* What `rate` has to be multiplied with, so that it does not pass the limit. */
static double share_that_lasts(double rate, double limit)
{
    return limit > 0 && rate > limit ? limit / rate : 1;
}

bool known_limits_exist(const struct storage_stack *stack)
{
    return stack->caps_known && (stack->cap_read_bps > 0 || stack->cap_write_bps > 0 ||
                                 stack->cap_read_iops > 0 || stack->cap_write_iops > 0);
}

void known_limits_apply(const struct storage_stack *stack, const struct measure_plan *plan,
                        struct measure_result *result)
{
    double bytes = (double)(result->bytes_read + result->bytes_written);
    if (!stack->caps_known || bytes <= 0 || !is_bound(stack, plan, result))
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

bool known_limits_shows_burst(const struct measure_result *result)
{
    return result->burst_bps > BURST_TOLD * result->throughput_bps;
}

uint64_t known_limits_debt_ns(const struct measure_result *result)
{
    double bytes = (double)(result->total_bytes_read + result->total_bytes_written);
    if (!(result->burst_bps > 0) || !(result->throughput_bps > 0))
        return 0;
    double debt_seconds = bytes / result->throughput_bps - result->monitor.span_s;
    return debt_seconds > 0 ? (uint64_t)(fmin(debt_seconds, MOST_LENT_SECONDS) * 1e9) : 0;
}

double known_limits_ceiling(const struct storage_stack *stack, const struct pattern *pattern,
                            const struct point *point, bool cold)
{
    bool direct = point->direct != 0;
    bool bound = direct || ((cold || !pattern_reads(pattern)) &&
                            (!pattern_writes(pattern) ||
                             binds_buffered(stack, point, LONGEST_RUN_SECONDS * stack->cap_write_bps)));
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
