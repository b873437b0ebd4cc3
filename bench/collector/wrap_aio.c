/* bench/collector/wrap_aio: requests that are handed to the kernel by libaio and collected later. */
#include "bench/collector/collector.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <sys/uio.h>
#include <time.h>

#ifndef RWF_DSYNC
#define RWF_DSYNC 2
#endif

static bool is_transfer(const struct iocb *call)
{
    return call->aio_lio_opcode == IOCB_CMD_PREAD || call->aio_lio_opcode == IOCB_CMD_PWRITE ||
           call->aio_lio_opcode == IOCB_CMD_PREADV || call->aio_lio_opcode == IOCB_CMD_PWRITEV;
}

static bool writes(const struct iocb *call)
{
    return call->aio_lio_opcode == IOCB_CMD_PWRITE || call->aio_lio_opcode == IOCB_CMD_PWRITEV;
}

static uint64_t n_bytes_of(const struct iocb *call)
{
    const struct iovec *parts = (const struct iovec *)(uintptr_t)call->aio_buf;
    uint64_t n = 0;
    if (call->aio_lio_opcode == IOCB_CMD_PREAD || call->aio_lio_opcode == IOCB_CMD_PWRITE)
        return call->aio_nbytes;
    for (uint64_t i = 0; i < call->aio_nbytes; i++)
        n += parts[i].iov_len;
    return n;
}

static uint32_t count_transfers(struct iocb **calls, long n)
{
    uint32_t n_transfers = 0;
    for (long i = 0; i < n; i++)
        n_transfers += is_transfer(calls[i]) && descriptors_find((int)calls[i]->aio_fildes) != NULL;
    return n_transfers;
}

static void take(const struct iocb *call, uint64_t start_ns)
{
    const struct descriptor *descriptor = descriptors_find((int)call->aio_fildes);
    if (descriptor == NULL)
        return;
    if (!is_transfer(call)) {
        sink_flush(descriptor->file, start_ns, start_ns);
        return;
    }
    unsigned flags = descriptor->flags | SINK_ASYNC | (writes(call) ? SINK_WRITES : 0);
    if (((unsigned)call->aio_rw_flags & RWF_DSYNC) != 0)
        flags |= SINK_DURABLE;
    const struct sink_request request = {.start_ns = start_ns,
                                         .file = descriptor->file,
                                         .handle = descriptor->handle,
                                         .thread = collector_thread(),
                                         .offset_bytes = (uint64_t)call->aio_offset,
                                         .n_bytes = n_bytes_of(call),
                                         .flags = flags};
    if (request.n_bytes > 0)
        sink_take(&request);
}

/* Some may be complete before the call returns, so they are in flight from before it on. */
WRAPPER(int, io_submit, void *context, long n, struct iocb **calls)
{
    REAL(int, io_submit, void *, long, struct iocb **);
    if (!collector_is_followed() || n <= 0)
        return real.call(context, n, calls);
    int saved = errno;
    bool is_recorded = collector_is_on();
    uint64_t start_ns = collector_now_ns();
    uint32_t n_begun = count_transfers(calls, n);
    sink_submit(start_ns, n_begun);
    for (long i = 0; i < n && is_recorded; i++)
        take(calls[i], start_ns);
    errno = saved;
    int result = real.call(context, n, calls);
    saved = errno;
    /* What was not taken comes again, and is counted twice then, which is told. */
    if (result < n) {
        long n_taken = result > 0 ? result : 0;
        sink_reap(collector_now_ns(), count_transfers(calls + n_taken, n - n_taken));
        sink_add(SINK_FAILED, is_recorded ? (uint64_t)(n - n_taken) : 0);
    }
    errno = saved;
    return result;
}

static void collected(const struct io_event *events, int n, bool is_recorded)
{
    uint32_t n_transfers = 0;
    uint64_t late = 0, n_failed = 0;
    for (int i = 0; i < n; i++) {
        const struct iocb *call = (const struct iocb *)(uintptr_t)events[i].obj;
        if (!is_transfer(call) || descriptors_find((int)call->aio_fildes) == NULL)
            continue;
        n_transfers++;
        late += events[i].res > 0 ? (uint64_t)events[i].res : 0;
        n_failed += events[i].res < 0;
    }
    sink_reap(collector_now_ns(), n_transfers);
    sink_add(SINK_LATE, is_recorded ? late : 0);
    sink_add(SINK_FAILED, is_recorded ? n_failed : 0);
}

/* Returns n, which the real call returned. */
static int reaped(const struct io_event *events, int n)
{
    int saved = errno;
    if (n > 0 && collector_is_followed())
        collected(events, n, collector_is_on());
    errno = saved;
    return n;
}

WRAPPER(int, io_getevents, void *context, long least, long most, struct io_event *events,
        struct timespec *timeout)
{
    REAL(int, io_getevents, void *, long, long, struct io_event *, struct timespec *);
    return reaped(events, real.call(context, least, most, events, timeout));
}

WRAPPER(int, io_pgetevents, void *context, long least, long most, struct io_event *events,
        struct timespec *timeout, void *mask)
{
    REAL(int, io_pgetevents, void *, long, long, struct io_event *, struct timespec *, void *);
    return reaped(events, real.call(context, least, most, events, timeout, mask));
}
