/* models/statistics/compare: which of several measured points are as good as the best? (interfaces, section
 * 6: eligible, undecided)
 *
 * Comparisons use replays only, never the surrogate. */
#pragma once

#include "models/statistics/student.h"

#include <stdbool.h>
#include <stddef.h>

struct contender {
    struct moments moments; /* of the response (log scale), n replays */
    double run_variance;    /* of one run, > 0 (shrunk) */
    double run_df;          /* its degrees of freedom */
};

enum verdict {
    VERDICT_EQUIVALENT, /* lower bound of (contender - best) >= -margin: proved */
    VERDICT_UNDECIDED,  /* could be within the margin, not proved */
    VERDICT_WORSE       /* upper bound < -margin: proved worse */
};

/* Confidence bounds of contender - best (NaN where one has no replay), from shrunk variances with
 * Satterthwaite's degrees of freedom; equal points (a == b by address) give 0, 0. */
struct interval compare_bounds(const struct contender *a, const struct contender *best,
                               double confidence_one_sided);

/* Verdicts of all n contenders against contenders[best], each one-sided bound at 1 - (1 -
 * confidence)/n_compared: Bonferroni over the comparisons, where n_compared = max(1, number of contenders
 * whose upper bound at `confidence` reaches -margin, best apart). Contenders with fewer than min_replays
 * replays are UNDECIDED unless proved worse. The best itself is EQUIVALENT.
 *
 * Where best is the highest sample mean of the same replays, EQUIVALENT keeps its error (the choice only
 * raises the bar), but WORSE does not: it then compares the highest of n with the lowest, which goes wrong
 * more often than 1 - confidence when the noise is far above the margin. */
void compare_all(const struct contender *contenders, size_t n, size_t best, double margin, double confidence,
                 size_t min_replays, enum verdict *ret_verdicts);

/* Error probability that the k-th look (k = 1, 2, ...) may spend so that all looks together spend alpha:
 * alpha * 6 / (pi^2 k^2). */
double compare_spend(double alpha, size_t look);
