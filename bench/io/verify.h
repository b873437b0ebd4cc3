/* bench/io/verify: does the file give back what was written to it?
 *
 *
 * Every block of 512 bytes that is written carries a stamp: a key of this command, its offset, the number of
 * the write to that block (filling is the first), and a checksum of the block. A block that is read is
 * compared with what was last written there. Lost, misplaced, stale and damaged blocks are told apart.
 *
 *
 * A block that two requests touch at one time, one of them a write, is not judged, because such a read may
 * find anything and either of two writes may stay. It is judged again after its next write alone.
 *
 *
 * All but opening and closing may be called from several threads. Costs 8 bytes of memory per block touched,
 * 1/64 of the file. */
#pragma once

#include "bench/base/err.h"
#include "bench/io/ioapi.h"

#include <stdatomic.h>
#include <stdint.h>

#define VERIFY_BLOCK_BYTES 512U

/* At the start of every block, in the machine's order of bytes. */
struct verify_stamp {
    uint64_t checksum; /* of the block without this word */
    uint64_t key;
    uint64_t offset_bytes;
    uint64_t n_writes; /* to this block, this one included */
};

struct verify {
    uint64_t key;
    uint64_t file_bytes; /* of each of several files, which follow one another in the stamps; 0: one file */
    uint64_t n_blocks;
    atomic_ullong *states;       /* one word per block; NULL: not opened */
    atomic_ullong n_compared;    /* blocks read and compared */
    atomic_ullong n_passed_over; /* blocks read but not judged, see above */
};

/* For n_files files that have size_bytes together; nothing is written in them yet. 0 or -ENOMEM. verify_close
 * accepts a zeroed one. */
int verify_open(struct verify *verify, uint64_t size_bytes, uint32_t n_files, uint64_t seed, struct err *err);
void verify_close(struct verify *verify);

/* Around a call: a write gets its stamps before it is submitted, a read is compared after it was reaped
 * whole. Offsets and sizes are multiples of 512 inside the file. verify_end: 0, or -EBADMSG with offset,
 * expected and found value. verify_abandon instead: the call failed, or was never submitted. */
void verify_begin(struct verify *verify, const struct io_call *call);
int verify_end(struct verify *verify, const struct io_call *call, struct err *err);
void verify_abandon(struct verify *verify, const struct io_call *call);

/* Stamps a buffer whose write is over before anything else touches its place. Offsets go on from file to
 * file. */
void verify_stamp(struct verify *verify, void *buffer, uint64_t offset_bytes, uint64_t size_bytes);

/* Reads and compares all blocks that were written since the last time; nobody else is at work. 0; -EBADMSG;
 * -EINTR; -ENOMEM; the errno of reading. *ret_bytes is what was read, also on failure. */
int verify_read_back(struct verify *verify, const int *fds, const atomic_int *interrupted,
                     uint64_t *ret_bytes, struct err *err);
