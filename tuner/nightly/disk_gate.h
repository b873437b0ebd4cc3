/* tuner/nightly/disk_gate: every request passes it, and takes the way that holds at that moment.
 *
 * Cached and direct requests are never under way at once: before the one kind follows the other, those under
 * way have ended, and what was written through the cache is on the disk. Until then the next ones wait. From
 * cached to direct the gate changes only while little is unflushed, because the flush would keep everybody
 * waiting; the client's next flush then comes first.
 *
 * It also cuts the load into slices of time: the requests that began and ended within each, and how long any
 * was under way. A slice with writes ends with a flush of the client's. Functions that say so are called with
 * the lock held. */
#pragma once

#include "bench/disk/image_path.h"
#include "models/online/kind.h"
#include "models/profile/stream.h"

#include <pthread.h>

struct disk_gate_slice {
    uint64_t number;
    uint64_t begin_ns, busy_ns, switch_ns;
    struct kind_counts counts;
    uint64_t n_requests;
    bool has_writes, is_flushed; /* the last request of it was a flush that left hardly anything behind */
};

struct disk_gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct image *image;
    struct image_way now, wanted;
    unsigned n_inside;
    uint64_t n_changes; /* between cached and direct */
    uint64_t written_bytes,
        flushed_bytes; /* since the beginning; what is flushed was written before a flush */
    uint64_t busy_since_ns, left_ns, drain_ns;
    int lost_code; /* a flush of our own failed: no flush of the client's succeeds any more */
    struct disk_gate_slice slice;
};

struct disk_gate_client {
    struct stream stream[PROFILE_N_DIRECTIONS];
    uint64_t ahead_end;
};

struct disk_gate_pass {
    struct image_way way;
    uint64_t slice;
    bool is_sequential;
    uint64_t written_bytes;             /* when it began */
    uint64_t ahead_from, ahead_n_bytes; /* what to read ahead first; 0: nothing */
};

enum disk_gate_end {
    DISK_GATE_MOVED,
    DISK_GATE_FLUSHED, /* all that had been written when it began is on the disk now */
    DISK_GATE_FAILED
};

int disk_gate_init(struct disk_gate *gate, const struct image *image, struct image_way way);
void disk_gate_done(struct disk_gate *gate);

/* request: NULL for what moves no data. Takes and gives back the lock. */
void disk_gate_enter(struct disk_gate *gate, struct disk_gate_client *client,
                     const struct profile_request *request, struct disk_gate_pass *ret_pass);
/* Leaves the lock held. */
void disk_gate_leave(struct disk_gate *gate, const struct disk_gate_pass *pass,
                     const struct profile_request *request, enum disk_gate_end end);

/* The requests that come from now on take this way, as soon as it is safe. With the lock held. */
void disk_gate_want(struct disk_gate *gate, struct image_way way);

/* Whether the slice is long enough. With the lock held. */
bool disk_gate_slice_is_over(const struct disk_gate *gate);
/* It has no writes, or ends with their flush. */
bool disk_gate_slice_is_whole(const struct disk_gate *gate);
void disk_gate_slice_begin(struct disk_gate *gate);
