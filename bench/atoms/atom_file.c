/* Reads and writes of the page cache, direct requests, and flushes, on a nameless file. */
#include "bench/atoms/atoms_internal.h"
#include "bench/atoms/intercept.h"
#include "bench/base/full_io.h"
#include "bench/base/rng.h"
#include "bench/target/target_scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SMALL_BYTES 4096U
#define LARGE_BYTES 65536U
#define FILE_BYTES  (8U << 20)
#define ALIGNMENT   4096U
#define DEPTH       16U /* of the queue: each request has a part of the buffer */
/* Between requests of the queue, so that neighbours are not merged: it meets all places of the file. */
#define STRIDE_BYTES (521ULL * SMALL_BYTES)

struct file {
    int fd, direct_fd; /* the second is -1 where there is no direct I/O */
    unsigned char *buffer;
    uint64_t at; /* of the next direct request */
    io_context_t queue;
};

static void close_file(void *state)
{
    struct file *file = state;
    if (file->queue != NULL)
        io_destroy(file->queue);
    if (file->fd >= 0)
        close(file->fd);
    if (file->direct_fd >= 0)
        close(file->direct_fd);
    free(file->buffer);
    free(file);
}

static int make_file(const char *directory, struct file *file)
{
    struct rng rng;
    bool is_tmpfile;
    int dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return -errno;
    int result = target_scratch_check(directory, FILE_BYTES, NULL);
    if (result == 0)
        result = target_create_nameless(dir_fd, directory, &file->fd, &is_tmpfile, NULL);
    close(dir_fd);
    rng_init(&rng, 1);
    rng_fill(&rng, file->buffer, LARGE_BYTES);
    for (uint64_t at = 0; at < FILE_BYTES && result == 0; at += LARGE_BYTES)
        result = full_io_write(file->fd, file->buffer, LARGE_BYTES, at, NULL);
    return result == 0 ? full_io_sync(file->fd) : result;
}

static int open_file(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)shared;
    if (place->directory == NULL)
        return -EOPNOTSUPP;
    struct file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return -ENOMEM;
    file->fd = file->direct_fd = -1;
    file->buffer = aligned_alloc(ALIGNMENT, LARGE_BYTES);
    int result = file->buffer == NULL ? -ENOMEM : make_file(place->directory, file);
    if (result < 0)
        close_file(file);
    else
        *ret_state = file;
    return result;
}

static int open_direct(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    char path[32];
    int result = open_file(place, shared, ret_state);
    if (result < 0)
        return result;
    struct file *file = *ret_state;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file->fd);
    file->direct_fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
    if (file->direct_fd >= 0 && full_io_read(file->direct_fd, file->buffer, SMALL_BYTES, 0) == 0)
        return 0;
    close_file(file);
    *ret_state = NULL;
    return -EOPNOTSUPP;
}

static int read_cached(const struct file *file, uint64_t n, size_t size)
{
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++)
        result = full_io_read(file->fd, file->buffer, size, 0);
    return result;
}

static int run_cache_reads(void *state, uint64_t n)
{
    return read_cached(state, n, SMALL_BYTES);
}

static int run_byte_reads(void *state, uint64_t n)
{
    return read_cached(state, n, 1);
}

ATOM(cache_read, "cache_read_4k", "4 KiB read from the page cache, without its system call", open_file,
     run_cache_reads, close_file, ATOM_DELAYS_CALLS(SYS_pread64), .delayed_bytes = SMALL_BYTES,
     .base = run_byte_reads);

static int write_cached(const struct file *file, uint64_t n, size_t size)
{
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++)
        result = full_io_write(file->fd, file->buffer, size, 0, NULL);
    return result;
}

static int run_cache_writes(void *state, uint64_t n)
{
    return write_cached(state, n, SMALL_BYTES);
}

static int run_byte_writes(void *state, uint64_t n)
{
    return write_cached(state, n, 1);
}

ATOM(cache_write, "cache_write_4k", "4 KiB written into the page cache, without its system call", open_file,
     run_cache_writes, close_file, ATOM_DELAYS_CALLS(SYS_pwrite64), .delayed_bytes = SMALL_BYTES,
     .base = run_byte_writes);

static int run_direct(struct file *file, uint64_t n, size_t size, bool writes)
{
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++) {
        result = writes ? full_io_write(file->direct_fd, file->buffer, size, file->at, NULL)
                        : full_io_read(file->direct_fd, file->buffer, size, file->at);
        file->at = (file->at + size) % FILE_BYTES;
    }
    return result;
}

static int run_direct_reads_4k(void *state, uint64_t n)
{
    return run_direct(state, n, SMALL_BYTES, false);
}

static int run_direct_reads_64k(void *state, uint64_t n)
{
    return run_direct(state, n, LARGE_BYTES, false);
}

static int run_direct_writes_4k(void *state, uint64_t n)
{
    return run_direct(state, n, SMALL_BYTES, true);
}

ATOM(direct_read_4k, "direct_read_4k", "one direct read of 4 KiB", open_direct, run_direct_reads_4k,
     close_file, ATOM_DELAYS_CALLS(SYS_pread64));

ATOM(direct_read_64k, "direct_read_64k", "one direct read of 64 KiB", open_direct, run_direct_reads_64k,
     close_file, ATOM_DELAYS_CALLS(SYS_pread64));

ATOM(direct_write_4k, "direct_write_4k", "one direct write of 4 KiB", open_direct, run_direct_writes_4k,
     close_file, ATOM_DELAYS_CALLS(SYS_pwrite64));

static int open_queued(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    int result = open_direct(place, shared, ret_state);
    if (result < 0)
        return result;
    struct file *file = *ret_state;
    if (io_setup(DEPTH, &file->queue) == 0)
        return 0;
    /* An old kernel, a filter of system calls, or a limit on such requests. */
    close_file(file);
    *ret_state = NULL;
    return -EOPNOTSUPP;
}

static int submit_read(struct file *file, struct iocb *iocb, void *buffer)
{
    io_prep_pread(iocb, file->direct_fd, buffer, SMALL_BYTES, (long long)file->at);
    file->at = (file->at + STRIDE_BYTES) % FILE_BYTES;
    const int result = io_submit(file->queue, 1, &iocb);
    return result == 1 ? 0 : result < 0 ? result : -EAGAIN;
}

/* Waits for one, and takes all that have ended. Their number; a negative errno. */
static int reap_reads(struct file *file, struct io_event *events)
{
    int n;
    do {
        n = io_getevents(file->queue, 1, DEPTH, events, NULL);
    } while (n == -EINTR);
    for (int i = 0; i < n; i++) {
        if ((long)events[i].res != SMALL_BYTES)
            return (long)events[i].res < 0 ? (int)events[i].res : -EIO;
    }
    return n;
}

/* The queue stays full until the last have been sent. After a failure some may be under way, which the end of
 * the queue waits for. */
static int run_queued_reads(void *state, uint64_t n)
{
    struct file *file = state;
    struct iocb iocbs[DEPTH];
    struct io_event events[DEPTH];
    uint64_t n_sent = 0, n_ended = 0;
    int result = 0;
    for (; n_sent < n && n_sent < DEPTH && result == 0; n_sent++)
        result = submit_read(file, &iocbs[n_sent], file->buffer + n_sent * SMALL_BYTES);
    while (n_ended < n && result == 0) {
        const int n_reaped = reap_reads(file, events);
        result = n_reaped < 0 ? n_reaped : 0;
        for (int i = 0; i < n_reaped && n_sent < n && result == 0; i++, n_sent++)
            result = submit_read(file, events[i].obj, events[i].obj->u.c.buf);
        n_ended += n_reaped > 0 ? (uint64_t)n_reaped : 0;
    }
    return result;
}

ATOM(direct_read_queued, "direct_read_4k_queued", "one direct read of 4 KiB of 16 at a time", open_queued,
     run_queued_reads, close_file, .delays_each = 0);

static int run_flushes(void *state, uint64_t n)
{
    const struct file *file = state;
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++) {
        result = full_io_write(file->fd, file->buffer, SMALL_BYTES, 0, NULL);
        if (result == 0)
            result = full_io_sync(file->fd);
    }
    return result;
}

ATOM(flush, "flush", "one fdatasync of 4 KiB", open_file, run_flushes, close_file,
     ATOM_DELAYS_CALLS(SYS_fdatasync), .base = run_cache_writes);
