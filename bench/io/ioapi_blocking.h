/* bench/io/ioapi_blocking: one blocking transfer, as psync makes it in the caller's thread and pool in its
 * workers; pvec shares the end.
 *
 * Inline because psync's own cost is part of what it measures. */
#pragma once

#include "bench/base/full_io.h"
#include "bench/io/ioapi.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* Makes the outcome `moved` of a write durable: `moved`, or the negative errno of fdatasync. */
static inline int64_t ioapi_blocking_sync(int fd, int64_t moved)
{
    int code = full_io_sync(fd);
    return code < 0 ? code : moved;
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

/* What psync and pvec, whose submit does the transfer, have first in their state. */
struct ioapi_blocking {
    const char *name;
    struct io_call *done; /* transferred, not yet reaped; NULL: nothing in flight */
    bool sync_each;
};

__attribute__((unused)) static int ioapi_blocking_probe(struct err *err)
{
    (void)err;
    return 0;
}

__attribute__((unused)) static int ioapi_blocking_reap(void *state, struct io_call **calls, size_t max,
                                                       uint64_t until_ns, size_t *ret_n, struct err *err)
{
    struct ioapi_blocking *blocking = state;
    (void)until_ns;
    if (blocking->done == NULL || max == 0)
        return err_set(err, -EINVAL, "%s: nothing to reap", blocking->name);
    calls[0] = blocking->done;
    blocking->done = NULL;
    *ret_n = 1;
    return 0;
}
