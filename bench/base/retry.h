/* bench/base/retry: when a system call that a signal broke off is made again. */
#pragma once

#include <errno.h>
#include <stdbool.h>

/* Threads that do I/O block all signals, so EINTR in a long row comes from the file system (FUSE, NFS) and
 * would never end. */
#define RETRY_MAX 1000

/* To be asked after a call that failed: true when errno is EINTR and it is worth another try. *n counts the
 * tries and begins with 0. */
static inline bool retry_interrupted(unsigned *n)
{
    return errno == EINTR && ++*n < RETRY_MAX;
}
