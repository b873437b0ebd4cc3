/* bench/observe/companion: the reference program beside runs of ours, in a thread: interval after interval,
 * as long as it is let run. What it times itself are the lengths of the intervals. */
#pragma once

#include "bench/base/err.h"
#include "bench/observe/reference.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMPANION_MAX_INTERVALS 4096 /* of one time; what follows is not timed */

struct companion {
    struct reference *reference; /* borrowed; opened, and its size chosen */
    uint64_t most_write_bytes;   /* from start to stop: it ends before it would write more */
    /* Of the last time, valid after companion_stop. An interval that was under way at the end counts, with
     * its length up to then, where it had become longer than all others: else a neighbour that is held up for
     * long would look as if it were not. */
    double interval_s[COMPANION_MAX_INTERVALS];
    size_t n_intervals;
    uint64_t written_bytes;
    double seconds;
    /* While it runs. */
    bool runs;
    atomic_bool stop;
    uint64_t start_ns, begun_ns; /* begun_ns: of the interval under way; 0: none is */
    pthread_t thread;
    int result;
};

/* 0 or a negative errno; on failure nothing runs. */
int companion_start(struct companion *companion, struct err *err);

/* Ends it and waits for what it does at the moment. 0, also when nothing runs; or what failed in it. */
int companion_stop(struct companion *companion, struct err *err);
