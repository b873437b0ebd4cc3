/* models/statistics/percentile: ranks from the binomial distribution, by bisection. */
#include "models/statistics/percentile.h"

#include "models/statistics/student.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* From so many values on both sides of the percentile the normal distribution gives the ranks to well below
 * their spread, and the incomplete beta function may need more terms than GSL grants it. */
#define NORMAL_FROM 1000.0

/* Probability that fewer than `rank` of n values lie at or below the percentile. */
static double probability_below(double rank, double share, double n)
{
    return gsl_cdf_beta_Q(share, rank, n - rank + 1);
}

/* Largest rank in 0..n whose order statistic lies above the percentile with probability <= tail at most. */
static double low_rank_of(double share, double n, double tail)
{
    double low = 0, high = n + 1;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (probability_below(middle, share, n) <= tail)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double normal_rank_of(double share, double n, double tail)
{
    return floor(share * n + gsl_cdf_ugaussian_Pinv(tail) * sqrt(n * share * (1 - share)));
}

/* By symmetry this serves the upper bound too: rank r from above is rank r of the mirrored sample. */
static double rank_of(double share, double n, double tail)
{
    return n * share * (1 - share) >= NORMAL_FROM ? normal_rank_of(share, n, tail)
                                                  : low_rank_of(share, n, tail);
}

struct percentile_bounds percentile_bounds_of(double share, double n, double design_effect, double confidence)
{
    struct percentile_bounds none = {.low_share = NAN, .high_share = NAN};
    if (!(share > 0 && share < 1 && confidence > 0 && confidence < 1 && design_effect >= 1 &&
          n >= design_effect))
        return none;
    double count = floor(n / design_effect), tail = (1 - confidence) / 2;
    double from_below = rank_of(share, count, tail), from_above = rank_of(1 - share, count, tail);
    if (from_below < 1 || from_above < 1)
        return none;
    return (struct percentile_bounds){.low_share = from_below / count,
                                      .high_share = (count - from_above + 1) / count};
}

double percentile_design_effect(const double *beyond, const double *n, size_t n_runs, double confidence)
{
    double sum_beyond = 0, sum_n = 0, squares = 0, runs = (double)n_runs;
    for (size_t i = 0; i < n_runs; i++) {
        sum_beyond += beyond[i];
        sum_n += n[i];
    }
    double share = sum_beyond / sum_n;
    if (n_runs < 2 || !(share > 0 && share < 1))
        return 1;
    /* The share is a ratio of two sums over runs: its variance comes from the residuals (Cochran 1977, 6.3).
     */
    for (size_t i = 0; i < n_runs; i++)
        squares += pow(beyond[i] - share * n[i], 2);
    double widening =
        student_quantile(0.5 + confidence / 2, runs - 1) / gsl_cdf_ugaussian_Pinv(0.5 + confidence / 2);
    double effect = runs / (runs - 1) * squares / (sum_n * share * (1 - share)) * widening * widening;
    return fmax(effect, 1);
}
