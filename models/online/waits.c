/* Two tests of the share of slow requests. */
#include "models/online/waits.h"

#include <gsl/gsl_cdf.h>
#include <limits.h>
#include <math.h>

#define BEYOND_P99  0.01
#define CONFIDENCE  0.95
#define AWFUL_PART  8 /* one request of so many */
#define AWFUL_LEAST 8

void waits_add(struct waits *waits, struct latency_share own, struct latency_share beside)
{
    if (own.n == 0 || beside.n == 0)
        return;
    waits->own.n += own.n;
    waits->own.n_slow += own.n_slow;
    waits->beside.n += beside.n;
    waits->beside.n_slow += beside.n_slow;
    double share = (double)own.n_slow / (double)own.n;
    moments_add(&waits->shares, share);
    moments_add(&waits->more, share - (double)beside.n_slow / (double)beside.n);
}

/* The lower end of the mean's interval. */
static double least_of(const struct moments *moments)
{
    double n = (double)moments->n;
    return moments->mean - student_quantile(CONFIDENCE, n - 1) * moments->std / sqrt(n);
}

bool waits_are_long(const struct waits *waits)
{
    if (waits->shares.n < 2 || waits->own.n_slow == 0 || waits->own.n > UINT_MAX)
        return false;
    double usual = fmax(BEYOND_P99, (double)waits->beside.n_slow / (double)waits->beside.n);
    return least_of(&waits->shares) > BEYOND_P99 && least_of(&waits->more) > 0 &&
           gsl_cdf_binomial_Q((unsigned)waits->own.n_slow - 1, usual, (unsigned)waits->own.n) <
               1 - CONFIDENCE;
}

bool waits_are_clearly_long(struct latency_share share)
{
    return share.n_slow >= AWFUL_LEAST && share.n_slow * AWFUL_PART > share.n;
}
