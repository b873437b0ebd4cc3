/* bench/io/ioapi_blocking: one blocking transfer, as psync makes it in the caller's thread and pool in its
 * workers; pvec shares the end.
 *
 * Inline because psync's own cost is part of what it measures. */
#pragma once

#include "bench/base/retry.h"
#include "bench/io/ioapi.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* Makes the outcome `moved` of a write durable: `moved`, or the negative errno of fdatasync. */
static inline int64_t ioapi_blocking_sync(int fd, int64_t moved)
{
    unsigned n_tries = 0;
    int rc;
    do
        rc = fdatasync(fd);
    while (rc < 0 && retry_interrupted(&n_tries));
    return rc < 0 ? -errno : moved;
}

static inline ssize_t ioapi_blocking_try(int fd, const struct io_call *call)
{
    return call->is_write ? pwrite(fd, call->buffer, call->size_bytes, (off_t)call->offset_bytes)
                          : pread(fd, call->buffer, call->size_bytes, (off_t)call->offset_bytes);
}

/* What seldom follows the first try: it is made again, or made durable. Out of line, so that a read saves no
 * registers for it. Only a whole write is worth a flush: a short one is an error already. */
__attribute__((noinline, unused)) static int64_t ioapi_blocking_end(int fd, const struct io_call *call,
                                                                    bool sync_each, ssize_t moved)
{
    unsigned n_tries = 0;
    while (moved < 0 && retry_interrupted(&n_tries))
        moved = ioapi_blocking_try(fd, call);
    if (moved < 0)
        return -errno;
    if (sync_each && call->is_write && (uint64_t)moved == call->size_bytes)
        return ioapi_blocking_sync(fd, moved);
    return moved;
}

/* The outcome of a call: bytes moved, or a negative errno. */
static inline int64_t ioapi_blocking_transfer(int fd, const struct io_call *call, bool sync_each)
{
    ssize_t moved = ioapi_blocking_try(fd, call);
    return moved >= 0 && !sync_each ? moved : ioapi_blocking_end(fd, call, sync_each, moved);
}
