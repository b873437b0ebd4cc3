/* tests/bench/io/ioapi_faults: the system's functions as the linker replaces them (see the LINK line of the
 * test), failing on demand. */
#pragma once

#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <liburing.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define FOR_EVER UINT_MAX
#define SHORT    0 /* instead of an errno: half of it is done */

enum site { NOWHERE, TRANSFER, SYNC, SUBMIT, WAIT, SETUP, THREAD, MEMORY };

static struct {
    enum site site, then; /* where the next fault is, after the first; NOWHERE: at the same site */
    int code;             /* positive errno, or SHORT */
    unsigned nth, times;
    atomic_uint n_seen, n_hit;
    atomic_uint n_flushes;        /* fdatasyncs since arm */
    sigset_t mask;                /* signals that the last thread was created with */
    _Atomic(const void *) victim; /* buffer of the last transfer hit, where the wrapper can tell */
    const char *disabled;         /* what /proc/sys/kernel/io_uring_disabled is to say; NULL: the truth */
} fault;

static void arm(enum site site, int code, unsigned nth, unsigned times)
{
    fault.site = site;
    fault.then = NOWHERE;
    fault.code = code;
    fault.nth = nth;
    fault.times = times;
    fault.victim = NULL;
    atomic_store(&fault.n_seen, 0);
    atomic_store(&fault.n_hit, 0);
    atomic_store(&fault.n_flushes, 0);
}

static void disarm(void)
{
    fault.site = NOWHERE;
}

static bool hits(enum site site, const void *buffer)
{
    if (fault.site != site)
        return false;
    unsigned k = atomic_fetch_add(&fault.n_seen, 1) + 1;
    if (k < fault.nth || k - fault.nth >= fault.times)
        return false;
    atomic_fetch_add(&fault.n_hit, 1);
    fault.victim = buffer;
    if (fault.then != NOWHERE) {
        fault.site = fault.then;
        atomic_store(&fault.n_seen, 0);
    }
    return true;
}

static int fail_with_errno(void)
{
    errno = fault.code;
    return -1;
}

WRAP(ssize_t, pread64, (int fd, void *buffer, size_t size, off_t offset))
{
    if (!hits(TRANSFER, buffer))
        return __real_pread64(fd, buffer, size, offset);
    return fault.code == SHORT ? __real_pread64(fd, buffer, size / 2, offset) : fail_with_errno();
}

WRAP(ssize_t, pwrite64, (int fd, const void *buffer, size_t size, off_t offset))
{
    if (!hits(TRANSFER, buffer))
        return __real_pwrite64(fd, buffer, size, offset);
    return fault.code == SHORT ? __real_pwrite64(fd, buffer, size / 2, offset) : fail_with_errno();
}

WRAP(ssize_t, preadv64, (int fd, const struct iovec *vector, int n, off_t offset))
{
    if (!hits(TRANSFER, vector[0].iov_base))
        return __real_preadv64(fd, vector, n, offset);
    return fault.code == SHORT ? __real_preadv64(fd, vector, n / 2, offset) : fail_with_errno();
}

WRAP(ssize_t, pwritev64, (int fd, const struct iovec *vector, int n, off_t offset))
{
    if (!hits(TRANSFER, vector[0].iov_base))
        return __real_pwritev64(fd, vector, n, offset);
    return fault.code == SHORT ? __real_pwritev64(fd, vector, n / 2, offset) : fail_with_errno();
}

WRAP(int, fdatasync, (int fd))
{
    atomic_fetch_add(&fault.n_flushes, 1);
    return hits(SYNC, NULL) ? fail_with_errno() : __real_fdatasync(fd);
}

/* A completion of a whole transfer has a positive result, that of a flush has 0. */
static long completion(long result, const void *buffer)
{
    if (!hits(result > 0 ? TRANSFER : SYNC, buffer))
        return result;
    return fault.code == SHORT ? result / 2 : -fault.code;
}

WRAP(int, io_setup, (int n, io_context_t *context))
{
    return hits(SETUP, NULL) ? -fault.code : __real_io_setup(n, context);
}

WRAP(int, io_submit, (io_context_t context, long n, struct iocb *list[]))
{
    if (!hits(SUBMIT, list[0]->u.c.buf))
        return __real_io_submit(context, n, list);
    return fault.code == SHORT ? __real_io_submit(context, (n + 1) / 2, list) : -fault.code;
}

WRAP(int, io_getevents,
     (io_context_t context, long min, long max, struct io_event *events, struct timespec *timeout))
{
    int rc = hits(WAIT, NULL) ? -fault.code : __real_io_getevents(context, min, max, events, timeout);
    for (int i = 0; i < rc; i++)
        events[i].res = (unsigned long)completion((long)events[i].res, events[i].obj->u.c.buf);
    return rc;
}

WRAP(int, io_uring_queue_init, (unsigned n, struct io_uring *ring, unsigned flags))
{
    return hits(SETUP, NULL) ? -fault.code : __real_io_uring_queue_init(n, ring, flags);
}

/* SHORT: the kernel consumes one entry of those that are queued. */
WRAP(int, io_uring_submit, (struct io_uring * ring))
{
    if (!hits(SUBMIT, NULL))
        return __real_io_uring_submit(ring);
    if (fault.code != SHORT)
        return -fault.code;
    ring->sq.sqe_head = ring->sq.sqe_tail;
    *ring->sq.ktail = ring->sq.sqe_tail;
    return io_uring_enter((unsigned)ring->ring_fd, 1, 0, 0, NULL);
}

WRAP(int, io_uring_submit_and_wait, (struct io_uring * ring, unsigned n))
{
    return hits(WAIT, NULL) ? -fault.code : __real_io_uring_submit_and_wait(ring, n);
}

/* While waiting is to fail, nothing is there without waiting. */
WRAP(unsigned, io_uring_peek_batch_cqe, (struct io_uring * ring, struct io_uring_cqe **cqes, unsigned n))
{
    static bool blind;
    blind = fault.site == WAIT && !blind;
    n = blind ? 0 : __real_io_uring_peek_batch_cqe(ring, cqes, n);
    for (unsigned i = 0; i < n; i++)
        cqes[i]->res = (int)completion(cqes[i]->res, NULL);
    return n;
}

WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context))
{
    pthread_sigmask(SIG_SETMASK, NULL, &fault.mask);
    return hits(THREAD, NULL) ? fault.code : __real_pthread_create(thread, attributes, run, context);
}

WRAP(void *, calloc, (size_t n, size_t size))
{
    return hits(MEMORY, NULL) ? NULL : __real_calloc(n, size);
}

WRAP(int, open64, (const char *path, int flags, ...))
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if (fault.disabled == NULL || strcmp(path, "/proc/sys/kernel/io_uring_disabled") != 0)
        return __real_open64(path, flags, mode);
    if (fault.disabled[0] == '\0') {
        errno = ENOENT;
        return -1;
    }
    int fd = memfd_create("sysctl", 0);
    assert_int_equal(write(fd, fault.disabled, 2), 2);
    lseek(fd, 0, SEEK_SET);
    return fd;
}
