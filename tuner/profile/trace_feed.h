/* tuner/profile/trace_feed: what the kernel tells of requests goes into the store. */
#pragma once

#include "bench/profile/trace_event.h"

#include <stdbool.h>
#include <stdint.h>

struct events;
struct store;

#define TRACE_FEED_PLACES 16384 /* for open files, and for files; a power of two */

/* An open file, or a file, by its number; what another one in the same place needs, it loses. */
struct trace_feed_place {
    uint64_t key;
    uint32_t handle;
    bool
        is_left_out; /* no file of the program's: a library that its loader reads, memory that has a number */
};

/* A process, while `below` is asked for; as above. */
struct trace_feed_process {
    uint32_t process, n_flying;
    bool is_below; /* a request of it counted */
};

#define TRACE_FEED_PROCESSES 1024 /* a power of two */

struct trace_feed {
    struct store *store;
    /* Only files below this directory count, and what is in flight of processes that have such; NULL: all
     * that are told. */
    const char *below;
    struct events *events; /* each event goes there, too; NULL: nowhere */
    struct trace_feed_place opened[TRACE_FEED_PLACES], files[TRACE_FEED_PLACES];
    struct trace_feed_process processes[TRACE_FEED_PROCESSES];
};

/* A record of trace_event.h. */
void trace_feed_take(void *feed, const void *record);

/* At the end: what was counted and not told. */
void trace_feed_count(struct trace_feed *feed, const struct trace_counts *counts, bool sees_rings);
