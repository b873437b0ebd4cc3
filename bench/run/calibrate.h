/* bench/run/calibrate: single measurements of what writes cost on a machine and its file system (the
 * parameters of Gholami and Schintke, "CAWL"). The caller repeats and interprets them.
 *
 *
 * They are made as a program writes (bench/run/replay): new bytes of a file that grows, from memory that was
 * touched before but not a moment ago. Each is the mean of a whole pass, so that it holds what happens only
 * now and then (an extent, a commit of the journal).
 *
 *
 * All is written into nameless files that are gone afterwards, also on failure; reads use the target. All
 * return 0 or a negative errno with a line of text: -EINTR when interrupted, -ENOSPC when the file system or
 * a quota is full. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/target/target.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALIBRATE_REQUEST_BYTES (1ULL << 20)   /* of what is written or read in large amounts */
#define CALIBRATE_WRITE_BYTES   (128ULL << 20) /* of one write into the page cache, where there is room */
#define CALIBRATE_LARGEST_BYTES (32ULL << 20)  /* of one write of calibrate_sync */
#define CALIBRATE_SETTLE_WRITES 4              /* before a rate is measured that lasts */
#define CALIBRATE_SEEK_BYTES    4096ULL        /* of what is written at random, or the alignment */
#define CALIBRATE_SEEK_WRITES   128            /* of those, and of those that are not at random, together */

struct calibrate {
    /* Set by the caller, who keeps all of it: */
    const struct target *target; /* filled; its proofs of direct I/O are known */
    const char *directory;
    int directory_fd; /* the same */
    const struct clock *clock;
    const atomic_int *interrupted; /* may be NULL */
    uint64_t seed;
    uint64_t cache_bytes;  /* written into the page cache at a time, whole requests, >= 4; what is written
                              back meanwhile is twice that, so three times that is dirty at most, but by
                              calibrate_flushed */
    uint64_t memory_bytes; /* of each of two blocks that are copied, > 0 */

    /* Used by this module: */
    unsigned char *memory;              /* two blocks */
    unsigned char *data;                /* CALIBRATE_LARGEST_BYTES of random bytes, aligned for direct I/O */
    uint64_t written_bytes, read_bytes; /* that reached the device or were on their way */
    uint64_t n_seeks, n_reads;          /* number the places */
};

/* The fields of the caller are set, the others 0. calibrate_close accepts a zeroed one. */
int calibrate_open(struct calibrate *calibrate, struct err *err);
void calibrate_close(struct calibrate *calibrate);

/* memcpy between blocks whose memory was touched. */
int calibrate_memory(struct calibrate *calibrate, double *ret_bps, struct err *err);

/* New bytes of a file, and the same bytes written once more while they are dirty. Nothing reaches the device
 * while the limits are far and no one flushes. */
int calibrate_cache(struct calibrate *calibrate, double *ret_bps, double *ret_rewrite_bps, struct err *err);

/* The same from memory that the machine's host has taken back; to find it, up to most_bytes of memory are
 * used up for a moment, until end_ns by the rig's clock. -EAGAIN: all of that was touched before, none is
 * taken, or there was no time to find any. */
int calibrate_first_touch(struct calibrate *calibrate, uint64_t most_bytes, uint64_t end_ns, double *ret_bps,
                          struct err *err);

/* A small write call into new pages of a new file, the mean of n_calls >= 1; size_bytes up to the largest. */
int calibrate_call(struct calibrate *calibrate, uint64_t size_bytes, size_t n_calls, double *ret_s,
                   struct err *err);

/* Writes `bytes` of new bytes as calibrate_cache. Those count that are written after limit_bg, while the
 * kernel writes back, and before writers have to wait (halfway to limit_hard); *ret_waited says that they
 * did. -EAGAIN: those were too few writes. */
int calibrate_flushed(struct calibrate *calibrate, uint64_t bytes, uint64_t limit_bg_bytes,
                      uint64_t limit_hard_bytes, double *ret_bps, bool *ret_waited, struct err *err);

/* A small write into the buffer of a stream, the typical one of n_calls >= 4, of which few may fill the
 * buffer; size_bytes at most an eighth of it. */
int calibrate_buffer(struct calibrate *calibrate, uint64_t size_bytes, size_t n_calls, double *ret_s,
                     struct err *err);

/* Where limits are far: new pages, while other pages of the file are written to the device by request.
 * -EAGAIN: that was over too soon to be measured. */
int calibrate_reduced(struct calibrate *calibrate, double *ret_bps, struct err *err);

/* A durable write call (O_DIRECT|O_DSYNC; without O_DIRECT where it is not proved) that makes a file longer,
 * the mean of n_calls, or of as many as take half a second; size_bytes a multiple of the alignment, up to the
 * largest. */
int calibrate_sync(struct calibrate *calibrate, uint64_t size_bytes, size_t n_calls, double *ret_s,
                   struct err *err);

/* Durable writes as calibrate_sync of several sizes without a pause, so that the device earns no credit by
 * idling: ret_s[i] gets the mean of those of sizes_bytes[i], which are each_bytes, or one write. As much is
 * written before, which uses up the credit there is. Sizes are powers of two and multiples of the alignment,
 * as is each_bytes, at least CALIBRATE_SETTLE_WRITES of the alignment. */
int calibrate_large(struct calibrate *calibrate, const uint64_t *sizes_bytes, size_t n_sizes,
                    uint64_t each_bytes, double *ret_s, struct err *err);

/* Dirty pages of a file that grows, flushed by fdatasync after each `bytes` into the page cache: the second
 * flush of two, which finds no credit for bursts. Whole requests, at most cache_bytes. */
int calibrate_writeback(struct calibrate *calibrate, uint64_t bytes, double *ret_bps, struct err *err);

/* Size of a write of calibrate_seek. */
uint64_t calibrate_seek_bytes(const struct calibrate *calibrate);

/* A durable write into a new file at a random place that was not written before, less one at the next place
 * of another; they take turns in groups. Below 0 where the difference is lost in the scatter. */
int calibrate_seek(struct calibrate *calibrate, double *ret_s, struct err *err);

/* Reads some of the target from the device, each time another part. */
int calibrate_read(struct calibrate *calibrate, uint64_t bytes, double *ret_bps, struct err *err);

/* Size of the buffer that the C library takes for a stream of a file here. */
int calibrate_stream(struct calibrate *calibrate, double *ret_bytes, struct err *err);
