/* bench/collector/wrap_uring: io_uring as far as it goes through liburing: what is in the queue when it is
 * submitted, and how many completions the kernel has posted. A program that fills rings and enters the kernel
 * by itself is not seen; the ring is counted. */
#include "bench/collector/collector.h"

#include <errno.h>
#include <liburing.h>
#include <stddef.h>

#define MOST_RINGS 64

/* By the address of the ring: completions that were posted when it was looked at last. */
static struct {
    const struct io_uring *ring;
    unsigned n_posted;
} rings[MOST_RINGS];

static unsigned n_posted(const struct io_uring *ring)
{
    return __atomic_load_n(ring->cq.ktail, __ATOMIC_ACQUIRE);
}

/* NULL where there are too many rings. */
static unsigned *posted_before(const struct io_uring *ring)
{
    for (size_t i = 0; i < MOST_RINGS; i++) {
        if (__atomic_load_n(&rings[i].ring, __ATOMIC_ACQUIRE) == ring)
            return &rings[i].n_posted;
    }
    for (size_t i = 0; i < MOST_RINGS; i++) {
        const struct io_uring *none = NULL;
        if (__atomic_compare_exchange_n(&rings[i].ring, &none, ring, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            rings[i].n_posted = n_posted(ring);
            return &rings[i].n_posted;
        }
    }
    return NULL;
}

static void forget(const struct io_uring *ring)
{
    for (size_t i = 0; i < MOST_RINGS; i++) {
        const struct io_uring *held = ring;
        __atomic_compare_exchange_n(&rings[i].ring, &held, NULL, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
}

/* Completions since the last look left the flight. */
static void look_at(const struct io_uring *ring)
{
    int saved = errno;
    unsigned *before = collector_is_followed() ? posted_before(ring) : NULL;
    if (before != NULL) {
        unsigned now = n_posted(ring), n = now - __atomic_exchange_n(before, now, __ATOMIC_RELAXED);
        if (n > 0)
            sink_reap(collector_now_ns(), n);
    }
    errno = saved;
}

static bool is_vectored(const struct io_uring_sqe *entry)
{
    return entry->opcode == IORING_OP_READV || entry->opcode == IORING_OP_WRITEV;
}

static bool writes(const struct io_uring_sqe *entry)
{
    return entry->opcode == IORING_OP_WRITE || entry->opcode == IORING_OP_WRITEV ||
           entry->opcode == IORING_OP_WRITE_FIXED;
}

static bool is_transfer(const struct io_uring_sqe *entry)
{
    return writes(entry) || entry->opcode == IORING_OP_READ || entry->opcode == IORING_OP_READV ||
           entry->opcode == IORING_OP_READ_FIXED;
}

static uint64_t n_bytes_of(const struct io_uring_sqe *entry)
{
    const struct iovec *parts = (const struct iovec *)(uintptr_t)entry->addr;
    uint64_t n = 0;
    for (unsigned i = 0; is_vectored(entry) && i < entry->len; i++)
        n += parts[i].iov_len;
    return is_vectored(entry) ? n : entry->len;
}

/* Descriptors that are registered have numbers of their own, and the position is not known here. */
static bool can_be_followed(const struct io_uring_sqe *entry)
{
    return (entry->flags & IOSQE_FIXED_FILE) == 0 && (int64_t)entry->off >= 0;
}

static void take(const struct io_uring_sqe *entry, uint64_t start_ns)
{
    if (!is_transfer(entry) && entry->opcode != IORING_OP_FSYNC)
        return;
    const struct descriptor *descriptor = can_be_followed(entry) ? descriptors_find(entry->fd) : NULL;
    if (descriptor == NULL) {
        sink_add(SINK_LOST, 1);
        return;
    }
    if (!is_transfer(entry)) {
        sink_flush(descriptor->file, start_ns, start_ns);
        return;
    }
    unsigned flags = descriptor->flags | SINK_ASYNC | SINK_RINGED | (writes(entry) ? SINK_WRITES : 0);
    if (writes(entry) && (entry->rw_flags & 2) != 0)
        flags |= SINK_DURABLE;
    const struct sink_request request = {.start_ns = start_ns,
                                         .file = descriptor->file,
                                         .handle = descriptor->handle,
                                         .thread = collector_thread(),
                                         .offset_bytes = entry->off,
                                         .n_bytes = n_bytes_of(entry),
                                         .flags = flags};
    sink_add(SINK_LATE, request.n_bytes);
    if (request.n_bytes > 0)
        sink_take(&request);
}

/* What the program has prepared since the last submission. */
static void look_at_queue(const struct io_uring *ring)
{
    if (!collector_is_followed())
        return;
    int saved = errno;
    bool is_recorded = collector_is_on();
    const struct io_uring_sq *queue = &ring->sq;
    unsigned shift = (ring->flags & IORING_SETUP_SQE128) != 0, n = queue->sqe_tail - queue->sqe_head;
    uint64_t start_ns = collector_now_ns();
    look_at(ring);
    sink_submit(start_ns, n);
    for (unsigned i = 0; i < n && is_recorded; i++)
        take(&queue->sqes[((queue->sqe_head + i) & *queue->kring_mask) << shift], start_ns);
    errno = saved;
}

WRAPPER(int, io_uring_submit, struct io_uring *ring)
{
    REAL(int, io_uring_submit, struct io_uring *);
    look_at_queue(ring);
    int result = real.call(ring);
    look_at(ring);
    return result;
}

WRAPPER(int, io_uring_submit_and_get_events, struct io_uring *ring)
{
    REAL(int, io_uring_submit_and_get_events, struct io_uring *);
    look_at_queue(ring);
    int result = real.call(ring);
    look_at(ring);
    return result;
}

WRAPPER(int, io_uring_get_events, struct io_uring *ring)
{
    REAL(int, io_uring_get_events, struct io_uring *);
    int result = real.call(ring);
    look_at(ring);
    return result;
}

WRAPPER(unsigned, io_uring_peek_batch_cqe, struct io_uring *ring, struct io_uring_cqe **entries, unsigned n)
{
    REAL(unsigned, io_uring_peek_batch_cqe, struct io_uring *, struct io_uring_cqe **, unsigned);
    look_at(ring);
    return real.call(ring, entries, n);
}

/* With a limit of time old kernels need a request of their own, which submits what is prepared. */
WRAPPER(int, io_uring_wait_cqes, struct io_uring *ring, struct io_uring_cqe **entry, unsigned n,
        struct __kernel_timespec *timeout, sigset_t *mask)
{
    REAL(int, io_uring_wait_cqes, struct io_uring *, struct io_uring_cqe **, unsigned,
         struct __kernel_timespec *, sigset_t *);
    int result = real.call(ring, entry, n, timeout, mask);
    look_at(ring);
    return result;
}

WRAPPER(int, io_uring_wait_cqe_timeout, struct io_uring *ring, struct io_uring_cqe **entry,
        struct __kernel_timespec *timeout)
{
    REAL(int, io_uring_wait_cqe_timeout, struct io_uring *, struct io_uring_cqe **,
         struct __kernel_timespec *);
    int result = real.call(ring, entry, timeout);
    look_at(ring);
    return result;
}

WRAPPER(int, io_uring_submit_and_wait, struct io_uring *ring, unsigned n)
{
    REAL(int, io_uring_submit_and_wait, struct io_uring *, unsigned);
    look_at_queue(ring);
    int result = real.call(ring, n);
    look_at(ring);
    return result;
}

WRAPPER(int, io_uring_submit_and_wait_timeout, struct io_uring *ring, struct io_uring_cqe **entry, unsigned n,
        struct __kernel_timespec *timeout, sigset_t *mask)
{
    REAL(int, io_uring_submit_and_wait_timeout, struct io_uring *, struct io_uring_cqe **, unsigned,
         struct __kernel_timespec *, sigset_t *);
    look_at_queue(ring);
    int result = real.call(ring, entry, n, timeout, mask);
    look_at(ring);
    return result;
}

/* What the inline functions that wait end in. */
WRAPPER(int, __io_uring_get_cqe, struct io_uring *ring, struct io_uring_cqe **entry, unsigned n_submit,
        unsigned n, sigset_t *mask)
{
    REAL(int, __io_uring_get_cqe, struct io_uring *, struct io_uring_cqe **, unsigned, unsigned, sigset_t *);
    int result = real.call(ring, entry, n_submit, n, mask);
    look_at(ring);
    return result;
}

WRAPPER(void, io_uring_queue_exit, struct io_uring *ring)
{
    REAL(void, io_uring_queue_exit, struct io_uring *);
    look_at(ring);
    forget(ring);
    real.call(ring);
}
