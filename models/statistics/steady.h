/* models/statistics/steady: named rules that say when rounds of a measurement have become steady (`measure
 * --until-steady`). */
#pragma once

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

/* "fstune": the drift over the last half of all rounds (at least five, and more where they scatter too much)
 * is within 2 %, and known well enough to rule out 5 % (one-sided, 95 %; the residuals' lag-1 correlation is
 * allowed for), at two looks in a row. Independent flat rounds that scatter by 1, 3, 5 % need 7, 35, 99
 * (means of 400 simulations, docs/statistics.md). "snia": SNIA PTS as TKperf codes it: over the last 5 rounds
 * range <= 20 % and |slope x 4| <= 10 % of the average. */
extern const struct steady_rule steady_rules[];
extern const size_t steady_n_rules;

/* The fitted line through a series, its drift with the standard error that its scatter and their lag-1
 * correlation leave; met is false, n_rounds n. NaN where n < 3 or the mean is 0. */
struct steady_state steady_line(const double *rates, size_t n);

const struct steady_rule *steady_find(const char *name); /* NULL when unknown */
