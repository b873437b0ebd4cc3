/* models/impact/base_sequence: what a running program costs the rest of the system, by the delay of a
 * reference program between its observation points (Qian and Wang 2006).
 *
 * t_0 .. t_m are the times at which the reference passes its observation points when it runs alone (the base
 * sequence), t'_0 .. t'_m those beside the program (a delayed sequence). With D_j = t_j - t_(j-1):
 *
 *     PCost = sum over j = 1..m of (D'_j - D_j) / (D'_j + D_j)
 *
 * The paper prints t'_j + t_j below the line; only the form above gives the figures of its own tables. A term
 * lies in -1..1, so that one wild interval cannot decide alone, and two runs of equal distribution give 0 on
 * average. */
#pragma once

#include "models/statistics/student.h"

#include <stddef.h>

/* A load of more than this is heavy: the paper saw other programs start sluggishly beyond it. */
#define BASE_SEQUENCE_HEAVY_SHARE 0.25

/* 0; -EINVAL: fewer than 2 times, one that is not finite, or one before its predecessor; *ret_at is then its
 * index. */
int base_sequence_check(const double *times_s, size_t n, size_t *ret_at);

/* PCost of one pair of sequences that base_sequence_check accepts. An interval that is 0 in both adds 0. */
double base_sequence_cost(const double *base_s, const double *delayed_s, size_t n);

/* The same of a reference that goes on and on and gets through so much a second alone and beside the program:
 * each of the n_times - 1 intervals has the mean length then. */
double base_sequence_cost_of_rates(double alone, double beside, size_t n_times);

/* Several runs: rows of n_times, run by run. Run i alone is the partner of run i beside the program. */
struct base_sequence_runs {
    const double *base_s, *delayed_s;
    size_t n_runs, n_times;
};

struct base_sequence_estimate {
    double cost_share;                 /* mean of the pairs' PCost */
    struct interval cost;              /* Student-t over the pairs; NaN below 3 */
    double slowdown;                   /* mean time of the reference beside the program / alone */
    struct interval slowdown_interval; /* of the mean log ratio of the pairs, as a ratio; NaN below 3 */
};

/* n_runs >= 1, n_times >= 2, sequences that base_sequence_check accepts and that do not take 0 s in all. 0;
 * -EINVAL; -ENOMEM. */
int base_sequence_estimate(const struct base_sequence_runs *runs, double confidence_share,
                           struct base_sequence_estimate *ret);

/* Several references, each with as many runs: the mean of their PCosts, run by run, and its interval. Errors
 * as base_sequence_estimate. */
int base_sequence_average(const struct base_sequence_runs *references, size_t n_references,
                          double confidence_share, double *ret_cost_share, struct interval *ret_interval);

/* Interval j = 1..n_times - 1: mean lengths and mean term over the runs. */
struct base_sequence_step {
    double base_s, delayed_s, cost_share;
};

struct base_sequence_step base_sequence_step_of(const struct base_sequence_runs *runs, size_t j);
