/* models/steady: named rules that say when rounds of a measurement have become steady (`measure
 * --until-steady`). */
#ifndef FSTUNE_MODELS_STEADY_H
#define FSTUNE_MODELS_STEADY_H

#include <stdbool.h>
#include <stddef.h>

#define STEADY_ROUNDS 5

struct steady_state {
    bool met;
    size_t n_rounds;    /* looked at: the last ones */
    double range_share; /* (max - min) / mean over them */
    double drift_share; /* of the fitted line from the first to the last of them, relative to the mean */
    double drift_error_share; /* standard error of that; NaN where the rule does not use it */
};

struct steady_rule {
    const char *name, *text;
    /* rates of all rounds so far, oldest first. met is false for fewer than STEADY_ROUNDS. */
    struct steady_state (*judge)(const double *rates, size_t n);
};

/* "fstune": drift over the last rounds (at least five, more where scatter demands it) within 2 %, known well
 * enough to say so. "snia": SNIA PTS as TKperf codes it: over the last 5 rounds range <= 20 % and |slope x 4|
 * <= 10 % of the average. */
extern const struct steady_rule steady_rules[];
extern const size_t steady_n_rules;

const struct steady_rule *steady_find(const char *name); /* NULL when unknown */

#endif
