/* bench/io/warmup: when has a run warmed up? (Erofeev 2021, "warm-up")
 *
 * Requests are taken in batches of N because one request can be shorter than the clock's resolution. Over the
 * last `n_window` batch latencies (each the sum of its N request latencies) the run counts as stable when std
 * <= coef * mean. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WARMUP_WINDOW_MAX     64
#define WARMUP_COEF_DEFAULT   0.15
#define WARMUP_WINDOW_DEFAULT 8
#define WARMUP_BATCH_DEFAULT  10

struct warmup {
    double coef;
    size_t n_window;
    size_t n_seen;
    double batch_ns[WARMUP_WINDOW_MAX]; /* ring of the last n_window batch latencies */
};

/* coef > 0, 2 <= n_window <= WARMUP_WINDOW_MAX; 0 or -EINVAL. */
int warmup_init(struct warmup *warmup, double coef, size_t n_window);

/* Adds one batch latency; true once the window is full and stable. */
bool warmup_add(struct warmup *warmup, double batch_latency_ns);

/* Statistics over batches as the original prints them: minimum, maximum, mean and standard deviation (n - 1)
 * of the batch latencies, kept by Welford's recurrence. */
struct batch_stats {
    uint64_t n;
    double mean_ns, m2, min_ns, max_ns;
};

void batch_stats_init(struct batch_stats *stats);
void batch_stats_add(struct batch_stats *stats, double batch_latency_ns);
double batch_stats_std_ns(const struct batch_stats *stats); /* 0 for n < 2 */
