/* tuner/nightly/retune_ready: whether a night may be measured now. Facts in, a verdict out;
 * bench/host/host_load reads them. */
#pragma once

#include "bench/host/host_load.h"

#include <stdbool.h>
#include <stddef.h>

/* Above (for uptime: below) these a night is postponed; infinity: no limit. */
struct retune_ready_limits {
    double io_pressure_share;  /* of the last minute: some task waited for I/O */
    double cpu_pressure_share; /* the same for a processor */
    double load_share;         /* load of the last minute per processor */
    double dirty_bytes;        /* dirty and under writeback */
    double uptime_seconds;     /* at least */
    bool on_battery;           /* measure there too */
};

#define RETUNE_READY_WHY_SIZE 256

/* True: measure. False: why not, with the figure and its limit, for people. What is not known (NaN) is no
 * reason to wait. */
bool retune_ready(const struct host_load_facts *facts, const struct retune_ready_limits *limits,
                  char why[RETUNE_READY_WHY_SIZE]);

/* Nights in a row without a measurement after which somebody should look (exit code 3). */
#define RETUNE_READY_PATIENCE 7
