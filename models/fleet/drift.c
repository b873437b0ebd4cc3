/* models/fleet/drift: a t test for each group, and one line that their p values have to stay below. */
#include "models/fleet/drift.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

struct drift drift_of(const double *log_ratios, size_t n, double confidence)
{
    struct moments moments = moments_of(log_ratios, n);
    struct drift drift = {.n = n, .ratio = exp(moments.mean), .bounds = {NAN, NAN}, .p = NAN};
    for (size_t i = 0; i < n; i++)
        drift.n_slower += log_ratios[i] < 0;
    if (n < DRIFT_LEAST_HOSTS)
        return drift;
    struct interval interval = student_interval(moments, confidence);
    drift.bounds = (struct interval){exp(interval.low), exp(interval.high)};
    double error = moments.std / sqrt((double)n);
    drift.p = error > 0           ? 2 * student_cdf(-fabs(moments.mean) / error, (double)n - 1)
              : moments.mean != 0 ? 0
                                  : 1;
    return drift;
}

int drift_discover(struct drift *groups, size_t n, double rate)
{
    double *p = malloc((n > 0 ? n : 1) * sizeof *p), limit = -1;
    size_t n_judged = 0;
    if (p == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (!isnan(groups[i].p))
            p[n_judged++] = groups[i].p;
    }
    gsl_sort(p, 1, n_judged);
    for (size_t i = 0; i < n_judged; i++) {
        if (p[i] <= rate * (double)(i + 1) / (double)n_judged)
            limit = p[i];
    }
    free(p);
    for (size_t i = 0; i < n; i++)
        groups[i].changed = groups[i].p <= limit;
    return 0;
}
