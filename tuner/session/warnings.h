/* tuner/session/warnings: the rules that find doubtful numbers; codes and texts are in
 * tuner/base/warnings_table.
 *
 * Rules are pure: facts in, codes out. Facts of a run are struct measure_result; those of a command (file,
 * device, machine) are struct target_facts. A fact that is NaN is unknown, and no rule fires on it. */
#pragma once

#include "bench/run/measure.h"
#include "bench/run/run_monitor.h"
#include "bench/target/compressibility.h"
#include "bench/target/extents.h"
#include "bench/target/storage_stack.h"
#include "models/statistics/student.h"
#include "tuner/base/notes.h"
#include "tuner/base/warnings_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of the file, the device and the machine. */
struct target_facts {
    bool existing;       /* a user's file */
    uint64_t file_bytes; /* 0: unknown */
    struct storage_stack stack;
    struct extents extents; /* before the first run */
    bool compressibility_known;
    struct compressibility compressibility; /* of an existing file */
    struct run_monitor_idle idle;           /* before the first run */
    bool free_pages_taken;                  /* the machine's host takes back memory that is free */
    double growth_per_gib;                  /* of fragments during the command; NaN: unknown */
};

/* An offered rate is served where no more of the requests had to begin later than the run's end. */
#define WARNINGS_LATE_SHARE 0.03

bool warnings_is_served(uint64_t n_requests, uint64_t n_late);

/* What was asked for. */
struct warnings_asked {
    struct pattern pattern;
    bool cold;        /* the page cache was to be empty; false on a surface */
    bool sync_pinned; /* --sync has one value */
    bool beside;      /* other loads of ours run, too */
};

/* Nothing known: no rule fires. */
void target_facts_init(struct target_facts *target_facts);

/* Collects what is known of an opened target, before the first run, which takes some 0.1 s of looking at the
 * idle device. Never fails: what cannot be learnt stays unknown. */
void target_facts_collect(struct target_facts *target_facts, const struct target *target,
                          const struct hostinfo_device *device);

/* After the last run: how much the file broke up meanwhile. */
void target_facts_finish(struct target_facts *target_facts, const struct target *target);

/* Only block devices under this machine's own file systems count a process's reads. */
bool warnings_counts_reads(const struct storage_stack *stack);

/* Warnings about a point that need no run. */
uint64_t warnings_of_point(const struct warnings_asked *asked, const struct point *point);

/* Warnings about one run, those of its point among them. */
uint64_t warnings_of_run(const struct warnings_asked *asked, const struct target_facts *target_facts,
                         const struct measure_plan *plan, const struct measure_result *result);

/* Warnings about the file, the device and the machine: they concern all runs. */
uint64_t warnings_of_target(const struct warnings_asked *asked, const struct target_facts *target_facts);

/* True when the newest runs of a point lie pinned at one rate far below what an earlier one reached, as a
 * token bucket does it. bps: throughputs in order of time. */
bool warnings_pinned(const double *bps, size_t n);

/* True when random access is faster than sequential access beyond noise. Moments of log throughput. */
bool warnings_random_faster(struct moments random, struct moments sequential);

/* Those of the set that disqualify this point. */
uint64_t warnings_disqualifying(uint64_t set, const struct warnings_asked *asked, const struct point *point);

/* Those of the set that come from passing disturbances, so that the run is worth repeating. */
uint64_t warnings_passing(uint64_t set);

/* Turns the warnings of a row into warnings of the command. */
void warnings_note(struct notes *warnings, uint64_t warning_set, uint64_t disqualifying);
