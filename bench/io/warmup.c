/* bench/io/warmup: the test of Erofeev 2021 for "warm", and the statistics of batches. */
#include "bench/io/warmup.h"

#include <errno.h>
#include <math.h>

int warmup_init(struct warmup *warmup, double coef, size_t n_window)
{
    if (!(coef > 0.0) || n_window < 2 || n_window > WARMUP_WINDOW_MAX)
        return -EINVAL;
    *warmup = (struct warmup){.coef = coef, .n_window = n_window};
    return 0;
}

/* The sums are made anew each time: a running sum of squares would lose its digits to one huge first
 * batch. */
static bool is_stable(const struct warmup *warmup)
{
    struct batch_stats stats;
    batch_stats_init(&stats);
    for (size_t i = 0; i < warmup->n_window; i++)
        batch_stats_add(&stats, warmup->batch_ns[i]);
    return batch_stats_std_ns(&stats) <= warmup->coef * stats.mean_ns;
}

bool warmup_add(struct warmup *warmup, double batch_latency_ns)
{
    warmup->batch_ns[warmup->n_seen % warmup->n_window] = batch_latency_ns;
    warmup->n_seen++;
    return warmup->n_seen >= warmup->n_window && is_stable(warmup);
}

void batch_stats_init(struct batch_stats *stats)
{
    *stats = (struct batch_stats){0};
}

void batch_stats_add(struct batch_stats *stats, double batch_latency_ns)
{
    stats->n++;
    double from_old_mean = batch_latency_ns - stats->mean_ns;
    stats->mean_ns += from_old_mean / (double)stats->n;
    stats->m2 += from_old_mean * (batch_latency_ns - stats->mean_ns);
    if (stats->n == 1 || batch_latency_ns < stats->min_ns)
        stats->min_ns = batch_latency_ns;
    if (stats->n == 1 || batch_latency_ns > stats->max_ns)
        stats->max_ns = batch_latency_ns;
}

double batch_stats_std_ns(const struct batch_stats *stats)
{
    return stats->n < 2 ? 0.0 : sqrt(stats->m2 / (double)(stats->n - 1));
}
