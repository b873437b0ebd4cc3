/* tuner/search/tune_length: how long the runs of a search are, and how long they warm up.
 *
 * Both are decided once, by a pilot: the first runs of the search, made at the shortest length that the
 * contract allows. They count as any others where that length stays; else they inform this decision alone. */
#pragma once

#include "bench/base/histogram.h"
#include "bench/run/measure.h"
#include "models/statistics/run_length.h"
#include "tuner/options/settings.h"
#include "tuner/search/rate_limit_bursts.h"
#include "tuner/search/tune_transient.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TUNE_LENGTH_SHARE  0.08 /* of the budget, for the pilot */
#define TUNE_LENGTH_POINTS 7    /* the baseline among them */
#define TUNE_LENGTH_RUNS   64
/* As long as a queue may take to fill. */
#define TUNE_LENGTH_WARMUP_NS 10000000ULL

struct tune;

/* What one run of the pilot showed. */
struct tune_length_run {
    size_t point;
    uint64_t duration_ns;    /* asked for */
    double seconds;          /* of its span */
    double overhead_seconds; /* warm-up left out */
    double warmup_seconds;
    double log_rate;
    double within;          /* as in models/statistics/run_length; NaN: unknown */
    double off;             /* as in models/statistics/line; NaN: its windows do not tell */
    double start_log_ratio; /* of its early to its late rate; NaN: its windows do not tell */
};

struct tune_length {
    bool decided; /* without a pilot, as a journal says */
    bool piloting;
    bool discarded; /* runs of this moment are neither kept as replays nor told to the belief */
    uint64_t warmup_limit_ns, warmup_least_ns;
    const char *why;
    struct tune_length_run runs[TUNE_LENGTH_RUNS];
    size_t n_runs;
    struct tune_transient start;
    struct rate_limit_bursts bursts;
    size_t n_discarded; /* runs that no record keeps */
};

/* Before anything is known: --duration, or a share of the budget for a grid, else the shortest. */
uint64_t tune_length_first_ns(const struct settings *settings);

/* Sets tune's length before the first run. */
void tune_length_init(struct tune *tune);

/* From now on runs have this length. */
void tune_length_set(struct tune *tune, uint64_t duration_ns);

/* The pilot and its decision. As tune_measure. */
int tune_length(struct tune *tune, struct err *err);

/* A run was made; cost_seconds: with all that belongs to it. */
void tune_length_note(struct tune *tune, size_t point, const struct measure_plan *plan,
                      const struct measure_result *result, const struct histogram *latency,
                      double cost_seconds);
