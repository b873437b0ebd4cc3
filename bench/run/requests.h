/* bench/run/requests: a list of reads, writes and flushes, made on a target by threads that take the next one
 * in turn: as fast as they can, or each when its time has come. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/io/arena.h"
#include "bench/target/target.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUESTS_THREADS_MOST 256
#define REQUESTS_BYTES_MOST   (16U << 20) /* of one request */

struct requests_item {
    uint64_t at_ns; /* since the beginning; only in time */
    uint64_t offset_bytes;
    uint32_t n_bytes; /* 0: no transfer, only the flush */
    bool writes, flushes;
};

/* What is told of a request; by all threads, so that it must not wait. */
struct requests_observer {
    void (*begins)(void *data, uint64_t now_ns);
    void (*ends)(void *data, uint64_t now_ns);
    /* The transfer of an item, or its flush. */
    void (*took)(void *data, const struct requests_item *item, uint32_t thread, bool is_flush,
                 uint64_t start_ns, uint64_t end_ns);
    void *data;
};

struct requests_plan {
    const struct target *target; /* as large as the list needs */
    const struct requests_item *items;
    size_t n;
    uint32_t n_threads;
    bool direct, timed;
    uint64_t end_ns; /* of the clock: none begins later; 0: no end */
    uint64_t seed;
    struct arena *arena;
    const struct clock *clock;
    const atomic_int *interrupted;
    struct requests_observer observer;
};

/* 0 and how many were made; -EINTR; or the errno of the first that failed, which err names. */
int requests_run(const struct requests_plan *plan, size_t *ret_n, struct err *err);
