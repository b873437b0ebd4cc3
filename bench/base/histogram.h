/* bench/base/histogram: latencies by log-linear buckets, mergeable.
 *
 * 64 buckets per power of two: a bucket's middle is within 0.8 % of every value in it. Values below 128 ns
 * are exact, values from 2^HISTOGRAM_MAX_LOG2 ns on land in the last bucket; minimum, maximum and sum are
 * kept exactly. Adding never allocates or fails. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_LOG2  6
#define HISTOGRAM_MAX_LOG2  38 /* 2^38 ns = 275 s */
#define HISTOGRAM_N_BUCKETS ((HISTOGRAM_MAX_LOG2 - HISTOGRAM_SUB_LOG2 + 1) << HISTOGRAM_SUB_LOG2)

struct histogram {
    uint64_t n;
    uint64_t min_ns; /* UINT64_MAX when empty */
    uint64_t max_ns;
    double sum_ns;
    uint64_t buckets[HISTOGRAM_N_BUCKETS];
};

void histogram_init(struct histogram *histogram);

/* Records n values of latency_ns each. */
void histogram_add(struct histogram *histogram, uint64_t latency_ns, uint64_t n);

/* Leaves one in `every`, evenly over the buckets; the smallest and the largest stay as they are. */
void histogram_thin(struct histogram *histogram, uint64_t every);

void histogram_merge(struct histogram *into, const struct histogram *from);

/* Smallest recorded value (to bucket accuracy, clamped into [min, max]) with at least share*n values not
 * above it; share in [0,1]. 0, -ENODATA for an empty histogram, -EINVAL for a share outside 0..1 or NaN;
 * output untouched on failure. */
int histogram_quantile_ns(const struct histogram *histogram, double share, uint64_t *ret_ns);

/* The same for n ascending shares, in one pass. -EINVAL also when they do not ascend. */
int histogram_quantiles_ns(const struct histogram *histogram, const double *shares, size_t n,
                           uint64_t *ret_ns);

/* 0 or -ENODATA. */
int histogram_mean_ns(const struct histogram *histogram, double *ret_ns);

/* Standard deviation (n - 1 denominator) to bucket accuracy; 0 for fewer than two values. */
double histogram_std_ns(const struct histogram *histogram);
