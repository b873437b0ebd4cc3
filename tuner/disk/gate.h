/* tuner/disk/gate: every request passes it, and takes the way that holds at that moment.
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

struct gate_slice {
    uint64_t number;
    uint64_t begin_ns, busy_ns, switch_ns;
    struct kind_counts counts;
    uint64_t n_requests;
    bool has_writes, is_flushed; /* the last request of it was a flush that left hardly anything behind */
};

struct gate {
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
    struct gate_slice slice;
};

struct gate_client {
    struct stream stream[PROFILE_N_DIRECTIONS];
    uint64_t ahead_end;
};

struct gate_pass {
    struct image_way way;
    uint64_t slice;
    bool is_sequential;
    uint64_t written_bytes;             /* when it began */
    uint64_t ahead_from, ahead_n_bytes; /* what to read ahead first; 0: nothing */
};

enum gate_end {
    GATE_MOVED,
    GATE_FLUSHED, /* all that had been written when it began is on the disk now */
    GATE_FAILED
};

int gate_init(struct gate *gate, const struct image *image, struct image_way way);
void gate_done(struct gate *gate);

/* request: NULL for what moves no data. Takes and gives back the lock. */
void gate_enter(struct gate *gate, struct gate_client *client, const struct profile_request *request,
                struct gate_pass *ret_pass);
/* Leaves the lock held. */
void gate_leave(struct gate *gate, const struct gate_pass *pass, const struct profile_request *request,
                enum gate_end end);

/* The requests that come from now on take this way, as soon as it is safe. With the lock held. */
void gate_want(struct gate *gate, struct image_way way);

/* Whether the slice is long enough. With the lock held. */
bool gate_slice_is_over(const struct gate *gate);
/* It has no writes, or ends with their flush. */
bool gate_slice_is_whole(const struct gate *gate);
void gate_slice_begin(struct gate *gate);
