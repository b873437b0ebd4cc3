/* tuner/search/tune_transient: runs whose start differs from the rest, see models/statistics/run_length. */
#pragma once

#include "bench/run/measure.h"
#include "models/statistics/student.h"
#include "tuner/session/samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tune;

#define TUNE_TRANSIENT_N_WINDOWS 24
/* Length of the pilot's runs without warm-up that show the start. */
#define TUNE_TRANSIENT_RUN_NS 400000000ULL
/* Runs without warm-up last this many settling times, so that the start is a small part of them. */
#define TUNE_TRANSIENT_UNWARMED_RATIO 2

/* What runs of different points show of their starts. */
struct tune_transient {
    double rates[TUNE_TRANSIENT_N_WINDOWS]; /* sums over the runs, by share of the run */
    size_t n_runs;
    struct moments log_ratios; /* of the first quarter's rate by the second half's, of runs that lasted */
    bool taken_off;            /* from the rates of runs that do not wait for it */
};

/* Adds a run of TUNE_TRANSIENT_RUN_NS, of which n windows were over before it began to drain its queue. */
void tune_transient_add(struct tune_transient *start, const struct pump_windows *windows, size_t n);

/* Decides once, when the pilot knows how long starts last, whether the search waits for them to pass. If not,
 * they are taken off what was measured so far. Needs at least three runs that lasted, and none that did not.
 * 0 or -ENOMEM. */
int tune_transient_decide(struct tune *tune);

/* Takes the start off throughput and IOPS of a run, and off the mean latency of a replay after the choice,
 * which holds little of it; other latencies stay. Does nothing where starts are waited for. */
void tune_transient_take_off(const struct tune *tune, struct sample *sample);

/* Rate that the search's shortest runs measure by the settled rate; 1 where nothing is taken off. */
double tune_transient_ratio(const struct tune *tune);

/* Warns the user of it, once the length of runs is decided. */
void tune_transient_tell(const struct tune *tune);

/* Changes a plan for this point that waits for the start into the one to use. */
void tune_transient_plan(const struct tune *tune, size_t point, bool confirming, struct measure_plan *plan);

/* Tells the engine how many seconds a run of each point takes, beside set-up and its length, to wait for its
 * start. */
void tune_transient_tell_waits(struct tune *tune);
