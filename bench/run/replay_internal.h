/* bench/run/replay_internal: what the replay_*.c files share with one another and nobody else. */
#pragma once

#include "bench/run/replay.h"
#include "bench/target/target.h"

#include <stdio.h>

/* One file, opened for a mode. */
struct replay_file {
    int fd;
    FILE *stream;      /* of REPLAY_STDIO, which owns fd */
    uint64_t position; /* of the stream */
};

int replay_file_open(struct replay_file *file, const struct target *target, uint32_t number,
                     enum replay_mode mode, struct err *err);

/* Writes the whole range; EINTR and short writes are continued and counted, but not in a stream, where they
 * are -EIO. 0 or a negative errno. */
int replay_file_write(struct replay_file *file, const void *bytes, uint64_t size_bytes, uint64_t offset_bytes,
                      uint32_t *n_short);

/* Writes a stream's buffer out. 0 or a negative errno. */
int replay_file_flush(struct replay_file *file);

/* What is left in a stream's buffer is thrown away. Accepts a zeroed one. */
void replay_file_close(struct replay_file *file);

/* Dirty memory of the machine and of writeback under way: 0, -ENODATA or the errno of /proc/vmstat. */
int replay_dirty_read(uint64_t *ret_bytes);

/* Writes the target's file system out and waits until the machine is calm. 0 and whether it is; -EINTR. */
int replay_dirty_settle(const struct replay_plan *plan, const struct target *target, bool *ret_calm,
                        struct err *err);

/* Touched memory that is kept for the page cache. */
struct replay_warm {
    unsigned char *memory; /* NULL: none */
    uint64_t size_bytes, given_bytes, wanted_bytes;
};

/* As much as the writes need, but no more than half of what is available; none for plans that do not want it.
 */
void replay_warm_open(struct replay_warm *warm, const struct replay_plan *plan);

/* To be called before a write of that size: gives the system what it will take. True when that took time. */
bool replay_warm_give(struct replay_warm *warm, uint64_t size_bytes);

/* Accepts a zeroed one. */
void replay_warm_close(struct replay_warm *warm);
