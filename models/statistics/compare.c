/* models/statistics/compare: verdicts about points against the best one. */
#include "models/statistics/compare.h"

#include <math.h>

struct interval compare_bounds(const struct contender *a, const struct contender *best,
                               double confidence_one_sided)
{
    struct welch welch;

    if (a == best)
        return (struct interval){.low = 0.0, .high = 0.0};
    if (a->moments.n == 0 || best->moments.n == 0)
        return (struct interval){.low = NAN, .high = NAN};
    welch = welch_from_variances(a->moments.mean - best->moments.mean, a->run_variance / (double)a->moments.n,
                                 a->run_df, best->run_variance / (double)best->moments.n, best->run_df);
    return (struct interval){.low = welch_lower(welch, confidence_one_sided),
                             .high = welch_upper(welch, confidence_one_sided)};
}

/* Contenders out of reach at the plain confidence cannot be called equivalent at any stricter one, so they do
 * not share the error. */
static size_t count_in_reach(const struct contender *contenders, size_t n, size_t best, double margin,
                             double confidence)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        struct interval bounds = compare_bounds(&contenders[i], &contenders[best], confidence);

        /* Bounds that do not exist (NaN) exclude nothing. */
        if (i != best && !(bounds.high < -margin))
            count++;
    }
    return count;
}

static enum verdict verdict_of(const struct contender *contender, const struct contender *best, double margin,
                               double confidence, size_t min_replays)
{
    struct interval bounds = compare_bounds(contender, best, confidence);

    if (contender == best)
        return VERDICT_EQUIVALENT;
    if (bounds.high < -margin)
        return VERDICT_WORSE;
    if (bounds.low >= -margin && contender->moments.n >= min_replays)
        return VERDICT_EQUIVALENT;
    return VERDICT_UNDECIDED;
}

void compare_all(const struct contender *contenders, size_t n, size_t best, double margin, double confidence,
                 size_t min_replays, enum verdict *ret_verdicts)
{
    size_t n_compared = count_in_reach(contenders, n, best, margin, confidence);
    double each = 1.0 - (1.0 - confidence) / (double)(n_compared > 0 ? n_compared : 1);

    for (size_t i = 0; i < n; i++)
        ret_verdicts[i] = verdict_of(&contenders[i], &contenders[best], margin, each, min_replays);
}

double compare_spend(double alpha, size_t look)
{
    double k = (double)look;

    /* The inverse squares of 1, 2, 3, ... add up to pi^2 / 6. */
    return alpha * 6.0 / (M_PI * M_PI * k * k);
}
