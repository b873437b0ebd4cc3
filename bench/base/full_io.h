/* bench/base/full_io: pread, pwrite and fdatasync that go on until all is done: EINTR is retried, the rest of
 * a short transfer is continued; and when any system call that a signal broke off is made again. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0 or a negative errno; -ESTALE at the end of the file. */
int full_io_read(int fd, void *buffer, size_t size, uint64_t offset);
/* *n_short, if not NULL, grows by each call that left something to do. */
int full_io_write(int fd, const void *buffer, size_t size, uint64_t offset, uint32_t *n_short);
int full_io_sync(int fd);

/* Threads that do I/O block all signals, so EINTR in a long row comes from the file system (FUSE, NFS) and
 * would never end. */
#define RETRY_MAX 1000

/* To be asked after a call that failed: true when errno is EINTR and it is worth another try. *n counts the
 * tries and begins with 0. */
static inline bool retry_interrupted(unsigned *n)
{
    return errno == EINTR && ++*n < RETRY_MAX;
}
