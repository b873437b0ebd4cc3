/* models/statistics/levels: one level or two, by the cut of the sorted values that explains most of their
 * scatter. */
#include "models/statistics/levels.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_IN_A_LEVEL 2
#define LEAST_RATIO      1.05 /* levels closer than that need no name */

/* What `explained` reaches in 1 of 500 normal samples: 400,000 samples for each n up to 30, then 100,000,
 * drawn with GSL's mt19937 from seed 1. test_levels simulates some of them again. */
static const struct {
    size_t n;
    double explained;
} critical[] = {
    {6, 0.9857},  {7, 0.9746},  {8, 0.9627},  {9, 0.9512},  {10, 0.9382}, {11, 0.9278},
    {12, 0.9172}, {13, 0.9076}, {14, 0.8992}, {15, 0.8912}, {16, 0.8850}, {18, 0.8714},
    {20, 0.8596}, {24, 0.8415}, {30, 0.8196}, {40, 0.7973}, {60, 0.7680}, {100, 0.7385},
};

#define N_CRITICAL (sizeof(critical) / sizeof(critical[0]))

struct level_cut {
    size_t n_low;
    double explained; /* share of the squares around the mean that lies between the groups */
};

static struct level_cut best_cut(const double *sorted, size_t n)
{
    struct level_cut best = {0};
    double mean = 0, squares = 0, below = 0;

    for (size_t i = 0; i < n; i++)
        mean += sorted[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (sorted[i] - mean) * (sorted[i] - mean);
    for (size_t k = 1; k + LEAST_IN_A_LEVEL <= n; k++) {
        double between;
        below += sorted[k - 1] - mean;
        between = below * below * (double)n / ((double)k * (double)(n - k));
        if (k >= LEAST_IN_A_LEVEL && squares > 0 && between / squares > best.explained)
            best = (struct level_cut){.n_low = k, .explained = between / squares};
    }
    return best;
}

static double critical_at(size_t n)
{
    for (size_t i = 1; i < N_CRITICAL; i++) {
        if (n <= critical[i].n) {
            double share = (double)(n - critical[i - 1].n) / (double)(critical[i].n - critical[i - 1].n);
            return critical[i - 1].explained + share * (critical[i].explained - critical[i - 1].explained);
        }
    }
    return critical[N_CRITICAL - 1].explained;
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* Both the values and their logarithms must fall into two: each scale makes skew of its own kind look like a
 * level. */
static void judge(double *sorted, size_t n, struct levels_verdict *ret_verdict)
{
    struct level_cut cut = best_cut(sorted, n);
    double low, high, bound = critical_at(n);

    if (cut.n_low == 0 || cut.explained <= bound)
        return;
    low = mean_of(sorted, cut.n_low);
    high = mean_of(sorted + cut.n_low, n - cut.n_low);
    for (size_t i = 0; i < n; i++)
        sorted[i] = log(sorted[i]);
    if (best_cut(sorted, n).explained <= bound || high < LEAST_RATIO * low)
        return;
    *ret_verdict = (struct levels_verdict){
        .two = true, .low = low, .high = high, .n_low = cut.n_low, .n_high = n - cut.n_low};
}

int levels_of(const double *values, size_t n, struct levels_verdict *ret_verdict)
{
    struct levels_verdict verdict = {.low = NAN, .high = NAN};
    double *sorted;

    for (size_t i = 0; i < n; i++) {
        if (!(values[i] > 0 && isfinite(values[i])))
            return -EINVAL;
    }
    if (n >= LEVELS_MIN_REPLAYS) {
        sorted = malloc(n * sizeof(*sorted));
        if (sorted == NULL)
            return -ENOMEM;
        memcpy(sorted, values, n * sizeof(*sorted));
        gsl_sort(sorted, 1, n);
        judge(sorted, n, &verdict);
        free(sorted);
    }
    *ret_verdict = verdict;
    return 0;
}
