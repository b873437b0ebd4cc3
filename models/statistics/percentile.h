/* models/statistics/percentile: which order statistics bound a percentile?
 *
 * Distribution-free (binomial ranks; Maricq et al., OSDI 2018). Requests of a run are not independent, and
 * runs differ: the sample size is divided by a design effect, the between-run variance of the share beyond
 * the percentile over what independent requests would give (Kish 1965). */
#pragma once

#include <stddef.h>

struct percentile_bounds {
    double low_share, high_share; /* the interval runs between these quantiles of the sample; NaN: the sample
                                     supports none */
};

/* Bounds the percentile `share` (0..1) of n values worth n / design_effect independent ones (design_effect >=
 * 1). NaN bounds where even the sample's minimum or maximum does not bound it at this confidence (0..1). */
struct percentile_bounds percentile_bounds_of(double share, double n, double design_effect,
                                              double confidence);

/* beyond[i] of n[i] values of run i lie beyond the pooled percentile. Because few runs tell little about
 * their variance, it is raised by the square of Student's quantile over the normal one, so that the ranks of
 * percentile_bounds_of at the same confidence give Student's interval over runs. >= 1; 1 for fewer than two
 * runs. */
double percentile_design_effect(const double *beyond, const double *n, size_t n_runs, double confidence);
