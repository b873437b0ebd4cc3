/* tuner/nightly/disk_gate: every request passes it, and takes the way that holds at that moment.
 *
 * Cached and direct requests are never under way at once: before the one kind follows the other, those under
 * way have ended, and what was written through the cache is on the disk. Until then the next ones wait. From
 * cached to direct the gate changes only while little is unflushed, because the flush would keep everybody
 * waiting; the client's next flush then comes first.
 *
 * It also cuts the load into slices of time: the requests that began and ended within each, and how long any
 * was under way. A slice with writes ends with a flush of the client's, or after three seconds.
 *
 * A request that nothing stands in the way of takes no lock: threads that wait for one another would cost
 * more than most settings gain. Counts may therefore miss a request at the border of two slices. Functions
 * that say so are called with the lock held. */
#pragma once

#include "bench/disk/image_flush.h"
#include "bench/disk/image_path.h"
#include "models/online/kind.h"
#include "models/online/latency.h"
#include "models/profile/stream.h"

#include <pthread.h>
#include <stdatomic.h>

struct disk_gate_slice {
    atomic_uint_fast64_t number, begin_ns, idle_ns; /* idle: nothing was under way */
    atomic_uint_fast64_t n[PROFILE_N_DIRECTIONS], n_bytes, n_sequential;
    atomic_uint_least32_t latencies[LATENCY_N_CLASSES][LATENCY_N_BUCKETS];
    uint64_t switch_ns; /* guarded by the lock */
};

/* Requests that a trial makes differently, and all others. */
enum disk_gate_role { DISK_GATE_OTHERS, DISK_GATE_TRIED, DISK_GATE_N_ROLES };

struct disk_gate {
    atomic_uint inside; /* requests; its highest bit: the next ones wait */
    atomic_uint_fast64_t left_ns, written_bytes, way;
    struct disk_gate_slice slice;
    atomic_uint_fast64_t tried_way; /* of the trial that goes on */
    atomic_uint n_tried;            /* requests under way that began with it */
    atomic_uint_least32_t late[DISK_GATE_N_ROLES][LATENCY_N_CLASSES][LATENCY_N_BUCKETS];
    pthread_mutex_t lock; /* guards what follows, and what closes and opens the gate */
    pthread_cond_t changed;
    struct image_flush *flush;
    struct image_way wanted;
    uint64_t n_changes;     /* between cached and direct */
    uint64_t flushed_bytes; /* of those written since the beginning */
    uint64_t drain_ns;      /* when the first one began to wait at the closed gate; 0: nobody has */
};

struct disk_gate_client {
    atomic_flag is_judging[PROFILE_N_DIRECTIONS]; /* guards what has the same number */
    struct stream stream[PROFILE_N_DIRECTIONS];
    uint64_t ahead_end_bytes; /* of reads */
    atomic_bool was_sequential[PROFILE_N_DIRECTIONS];
};

struct disk_gate_pass {
    struct image_way way;
    uint64_t slice, begin_ns; /* begin: it waits at the gate no longer */
    bool is_sequential;
    enum disk_gate_role role;
    uint64_t written_bytes;                   /* when the flush that it makes began */
    uint64_t ahead_from_bytes, ahead_n_bytes; /* what to read ahead first; 0: nothing */
};

int disk_gate_init(struct disk_gate *gate, struct image_flush *flush, struct image_way way);
void disk_gate_done(struct disk_gate *gate);

/* request: NULL for what moves no data. */
void disk_gate_enter(struct disk_gate *gate, struct disk_gate_client *client,
                     const struct profile_request *request, struct disk_gate_pass *ret_pass);
/* counts: it did what it was to do, and is part of its slice. Returns the time. */
uint64_t disk_gate_leave(struct disk_gate *gate, const struct disk_gate_pass *pass,
                         const struct profile_request *request, bool counts);

/* All that had been written when the flush began is on the disk now. Returns whether hardly anything is
 * left of the slice. With the lock held. */
bool disk_gate_note_flush(struct disk_gate *gate, const struct disk_gate_pass *pass);

/* A write ended; the flush of a durable one comes after it. */
void disk_gate_note_written(struct disk_gate *gate, uint64_t n_bytes);
/* By all writes that have ended so far. */
uint64_t disk_gate_written_bytes(const struct disk_gate *gate);

struct image_way disk_gate_way(const struct disk_gate *gate);
/* The requests that come from now on take this way, as soon as it is safe. With the lock held. */
void disk_gate_want(struct disk_gate *gate, struct image_way way);

struct kind_counts disk_gate_slice_counts(const struct disk_gate *gate);
/* How long its requests took, those without data too; waits at the closed gate are no part of it. */
struct latency_counts disk_gate_slice_latencies(const struct disk_gate *gate);
/* How long those took that began in an earlier slice; they are told once. */
struct latency_counts disk_gate_take_late(struct disk_gate *gate, enum disk_gate_role role);
/* The way of a trial that begins, NULL: none goes on. What is under way with it counts as tried, whatever
 * runs by then. */
void disk_gate_try(struct disk_gate *gate, const struct image_way *way);
/* How long requests were under way in it. */
uint64_t disk_gate_slice_busy_ns(const struct disk_gate *gate, uint64_t now_ns);
/* Whether the slice is long enough. is_flushed: its last request was a flush that left hardly anything. */
bool disk_gate_slice_is_over(const struct disk_gate *gate, bool is_flushed, uint64_t now_ns);
/* It has no writes, or ends with their flush. */
bool disk_gate_slice_is_whole(const struct disk_gate *gate, bool is_flushed);
/* With the lock held. */
void disk_gate_slice_begin(struct disk_gate *gate, uint64_t now_ns);
