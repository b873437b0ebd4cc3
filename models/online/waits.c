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
    for (unsigned group = 0; group < LATENCY_N_CLASSES; group++) {
        if (own->n[group] == 0 || beside->n[group] == 0)
            continue;
        waits->own.n[group] += own->n[group];
        waits->own.n_slow[group] += own->n_slow[group];
        waits->beside.n[group] += beside->n[group];
        waits->beside.n_slow[group] += beside->n_slow[group];
        double share = (double)own->n_slow[group] / (double)own->n[group];
        moments_add(&waits->shares[group], share);
        moments_add(&waits->more[group], share - (double)beside->n_slow[group] / (double)beside->n[group]);
    }
}

bool waits_are_known(const struct waits *waits, uint64_t n_requests, uint64_t n_trials)
{
    bool are = false;
    for (unsigned group = 0; group < LATENCY_N_CLASSES; group++)
        are = are || (waits->own.n[group] >= n_requests && waits->shares[group].n >= n_trials);
    return are;
}

/* The lower end of the mean's interval. */
static double least_of(const struct moments *moments)
{
    double n = (double)moments->n;
    return moments->mean - student_quantile(CONFIDENCE, n - 1) * moments->std / sqrt(n);
}

static bool is_long(const struct waits *waits, unsigned group)
{
    uint64_t n = waits->own.n[group], n_slow = waits->own.n_slow[group];
    if (waits->shares[group].n < 2 || n_slow == 0 || n > UINT_MAX)
        return false;
    double usual = fmax(BEYOND_P99, (double)waits->beside.n_slow[group] / (double)waits->beside.n[group]);
    return least_of(&waits->shares[group]) > BEYOND_P99 && least_of(&waits->more[group]) > 0 &&
           gsl_cdf_binomial_Q((unsigned)n_slow - 1, usual, (unsigned)n) < 1 - CONFIDENCE;
}

bool waits_are_long(const struct waits *waits)
{
    return is_long(waits, LATENCY_MOVES) || is_long(waits, LATENCY_FLUSHES);
}

bool waits_are_clearly_long(const struct latency_share *share)
{
    bool are = false;
    for (unsigned group = 0; group < LATENCY_N_CLASSES; group++)
        are = are ||
              (share->n_slow[group] >= AWFUL_LEAST && share->n_slow[group] * AWFUL_PART > share->n[group]);
    return are;
}
