/* tuner/doubts: everything that can make a number of fstune a fake, in one table, and the rules that find it.
 *
 * Rules are pure: facts in, codes out. Facts of a run are struct measure_result; facts of a command (file,
 * device, machine) are struct doubts_ground, filled by tuner/ground. A fact that is NaN is unknown, and no
 * rule fires on it. */
#ifndef FSTUNE_TUNER_DOUBTS_H
#define FSTUNE_TUNER_DOUBTS_H

#include "bench/content.h"
#include "bench/extents.h"
#include "bench/measure.h"
#include "bench/medium.h"
#include "bench/watch.h"
#include "models/student.h"
#include "tuner/notes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the table. Codes that are out are stable: scripts and --accept name them. */
enum doubt {
    /* of a run */
    DOUBT_WARMUP_NOT_STABLE,
    DOUBT_DEPTH_NOT_ACHIEVED,
    DOUBT_LATENCY_SELF_CHECK,
    DOUBT_NOT_COLD,
    DOUBT_CACHE_STATE_UNVERIFIED,
    DOUBT_NOT_SETTLED,
    DOUBT_PVEC_CONTIGUOUS,
    DOUBT_SERVED_FROM_CACHE,
    DOUBT_GENERATOR_CPU_BOUND,
    DOUBT_RATE_CAPPED,
    DOUBT_THROTTLED_DURING_RUN,
    DOUBT_NEIGHBOUR_BUSY,
    DOUBT_STEAL,
    DOUBT_CLOCK_STEP,
    DOUBT_RUN_CUT,
    DOUBT_WRITES_ABSORBED,
    DOUBT_MEMORY_FIRST_TOUCH,
    /* of several runs */
    DOUBT_RATE_PINNED,
    DOUBT_RANDOM_FASTER_THAN_SEQUENTIAL,
    /* of the file and the machine */
    DOUBT_EXISTING_HAS_HOLES,
    DOUBT_EXISTING_HAS_UNWRITTEN,
    DOUBT_EXISTING_COMPRESSED,
    DOUBT_COMPRESSIBLE_DATA,
    DOUBT_MEMORY_BACKED_LOOP,
    DOUBT_MEMORY_BACKED,
    DOUBT_FILE_FITS_DEVICE_CACHE,
    DOUBT_NEARLY_FULL,
    DOUBT_FRAGMENTED,
    /* of the command; noted where they are found */
    DOUBT_DIRECT_NOT_PROVED,
    DOUBT_DEVICE_NEVER_QUIET,
    DOUBT_RUN_REPEATED,
    DOUBT_MAX_WRITE,
    DOUBT_NOT_CONFIRMED,
    DOUBT_NO_LOCK,
    DOUBT_N
};

/* Sets of doubts are masks of these. */
#define DOUBTS_BIT(doubt) (UINT64_C(1) << (doubt))

/* When a doubt disqualifies a point; a mask of conditions that must all hold. */
enum {
    DOUBTS_BUFFERED = 1, /* points with direct 0 */
    DOUBTS_DIRECT = 2,   /* points with direct 1 */
    DOUBTS_ANY = DOUBTS_BUFFERED | DOUBTS_DIRECT,
    DOUBTS_IF_READS = 4,       /* only if the pattern reads */
    DOUBTS_IF_COLD = 8,        /* only if the page cache was to be empty */
    DOUBTS_IF_SYNC_CHOSEN = 16 /* only if the user did not pin sync to one value */
};

struct doubts_row {
    const char *code;
    unsigned disqualifies; /* 0: never */
    bool passes;           /* a passing disturbance: a run that has it is worth repeating */
    const char *text;      /* what it means and what to do */
};

extern const struct doubts_row doubts_table[DOUBT_N];

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

/* The doubt of a code; DOUBT_N when there is none. */
enum doubt doubts_find(const char *code);

/* Turns the doubts of a row into warnings of the command. */
void doubts_note(struct notes *warnings, uint64_t doubts, uint64_t disqualifying);

#endif
