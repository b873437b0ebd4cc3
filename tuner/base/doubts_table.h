/* tuner/base/doubts_table: everything that can make a number of fstune a fake: codes, texts, and when a point
 * that has it is not recommended. */
#ifndef FSTUNE_TUNER_BASE_DOUBTS_TABLE_H
#define FSTUNE_TUNER_BASE_DOUBTS_TABLE_H

#include <stdbool.h>
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

/* The doubt of a code; DOUBT_N when there is none. */
enum doubt doubts_find(const char *code);

#endif
