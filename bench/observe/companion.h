/* bench/observe/companion: the reference program beside runs of ours, in a thread: step after step, as long
 * as it is let run. What counts is how fast it gets on. */
#pragma once

#include "bench/base/err.h"
#include "bench/observe/reference.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct companion {
    struct reference *reference; /* borrowed; opened */
    uint64_t most_write_bytes;   /* from start to stop: it ends before it would write more */
    /* Of the last time, valid after companion_stop. A step under way at the end does not count, but its time
     * does: else a neighbour that stands still would look as if it were not held up. */
    uint64_t n_steps, written_bytes;
    double seconds;
    /* While it runs. */
    bool runs;
    atomic_bool stop;
    uint64_t start_ns;
    _Atomic uint64_t full_ns; /* since when it may write no more; 0: it may */
    pthread_t thread;
    int result;
};

/* 0 or a negative errno; on failure nothing runs. */
int companion_start(struct companion *companion, struct err *err);

/* Ends it and waits for what it does at the moment. 0, also when nothing runs; or what failed in it. */
int companion_stop(struct companion *companion, struct err *err);
