/* Two tests of the share of slow requests. */
#include "models/online/waits.h"

#include <gsl/gsl_cdf.h>
#include <limits.h>
#include <math.h>

#define BEYOND_P99  0.01
#define CONFIDENCE  0.95
#define AWFUL_PART  8 /* one request of so many */
#define AWFUL_LEAST 8

void waits_add(struct waits *waits, const struct latency_share *own, const struct latency_share *beside)
{
    for (unsigned class = 0; class < LATENCY_N_CLASSES; class ++) {
        if (own->n[class] == 0 || beside->n[class] == 0)
            continue;
        waits->own.n[class] += own->n[class];
        waits->own.n_slow[class] += own->n_slow[class];
        waits->beside.n[class] += beside->n[class];
        waits->beside.n_slow[class] += beside->n_slow[class];
        double share = (double)own->n_slow[class] / (double)own->n[class];
        moments_add(&waits->shares[class], share);
        moments_add(&waits->more[class], share - (double)beside->n_slow[class] / (double)beside->n[class]);
    }
}

bool waits_are_known(const struct waits *waits, uint64_t n_requests, uint64_t n_trials)
{
    bool are = false;
    for (unsigned class = 0; class < LATENCY_N_CLASSES; class ++)
        are = are || (waits->own.n[class] >= n_requests && waits->shares[class].n >= n_trials);
    return are;
}

/* The lower end of the mean's interval. */
static double least_of(const struct moments *moments)
{
    double n = (double)moments->n;
    return moments->mean - student_quantile(CONFIDENCE, n - 1) * moments->std / sqrt(n);
}

static bool is_long(const struct waits *waits, unsigned class)
{
    uint64_t n = waits->own.n[class], n_slow = waits->own.n_slow[class];
    if (waits->shares[class].n < 2 || n_slow == 0 || n > UINT_MAX)
        return false;
    double usual = fmax(BEYOND_P99, (double)waits->beside.n_slow[class] / (double)waits->beside.n[class]);
    return least_of(&waits->shares[class]) > BEYOND_P99 && least_of(&waits->more[class]) > 0 &&
           gsl_cdf_binomial_Q((unsigned)n_slow - 1, usual, (unsigned)n) < 1 - CONFIDENCE;
}

bool waits_are_long(const struct waits *waits)
{
    return is_long(waits, LATENCY_MOVES) || is_long(waits, LATENCY_FLUSHES);
}

bool waits_are_clearly_long(const struct latency_share *share)
{
    bool are = false;
    for (unsigned class = 0; class < LATENCY_N_CLASSES; class ++)
        are = are ||
              (share->n_slow[class] >= AWFUL_LEAST && share->n_slow[class] * AWFUL_PART > share->n[class]);
    return are;
}
