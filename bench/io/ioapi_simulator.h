/* bench/io/ioapi_simulator: a simulated file system behind the I/O seam (interfaces, section 8).
 *
 * The truth comes in as a function pointer (bench/ knows no files of tables), chance as a generator, time as
 * a virtual clock that completions move on. All threads of a point are played in one queue of queue_depth x
 * threads calls. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/factors.h"
#include "bench/base/rng.h"

#include <stddef.h>
#include <stdint.h>

/* Meaning and units: interfaces, section 8; levels: docs/method.md. cv are coefficients of variation of
 * lognormals with mean 1. */
struct simulator_noise {
    double op_cv, op_ar1;
    double run_cv, run_cv_seconds;
    double outlier_probability, outlier_factor;
    double level_share, level_probability, level_factor;
    double drift_per_hour;
    double warmup_seconds, warmup_factor;
    double pulse_seconds, pulse_share;
    double setup_seconds;
};

struct simulator_trace_step {
    double seconds; /* virtual time since the start of the command from which the factor holds */
    double factor;
};

/* Disturbances of a whole command. Read-only while it runs. */
struct simulator_world {
    struct simulator_noise noise;
    const struct simulator_trace_step *trace; /* ascending; may be NULL */
    size_t n_trace;
    uint64_t *now_ns; /* the virtual clock's hand, 0 at the start of the command */
};

/* One run on it. Filled by simulator_run_init; owned by the caller; outlives the opened API. */
struct simulator_run {
    const struct simulator_world *world;
    struct rng rng;
    double truth_bps;  /* table's throughput of the point, all threads together */
    double run_factor; /* this run's disturbance, outlier and level included */
    uint64_t started_ns;
    uint64_t request_size_bytes;
    uint64_t largest_size_bytes; /* of reads and writes */
    uint32_t n_in_flight;        /* queue_depth x threads */
};

/* Draws the run's disturbance. duration_ns: planned length of the run (for run_cv_seconds);
 * truth_bps > 0. Spends the set-up time. */
void simulator_run_init(struct simulator_run *run, const struct simulator_world *world,
                        const struct point *point, double truth_bps, uint64_t duration_ns, uint64_t seed);

/* What multiplies the table's throughput of this point in the expectation of a run after its warm-up: two
 * levels, outliers, and the trace's last factor. Drift, which has no end, is left out. For ranking and for
 * intervals. */
double simulator_truth_factor(const struct simulator_world *world, const struct point *point);

/* How many requests one call of this run stands for: 1 with latency noise, else about 5 ms of one slot's
 * time. */
uint32_t simulator_requests_per_call(const struct simulator_run *run);
