/* tuner/base/warnings_table: everything that can make a number of fstune a fake: codes, texts, and when a
 * point that has it is not recommended. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* In the order of the table. Codes that are out are stable: scripts and --accept name them. */
enum warning {
    /* of a run */
    WARNING_WARMUP_NOT_STABLE,
    WARNING_DEPTH_NOT_ACHIEVED,
    WARNING_LATENCY_SELF_CHECK,
    WARNING_NOT_COLD,
    WARNING_CACHE_STATE_UNVERIFIED,
    WARNING_NOT_SETTLED,
    WARNING_PVEC_CONTIGUOUS,
    WARNING_SERVED_FROM_CACHE,
    WARNING_GENERATOR_CPU_BOUND,
    WARNING_RATE_CAPPED,
    WARNING_THROTTLED_DURING_RUN,
    WARNING_NEIGHBOUR_BUSY,
    WARNING_STEAL,
    WARNING_CLOCK_STEP,
    WARNING_RUN_CUT,
    WARNING_BESIDE_OVER_LIMIT,
    WARNING_RATE_NOT_SERVED,
    WARNING_WRITES_ABSORBED,
    WARNING_MEMORY_FIRST_TOUCH,
    WARNING_NETWORK_SLOTS,
    WARNING_CLIENT_DISK_CACHE,
    /* of several runs */
    WARNING_RATE_PINNED,
    WARNING_RANDOM_FASTER_THAN_SEQUENTIAL,
    /* of the file and the machine */
    WARNING_EXISTING_HAS_HOLES,
    WARNING_EXISTING_HAS_UNWRITTEN,
    WARNING_EXISTING_COMPRESSED,
    WARNING_COMPRESSIBLE_DATA,
    WARNING_MEMORY_BACKED_LOOP,
    WARNING_MEMORY_BACKED,
    WARNING_FILE_FITS_DEVICE_CACHE,
    WARNING_HOST_DURABILITY,
    WARNING_NEARLY_FULL,
    WARNING_FRAGMENTED,
    WARNING_SERVER_CACHE,
    WARNING_SERVER_DURABILITY,
    WARNING_SOFT_MOUNT,
    /* of the command; noted where they are found */
    WARNING_DIRECT_NOT_PROVED,
    WARNING_DEVICE_NEVER_QUIET,
    WARNING_RUN_REPEATED,
    WARNING_MAX_WRITE,
    WARNING_NOT_CONFIRMED,
    WARNING_NO_LOCK,
    WARNING_N
};

/* Sets of warnings are masks of these. */
#define WARNINGS_BIT(warning) (UINT64_C(1) << (warning))

/* When a warning disqualifies a point; a mask of conditions that must all hold. */
enum {
    WARNINGS_BUFFERED = 1, /* points with direct 0 */
    WARNINGS_DIRECT = 2,   /* points with direct 1 */
    WARNINGS_ANY = WARNINGS_BUFFERED | WARNINGS_DIRECT,
    WARNINGS_IF_READS = 4,       /* only if the pattern reads */
    WARNINGS_IF_COLD = 8,        /* only if the page cache was to be empty */
    WARNINGS_IF_SYNC_CHOSEN = 16 /* only if the user did not pin sync to one value */
};

struct warnings_row {
    const char *code;
    unsigned disqualifies; /* 0: never */
    bool passes;           /* a passing disturbance: a run that has it is worth repeating */
    const char *text;      /* what it means and what to do */
};

extern const struct warnings_row warnings_table[WARNING_N];

/* The warning of a code; WARNING_N when there is none. */
enum warning warnings_find(const char *code);
