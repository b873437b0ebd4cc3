/* models/profile/stream: whether the requests of one open file in one direction go on where others ended.
 *
 * A stream is requests of one file, through one open file, in one direction. Several runs of consecutive
 * requests may be interleaved in it, so eight ends are remembered (cursors). A request is sequential when it
 * begins where a cursor stands, strided when it is as far behind a cursor's last request as that one was
 * behind its own last, and random else.
 *
 * In a small file some random requests begin where others ended. So the first that goes on from another is
 * judged random, and redeemed by the next one, and a run has to be more than chance: of N places in the file,
 * one of them comes up by chance about every N requests, so that a run that goes on after g requests has
 * log2(N/g) bits for it, except for its first request, which is one of many that might have. By chance there
 * is less than one bit on average; two are taken off each time, and a run counts while four have been
 * gathered, and until none are left. What goes on at the end of all that was touched needs no more. Requests
 * that two threads make nearly at once may be told in the wrong order: a run that reaches the beginning of
 * another one takes it over, and what seemed to begin it is redeemed. */
#pragma once

#include "models/profile/event.h"

#include <stdbool.h>

#define STREAM_N_CURSORS 8

enum stream_order {
    STREAM_SEQUENTIAL,
    STREAM_STRIDED,
    STREAM_RANDOM,
    STREAM_N_ORDERS,
    STREAM_UNJUDGED = STREAM_N_ORDERS
};

struct stream_cursor {
    uint64_t begin, last, end; /* of the run: first offset, offset of its last request, and where it ends */
    int64_t stride;
    uint32_t used;         /* when, by the stream's count; 0: never */
    uint32_t run;          /* requests that went on from another, and one more at the start of a file */
    uint32_t pending;      /* requests judged random until the run is more than chance */
    uint32_t quarter_bits; /* for it */
    bool is_proved;
};

/* One slot of the table of streams. Only the holder of its lock changes it, except is_closed. Others may read
 * what look_streams.c and the search for a slot read at any time, so it is changed by atomic stores. */
struct stream {
    uint64_t key; /* 0: free */
    uint32_t lock, is_closed;
    uint64_t file;
    uint32_t handle, thread; /* the thread of its first request */
    uint32_t direction, flags;
    uint64_t first_ns, last_ns, n_taken;
    uint64_t low, high; /* what its requests touched, in bytes */
    uint64_t n[STREAM_N_ORDERS], n_bytes;
    uint64_t size_candidate, size_votes; /* the usual size of its requests, as in bins.h */
    int64_t stride;                      /* the last that was met twice */
    uint64_t latest;                     /* the cursor of the last request */
    struct stream_cursor cursor[STREAM_N_CURSORS];
};

struct stream_verdict {
    enum stream_order order;
    unsigned n_redeemed; /* requests that were judged random before, and are sequential */
};

/* At any time. */
uint64_t stream_n(const struct stream *stream);
bool stream_is_closed(const struct stream *stream);

/* Forgets all but the key and the lock. The caller has the lock. */
void stream_clear(struct stream *stream);

/* What is known beside the stream when its first request comes. */
struct stream_context {
    bool goes_on;    /* it begins where the file's last stream in this direction ended */
    bool is_pressed; /* streams make room for others: what seems to be the first may be none, and is not
                        judged */
};

/* Judges and counts a request. The caller has the lock. */
struct stream_verdict stream_take(struct stream *stream, const struct profile_request *request,
                                  struct stream_context context);
