/* tuner/session/sustained: would the rate last? The windows of all runs of a command, in the order of time,
 * and what models/statistics/trace makes of them.
 *
 * A run whose final flush counts (interfaces, section 5) is one window: what happened inside was absorbed by
 * the page cache. */
#pragma once

#include "bench/run/measure.h"
#include "models/statistics/levels.h"
#include "models/statistics/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sustained_run {
    size_t point;   /* the caller's number of the point */
    double seconds; /* of the timed part */
    double bps;
    uint64_t bytes;         /* of the timed part */
    uint64_t written_bytes; /* of them */
    uint64_t load_bytes;    /* that the command had moved before this run was asked for, filling and warm-ups
                               included */
    uint64_t request_size_bytes;
    uint64_t n_in_flight; /* requests */
    bool flushed;
    struct pump_windows windows;
};

struct sustained {
    struct sustained_run *runs;
    size_t n, capacity;
};

/* Appends a run of a point. 0 or -ENOMEM. */
int sustained_add(struct sustained *sustained, size_t point, uint64_t load_bytes,
                  const struct measure_plan *plan, const struct measure_result *result);
void sustained_done(struct sustained *sustained); /* accepts a zeroed one */

#define SUSTAINED_HIDDEN_SHARE 0.20
#define SUSTAINED_LEAST_S      5.0 /* of a point in a search: what was seen for less has no shape */

struct sustained_verdict {
    struct trace_verdict trace;            /* shape TRACE_SHORT: nothing can be said; indices count windows */
    struct levels_verdict levels;          /* over the runs, as wholes */
    double drift_share, drift_error_share; /* over the windows that the verdict calls steady, else over all
                                              after the warm-up; NaN for too few */
    bool hidden; /* it may be steady, but the scatter could hide a change of more than SUSTAINED_HIDDEN_SHARE,
                    or it left a steady state by little and not for long */
    double window_seconds;
    size_t n_runs;
    double seconds; /* over which the rate was seen */
    uint64_t bytes, written_bytes;
    bool burst; /* a higher rate came to its end: */
    double burst_bps, after_bps;
    double burst_seconds;      /* of measured time until then */
    uint64_t burst_load_bytes; /* that the command had moved until then */
};

/* Judges the runs of one point. between_runs: looks for changes between whole runs too. In a search, whose
 * runs of a point are short and far apart, sustained_judge_command does that with all points, and a point is
 * judged only when it was seen for SUSTAINED_LEAST_S. 0, -ENODATA without runs, -ENOMEM. */
int sustained_judge(const struct sustained *sustained, size_t point, bool between_runs,
                    struct sustained_verdict *ret_verdict);

/* What became of all points together while the command ran. */
struct sustained_change {
    bool fell_or_rose; /* at one moment */
    bool drifted;
    double ratio;        /* of the rates after to those before; of the last to the first */
    uint64_t load_bytes; /* fell_or_rose: that the command had moved until then */
};

/* 0, or -ENOMEM. */
int sustained_judge_command(const struct sustained *sustained, struct sustained_change *ret_change);
