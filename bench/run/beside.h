/* bench/run/beside: loads that run beside the one that is measured, each on a file of its own.
 *
 * A load with a rate is open loop: its requests are due at fixed times, whatever became of those before, and
 * a latency counts from the time at which the request was due. So a load that is held up shows it. What was
 * due when the load was stopped and had not begun yet counts with the time that it was late by then. A load
 * without a rate sends the next request when the last one has ended. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/base/histogram.h"
#include "bench/base/pattern.h"
#include "bench/target/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BESIDE_MOST 4 /* loads */

struct beside_load {
    struct pattern pattern;
    uint64_t request_bytes;
    uint32_t queue_depth; /* threads, each with one request in flight and its part of the rate */
    bool direct;
    bool sync_each;    /* each write is durable before it counts */
    uint64_t rate_bps; /* of all threads; 0: as fast as it goes */
};

/* Of one load between beside_start and beside_stop. */
struct beside_figures {
    struct histogram latency;
    uint64_t bytes_read, bytes_written;
    double seconds;
};

struct beside_lane;

struct beside {
    const struct clock *clock;
    size_t n;
    struct beside_load load[BESIDE_MOST];
    struct target target[BESIDE_MOST]; /* filled; owned by the caller */
    uint64_t seed;
    uint64_t most_write_bytes;                  /* from start to stop, of all loads; 0: no limit */
    struct beside_figures figures[BESIDE_MOST]; /* of the last time */
    /* While they run. */
    struct beside_lane *lanes;
    size_t n_lanes, n_started;
    atomic_bool stop;
    atomic_bool spent; /* a load has ended because another write would cross most_write_bytes */
    atomic_uint_fast64_t taken_bytes;
    uint64_t start_ns;
};

/* Starts the threads, on clean files whose pages are not cached. On failure nothing runs. */
int beside_start(struct beside *beside, struct err *err);

/* Ends them, waits for what is in flight, makes it durable and sets the figures. 0, also when nothing runs;
 * or the first failed request, which has ended its load. */
int beside_stop(struct beside *beside, struct err *err);
