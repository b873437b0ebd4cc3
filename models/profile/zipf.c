/* models/profile/zipf: one exponent, its error, and whether it says the truth. */
#include "models/profile/zipf.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_USES   5     /* of a block whose rank is trusted */
#define LEAST_BLOCKS 20    /* of such ones */
#define LEAST_TOTAL  500.0 /* uses of these */
#define LARGEST      4.0
#define EVEN_RATIO   1.5  /* of variance and mean, which is 1 where chance alone makes the difference */
#define MISFIT       0.05 /* of the uses, in the interval of ranks that fits worst */
#define STEPS        60

static int by_uses(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Mean and variance of ln r under r^-theta on 1..n. */
static void moments(double theta, size_t n, double *ret_mean, double *ret_variance)
{
    double sum = 0, first = 0, second = 0;
    for (size_t r = 1; r <= n; r++) {
        double log_r = log((double)r), weight = exp(-theta * log_r);
        sum += weight;
        first += weight * log_r;
        second += weight * log_r * log_r;
    }
    *ret_mean = first / sum;
    *ret_variance = second / sum - *ret_mean * *ret_mean;
}

/* Where the mean of ln r is the observed one; it falls as theta grows. */
static double solve(double observed, size_t n, double *ret_variance)
{
    double low = 0, high = LARGEST, mean;
    for (int i = 0; i < STEPS; i++) {
        double middle = (low + high) / 2;
        moments(middle, n, &mean, ret_variance);
        *(mean > observed ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

/* The largest difference between observed and expected shares of 1, 2-3, 4-7 ... */
static double find_misfit(const uint32_t *uses, size_t n, double total, double theta)
{
    double sum = 0, worst = 0;
    for (size_t r = 1; r <= n; r++)
        sum += pow((double)r, -theta);
    for (size_t first = 1; first <= n; first *= 2) {
        double observed = 0, expected = 0;
        for (size_t r = first; r < 2 * first && r <= n; r++) {
            observed += uses[r - 1];
            expected += pow((double)r, -theta);
        }
        worst = fmax(worst, fabs(observed / total - expected / sum));
    }
    return worst;
}

static void fit_ranks(struct zipf *zipf, const uint32_t *uses, size_t n)
{
    double total = 0, log_sum = 0, variance;
    size_t n_trusted = 0;
    for (; n_trusted < n && uses[n_trusted] >= LEAST_USES; n_trusted++) {
        total += uses[n_trusted];
        log_sum += uses[n_trusted] * log((double)(n_trusted + 1));
    }
    if (n_trusted < LEAST_BLOCKS || total < LEAST_TOTAL)
        return;
    zipf->is_known = true;
    zipf->theta = solve(log_sum / total, n_trusted, &variance);
    zipf->error = 1 / sqrt(total * fmax(variance, 1e-9));
    zipf->fits = find_misfit(uses, n_trusted, total, zipf->theta) <= MISFIT;
}

static double sum_of(const uint32_t *uses, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += uses[i];
    return sum;
}

void zipf_fit(struct zipf *zipf, uint32_t *uses, size_t n)
{
    static const double hottest[] = {0.01, 0.10, 0.20};
    *zipf = (struct zipf){0};
    if (n == 0)
        return;
    qsort(uses, n, sizeof *uses, by_uses);
    double total = sum_of(uses, n), mean = total / (double)n, squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (uses[i] - mean) * (uses[i] - mean);
    for (size_t i = 0; i < 3; i++)
        zipf->share_of_hottest[i] = sum_of(uses, (size_t)ceil(hottest[i] * (double)n)) / total;
    /* Blocks of which most were used once say nothing of what is used more. */
    if (n >= LEAST_BLOCKS && mean >= 2 && squares / (double)n <= EVEN_RATIO * mean) {
        zipf->is_known = zipf->fits = true;
        return;
    }
    fit_ranks(zipf, uses, n);
}
