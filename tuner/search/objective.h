/* tuner/search/objective: what a search compares points by, as figures for people and as a response for the
 * models.
 */
#pragma once

#include "bench/base/err.h"
#include "models/statistics/student.h"
#include "tuner/options/settings.h"
#include "tuner/session/candidates.h"
#include "tuner/session/samples.h"

#include <stdbool.h>
#include <stddef.h>

struct objective_row {
    const char *more;  /* of it is better, in words */
    const char *title; /* at the beginning of a line */
    const char *unit;
    bool lower;    /* is better */
    bool one_load; /* compares only points that move the same bytes with the same threads */
    double (*value)(const struct sample *sample); /* > 0; NaN: the run does not support it */
};

extern const struct objective_row objective_table[]; /* by enum objective */

/* What the search compares by: the log of the objective's value, its sign turned where lower is better; with
 * --profile the score of that profile (tuner/search/profiles). reference_log_bps: log of the highest rate
 * known, which the floor of low-latency refers to. Higher is better; NaN: the run does not support it. */
double objective_response(const struct settings *settings, double reference_log_bps,
                          const struct sample *sample);

/* The tolerance on that scale, > 0. */
double objective_margin(const struct settings *settings);

/* A margin of that scale as people read it: a loss of the rate, or a rise of the latency. */
double objective_share(const struct settings *settings, double margin);

/* The rate that is offered in each run of the search (--rate); 0 without. */
double objective_offered_bps(const struct settings *settings, const struct point *point);

/* With --rate: the objective becomes latency, unless p99 was asked for. 0; -EINVAL where the search cannot be
 * for one rate. Before the search is set up. */
int objective_take_rate(struct settings *settings, struct err *err);

/* Refuses what cannot be compared: latencies over several sizes or numbers of threads, --profile together
 * with an objective of another kind. 0 or -EINVAL. */
int objective_check(const struct settings *settings, const struct candidates *candidates, struct err *err);

/* Mean of the objective's values over replays, with the interval of section 5; -ENODATA where a replay has
 * none. */
struct objective_figure {
    double mean;
    struct interval ci;
    size_t n;
};
int objective_figure(enum objective objective, const struct record *record, bool confirming,
                     double confidence, struct objective_figure *ret_figure);

/* Moments of the logarithms of a value over all replays, or only over those after the choice. */
struct moments objective_log_moments(const struct record *record, bool confirming,
                                     double (*value)(const struct sample *sample));

/* Ratio of the values of two points, exp of the Welch interval. has: there is one. */
struct objective_ratio {
    bool has;
    double mean;
    struct interval ci;
};
struct objective_ratio objective_ratio_of(struct moments log_a, struct moments log_b, double confidence);
struct objective_ratio objective_ratio(const struct record *a, const struct record *b, bool confirming,
                                       double confidence, double (*value)(const struct sample *sample));
