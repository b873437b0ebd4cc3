/* tuner/session/neighbour_costs: what runs cost their neighbours, for --neighbour-limit and --max-cost: the
 * light reference program of `fstune cost` runs beside each run, and alone before and after it. A run is
 * compared with these two alone, because what else the machine does changes from one minute to the next. */
#pragma once

#include "bench/observe/companion.h"
#include "bench/observe/pressure.h"
#include "models/statistics/student.h"
#include "tuner/session/session.h"

#define NEIGHBOUR_POINTS 7 /* observation points that costs are about, as those of `fstune cost` */

/* How far the reference got. */
struct neighbour_time {
    double steps, seconds;
    uint64_t end_ns;
};

struct neighbour_costs {
    struct reference reference;
    struct companion companion;
    struct neighbour_time before, beside, after; /* of the last run; what follows it comes before the next */
    double last_share;                           /* PCost of the last run; NaN: not known */
    uint64_t written_bytes;                      /* not counted yet */
    double fastest_bps;
    struct moments runs; /* their costs */
    double cost_seconds; /* sum of cost x length */
    double busy_seconds, waited_seconds;
    uint64_t first_ns;        /* when the first run began; 0: none did */
    struct pressure pressure; /* then */
};

/* All runs of a command together. */
struct neighbour_total {
    double cost_share;           /* over the whole time from the first run on, pauses included; NaN: no run */
    struct moments runs;         /* of the costs of single runs */
    double seconds;              /* from the first run on */
    double busy_seconds;         /* of them in runs */
    double waited_seconds;       /* before runs, to stay below --max-cost */
    struct pressure some_shares; /* of that time, in which tasks waited, ours among them; NaN: no account */
};

bool neighbour_costs_are_wanted(const struct settings *settings);

/* For the thread that prepares the session, behind its target: makes the reference's files. Nothing where no
 * costs are wanted. */
int neighbour_costs_open(struct session *session, struct err *err);

/* For the thread of a run, before it: waits until all runs together cost no more than --max-cost, and lets
 * the reference run alone, in proportion to the run's length, unless it just did. 0, also when interrupted or
 * where no costs are wanted; -EDQUOT with paused_out: the pause would leave no time of the budget for the
 * run; or another negative errno. */
int neighbour_costs_before_run(struct session *session, uint64_t run_ns, struct err *err);

/* For the same thread, after a run that was made: lets the reference run alone. */
int neighbour_costs_after_run(struct session *session, uint64_t run_ns, struct err *err);

/* After all this, also where the run failed: counts the bytes of the reference, and the cost. */
void neighbour_costs_count(struct session *session);

/* PCost of the last run (models/impact/base_sequence); NaN: not known. */
double neighbour_costs_last(const struct session *session);

struct neighbour_total neighbour_costs_total(const struct session *session);

/* What the reference writes at most in a run of so many seconds and before it; and what it may write then. */
double neighbour_costs_write_bytes(const struct session *session, double seconds);
void neighbour_costs_allow(struct session *session, double bytes);

/* Accepts a session without any. */
void neighbour_costs_close(struct session *session);
