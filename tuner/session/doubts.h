/* tuner/session/doubts: everything that can make a number of fstune a fake, in one table, and the rules that
 * find it.
 *
 * Rules are pure: facts in, codes out. Facts of a run are struct measure_result; facts of a command (file,
 * device, machine) are struct doubts_ground, filled by tuner/session/ground. A fact that is NaN is unknown,
 * and no rule fires on it. */
#ifndef FSTUNE_TUNER_SESSION_DOUBTS_H
#define FSTUNE_TUNER_SESSION_DOUBTS_H

#include "bench/run/measure.h"
#include "bench/run/watch.h"
#include "bench/target/content.h"
#include "bench/target/extents.h"
#include "bench/target/medium.h"
#include "models/statistics/student.h"
#include "tuner/base/doubts_table.h"
#include "tuner/base/notes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of the file, the device and the machine. */
struct doubts_ground {
    bool existing;       /* a user's file */
    uint64_t file_bytes; /* 0: unknown */
    struct medium medium;
    struct extents extents; /* before the first run */
    bool content_known;
    struct content content; /* of an existing file */
    struct watch_idle idle; /* before the first run */
    bool free_pages_taken;  /* the machine's host takes back memory that is free */
    double growth_per_gib;  /* of fragments during the command; NaN: unknown */
};

/* What was asked for. */
struct doubts_asked {
    struct pattern pattern;
    bool cold;        /* the page cache was to be empty; false on a surface */
    bool sync_pinned; /* --sync has one value */
};

/* Nothing known: no rule fires. */
void doubts_ground_init(struct doubts_ground *ground);

/* Doubts about a point that need no run. */
uint64_t doubts_of_point(const struct doubts_asked *asked, const struct point *point);

/* Doubts about one run, those of its point among them. */
uint64_t doubts_of_run(const struct doubts_asked *asked, const struct doubts_ground *ground,
                       const struct measure_plan *plan, const struct measure_result *result);

/* Doubts about everything that is measured on this ground. */
uint64_t doubts_of_ground(const struct doubts_asked *asked, const struct doubts_ground *ground);

/* True when the newest runs of a point lie pinned at one rate far below what an earlier one reached, as a
 * token bucket does it. bps: throughputs in order of time. */
bool doubts_pinned(const double *bps, size_t n);

/* True when random access is faster than sequential access beyond noise. Moments of log throughput. */
bool doubts_random_faster(struct moments random, struct moments sequential);

/* Those of the set that disqualify this point. */
uint64_t doubts_disqualifying(uint64_t set, const struct doubts_asked *asked, const struct point *point);

/* Those of the set that a repeated run may not have. */
uint64_t doubts_passing(uint64_t set);

/* Turns the doubts of a row into warnings of the command. */
void doubts_note(struct notes *warnings, uint64_t doubts, uint64_t disqualifying);

#endif
