/* bench/base/histogram: log-linear buckets, found without a loop or a table. */
#include "bench/base/histogram.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define SUB_BUCKETS (1ULL << HISTOGRAM_SUB_LOG2)

/* Bucket i < 2 * SUB_BUCKETS holds the value i alone; from there on every power of two has SUB_BUCKETS
 * buckets of width 2^shift. The bit that is or-ed in makes small values take the same way with shift 0. */
static size_t bucket_of(uint64_t ns)
{
    const uint64_t last = (1ULL << HISTOGRAM_MAX_LOG2) - 1;
    if (ns > last)
        ns = last;
    unsigned shift = 63U - (unsigned)__builtin_clzll(ns | SUB_BUCKETS) - HISTOGRAM_SUB_LOG2;
    return (size_t)(((uint64_t)shift << HISTOGRAM_SUB_LOG2) + (ns >> shift));
}

static uint64_t middle_of(size_t bucket)
{
    if (bucket < 2 * SUB_BUCKETS)
        return bucket;
    unsigned shift = (unsigned)(bucket >> HISTOGRAM_SUB_LOG2) - 1;
    uint64_t first = ((uint64_t)bucket - ((uint64_t)shift << HISTOGRAM_SUB_LOG2)) << shift;
    return first + (1ULL << (shift - 1));
}

void histogram_init(struct histogram *histogram)
{
    memset(histogram, 0, sizeof(*histogram));
    histogram->min_ns = UINT64_MAX;
}

void histogram_add(struct histogram *histogram, uint64_t latency_ns, uint64_t n)
{
    if (n == 0)
        return;
    histogram->buckets[bucket_of(latency_ns)] += n;
    histogram->n += n;
    histogram->sum_ns += (double)latency_ns * (double)n;
    if (latency_ns < histogram->min_ns)
        histogram->min_ns = latency_ns;
    if (latency_ns > histogram->max_ns)
        histogram->max_ns = latency_ns;
}

void histogram_thin(struct histogram *histogram, uint64_t every)
{
    uint64_t before = histogram->n, left = every / 2;
    histogram->n = 0;
    for (size_t i = 0; i < HISTOGRAM_N_BUCKETS; i++) {
        left += histogram->buckets[i];
        histogram->buckets[i] = left / every;
        left %= every;
        histogram->n += histogram->buckets[i];
    }
    if (before > 0)
        histogram->sum_ns *= (double)histogram->n / (double)before;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (size_t i = 0; i < HISTOGRAM_N_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
    into->n += from->n;
    into->sum_ns += from->sum_ns;
    if (from->min_ns < into->min_ns)
        into->min_ns = from->min_ns;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
}

/* share * n rounded up, in 1..n. The product of 0.07 and 100 is a little above 7 in binary: without the
 * allowance it would round up to 8. */
static uint64_t rank_of(double share, uint64_t n)
{
    double wanted = share * (double)n * (1.0 - 2.0 * DBL_EPSILON);
    uint64_t rank = (uint64_t)wanted;
    if ((double)rank < wanted || rank == 0)
        rank++;
    return rank < n ? rank : n;
}

static uint64_t clamp_ns(const struct histogram *histogram, uint64_t value_ns)
{
    if (value_ns < histogram->min_ns)
        return histogram->min_ns;
    return value_ns > histogram->max_ns ? histogram->max_ns : value_ns;
}

int histogram_quantiles_ns(const struct histogram *histogram, const double *shares, size_t n,
                           uint64_t *ret_ns)
{
    double least = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(shares[i] >= least && shares[i] <= 1.0))
            return -EINVAL;
        least = shares[i];
    }
    if (histogram->n == 0)
        return -ENODATA;
    uint64_t seen = histogram->buckets[0];
    size_t bucket = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t rank = rank_of(shares[i], histogram->n);
        while (seen < rank && bucket < HISTOGRAM_N_BUCKETS - 1)
            seen += histogram->buckets[++bucket];
        /* The smallest and the largest value are known exactly, wherever their buckets end. */
        ret_ns[i] = rank == histogram->n ? histogram->max_ns
                    : rank == 1          ? histogram->min_ns
                                         : clamp_ns(histogram, middle_of(bucket));
    }
    return 0;
}

int histogram_quantile_ns(const struct histogram *histogram, double share, uint64_t *ret_ns)
{
    return histogram_quantiles_ns(histogram, &share, 1, ret_ns);
}

int histogram_mean_ns(const struct histogram *histogram, double *ret_ns)
{
    if (histogram->n == 0)
        return -ENODATA;
    *ret_ns = histogram->sum_ns / (double)histogram->n;
    return 0;
}

double histogram_std_ns(const struct histogram *histogram)
{
    if (histogram->n < 2)
        return 0;
    double mean = histogram->sum_ns / (double)histogram->n, squares = 0;
    for (size_t i = 0; i < HISTOGRAM_N_BUCKETS; i++) {
        double apart = (double)middle_of(i) - mean;
        squares += (double)histogram->buckets[i] * apart * apart;
    }
    return sqrt(squares / (double)(histogram->n - 1));
}
