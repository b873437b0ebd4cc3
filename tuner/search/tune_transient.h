/* tuner/search/tune_transient: runs that start unlike they go on, see models/statistics/run_length. */
#pragma once

#include "bench/run/measure.h"
#include "models/statistics/student.h"
#include "tuner/session/samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tune;

#define TUNE_TRANSIENT_N_WINDOWS 16
/* Of the pilot's runs without warm-up that show the start. */
#define TUNE_TRANSIENT_RUN_NS 400000000ULL
/* What is left of a start when it drowns in the noise still counts. */
#define TUNE_TRANSIENT_SETTLED_MARGIN 1.5
/* Length of runs that have no warm-up, by the settling time: the start is then a small part of them. */
#define TUNE_TRANSIENT_UNWARMED_RATIO 2

/* Of runs of different points. */
struct tune_transient {
    double rates[TUNE_TRANSIENT_N_WINDOWS]; /* sums over the runs, by share of the run */
    size_t n_runs;
    struct moments log_ratios; /* of the first quarter's rate by the second half's, of runs that lasted */
    bool taken_off;            /* from the rates of runs that do not wait for it */
};

/* Of a run of TUNE_TRANSIENT_RUN_NS. n: of the windows that were over before it began to drain its queue. */
void tune_transient_add(struct tune_transient *start, const struct pump_windows *windows, size_t n);

/* Once, when the pilot knows how long starts last: does the search wait them out? Where it does not, what was
 * measured so far is freed from them. Needs at least three runs that lasted, and none that did not. 0 or
 * -ENOMEM. */
int tune_transient_decide(struct tune *tune);

/* Frees throughput and IOPS of a run from its start, and the mean latency of a replay after the choice, which
 * is hardly within it; the other latencies stay as they are. Does nothing where starts are waited out. */
void tune_transient_take_off(const struct tune *tune, struct sample *sample);

/* Rate of the search's shortest runs as measured by the settled rate; 1 where nothing is taken off. */
double tune_transient_ratio(const struct tune *tune);

/* Warns the user of it, once the length of runs is decided. */
void tune_transient_tell(const struct tune *tune);

/* What a plan for this point, made as if starts are waited out, must be instead. */
void tune_transient_plan(const struct tune *tune, size_t point, bool confirming, struct measure_plan *plan);

/* What a run of the point takes beside set-up and the length of runs to wait for its start. */
double tune_transient_seconds(const struct tune *tune, size_t point, bool confirming);
