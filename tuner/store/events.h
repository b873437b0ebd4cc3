/* tuner/store/events: the events of recordings, in SQLite, for analysers to read: one table for all kinds,
 * and for all sources. Several recordings may be written at once, and read meanwhile (WAL).
 *
 * An event is simple (one read) or composite (so many samples at one address), which n tells. Events that
 * were written before the process was killed are kept; the recording then has no end. */
#pragma once

#include "bench/base/err.h"
#include "models/profile/events_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENTS_MOST 20000000U /* of a recording; more are counted as lost */

struct events_run {
    int64_t id;
    char command[EVENTS_TEXT_SIZE], source[32];
    double started_s; /* since 1970 */
    double seconds;   /* NaN: it has not ended, or was killed */
    uint64_t n, n_lost,
        sample_ns; /* sample_ns: the time that a sample of the processor stands for; 0: none */
};

struct events;

/* For writing it is made where it is missing. 0 or a negative errno; err names the file. */
int events_open(struct events **ret_events, const char *path, bool write, struct err *err);
void events_close(struct events *events);

/* A recording; what is added belongs to it. */
int events_begin(struct events *events, const char *command, const char *source, uint64_t sample_ns,
                 struct err *err);
/* The first failure stays: what comes after it is not written, and events_end tells of it. */
void events_add(struct events *events, const struct events_row *row);
void events_name(struct events *events, uint64_t object, const char *name);
/* Who adds to it, and tells names. */
struct events_sink events_sink(struct events *events);
/* Writes what has waited for long enough, some half a second, or all of it at once. To be called a few times
 * a second. 1: all that was added is in the database; 0: something waits; a negative errno: writing has
 * failed.
 */
int events_keep(struct events *events, bool at_once);
/* The number of the recording that is written. */
int64_t events_run_id(const struct events *events);
int events_end(struct events *events, double seconds, uint64_t n_lost, struct err *err);

/* The recording with this number; 0: the newest. -ENOENT. */
int events_find(struct events *events, int64_t id, struct events_run *ret_run, struct err *err);

/* The events of a recording in the order of their times; take: 0, or a negative errno that ends it. */
int events_each(struct events *events, int64_t id,
                int (*take)(void *data, const struct events_row *row, struct err *err), void *data,
                struct err *err);
/* Its files, in the order of their first reads and writes: how many of these there are, and how far they
 * reach. */
struct events_file {
    uint64_t object, n, end_bytes;
};
int events_each_file(struct events *events, int64_t id,
                     int (*take)(void *data, const struct events_file *file, struct err *err), void *data,
                     struct err *err);
/* The name of an object; "": it has none. */
int events_name_of(struct events *events, int64_t id, uint64_t object, char *ret_name, size_t size,
                   struct err *err);
/* The names of its objects. */
int events_each_name(struct events *events, int64_t id,
                     void (*take)(void *data, uint64_t object, const char *name), void *data,
                     struct err *err);
