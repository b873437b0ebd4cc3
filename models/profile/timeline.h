/* models/profile/timeline: what happened when, in a fixed number of intervals: when time runs beyond the
 * last, neighbours are joined and all become twice as long. */
#pragma once

#include <stdint.h>

enum timeline_kind {
    TIMELINE_SEQ_READ,
    TIMELINE_SEQ_WRITE,
    TIMELINE_RAND_READ,
    TIMELINE_RAND_WRITE,
    TIMELINE_FLUSH,
    TIMELINE_N_KINDS
};

struct timeline_interval {
    uint64_t n[TIMELINE_N_KINDS];
    uint64_t n_bytes;
};

#define TIMELINE_FIRST_LOG2_NS 22 /* length of an interval at first, 4 ms */

struct timeline {
    uint64_t n_intervals; /* even */
    uint64_t log2_ns;     /* length of an interval */
    uint64_t n_lost;      /* came while neighbours were joined */
    uint32_t lock;
    uint32_t unused;
};

/* since_ns: the beginning of the recording is 0. */
void timeline_take(struct timeline *timeline, struct timeline_interval *intervals, uint64_t since_ns,
                   enum timeline_kind kind, uint64_t n_bytes);
