/* Linux's native asynchronous I/O through libaio. It is asynchronous for direct I/O; buffered calls block in
 * io_submit. */
#include "bench/io/ioapi.h"

#include <errno.h>
#include <libaio.h>
#include <stdlib.h>
#include <string.h>

struct libaio {
    bool opened; /* the context exists */
    bool sync_each;
    int fd;
    uint32_t n_calls;
    size_t n_in_flight; /* accepted and not yet reaped */
    size_t n_in_kernel; /* of them handed to the kernel, no event yet */
    size_t n_to_sync;   /* of them written, but the kernel has not yet taken their fdatasync */
    size_t n_done;      /* of them finished */
    io_context_t context;
    struct iocb *iocbs;    /* by slot */
    struct iocb **batch;   /* what one io_submit hands over */
    struct iocb **to_sync; /* n_to_sync */
    struct io_call **done; /* n_done, oldest first */
    struct io_event *events;
};

static int explain_setup(int code, uint32_t n, struct err *err)
{
    if (code == -EAGAIN)
        return err_set(err, code,
                       "libaio: no room for %u events: the system's total (/proc/sys/fs/aio-nr) would pass "
                       "fs.aio-max-nr; raise it with sysctl",
                       n);
    if (code == -ENOSYS)
        return err_set(
            err, code,
            "libaio: io_setup is missing: the kernel was built without CONFIG_AIO, or a seccomp filter "
            "(container) hides it");
    return err_sys(err, code, "libaio: io_setup for %u events", n);
}

static int libaio_probe(struct err *err)
{
    io_context_t context = NULL;
    int rc = io_setup(1, &context);
    if (rc < 0)
        return explain_setup(rc, 1, err);
    io_destroy(context);
    return 0;
}

/* Returns how many events came, 0 when until_ns came first. */
static int wait_events(struct libaio *libaio, long n_max, uint64_t until_ns)
{
    int rc;
    do {
        struct timespec left = clock_time_left(until_ns);
        rc = io_getevents(libaio->context, 1, n_max, libaio->events, until_ns == IOAPI_NO_END ? NULL : &left);
    } while (rc == -EINTR);
    return rc;
}

/* Asynchronous fdatasync came with Linux 4.18 and not to every file system: better to find out before a run
 * than in its first write. */
static int check_fdsync(struct libaio *libaio, struct err *err)
{
    struct iocb *iocb = &libaio->iocbs[0];
    io_prep_fdsync(iocb, libaio->fd);
    int rc = io_submit(libaio->context, 1, &iocb);
    if (rc == 1)
        rc = wait_events(libaio, 1, IOAPI_NO_END);
    else if (rc == 0)
        rc = -EAGAIN;
    if (rc == 1)
        rc = (int)(long)libaio->events[0].res;
    if (rc == -EINVAL)
        return err_set(
            err, rc,
            "libaio: this kernel or file system has no asynchronous fdatasync (IOCB_CMD_FDSYNC), which "
            "sync=each needs; use another api or sync=end");
    if (rc < 0)
        return err_sys(err, rc, "libaio: asynchronous fdatasync");
    return 0;
}

/* io_destroy waits for what is in flight. */
static void libaio_close(void *state)
{
    struct libaio *libaio = state;
    if (libaio->opened)
        io_destroy(libaio->context);
    free(libaio->events);
    free(libaio->done);
    free(libaio->to_sync);
    free(libaio->batch);
    free(libaio->iocbs);
    memset(libaio, 0, sizeof(*libaio));
}

static int libaio_open(void *state, const struct ioapi_config *config, struct err *err)
{
    struct libaio *libaio = state;
    uint32_t n = config->n_calls;
    int rc;
    if (n < 1)
        return err_set(err, -EINVAL, "libaio: a queue depth of 0");
    *libaio = (struct libaio){.fd = config->fd, .sync_each = config->sync_each, .n_calls = n};
    libaio->iocbs = calloc(n, sizeof(*libaio->iocbs));
    libaio->batch = calloc(n, sizeof(*libaio->batch));
    libaio->to_sync = calloc(n, sizeof(*libaio->to_sync));
    libaio->done = calloc(n, sizeof(*libaio->done));
    libaio->events = calloc(n, sizeof(*libaio->events));
    if (libaio->iocbs == NULL || libaio->batch == NULL || libaio->to_sync == NULL || libaio->done == NULL ||
        libaio->events == NULL) {
        rc = err_set(err, -ENOMEM, "libaio: no memory for %u calls", n);
        goto out;
    }
    rc = io_setup((int)n, &libaio->context);
    if (rc < 0) {
        explain_setup(rc, n, err);
        goto out;
    }
    libaio->opened = true;
    if (libaio->sync_each)
        rc = check_fdsync(libaio, err);
out:
    if (rc < 0)
        libaio_close(libaio);
    return rc;
}

static void finish(struct libaio *libaio, struct io_call *call, int64_t result)
{
    call->result = result;
    libaio->done[libaio->n_done++] = call;
}

/* Hands iocbs to the kernel until it asks to wait; returns how many are off the caller's hands. One that the
 * kernel refuses (io_submit reports some errors of a single transfer, such as EBADF, in this way) is an
 * outcome of its call. */
static size_t push(struct libaio *libaio, struct iocb **iocbs, size_t n)
{
    size_t n_taken = 0;
    while (n_taken < n) {
        int rc = io_submit(libaio->context, (long)(n - n_taken), iocbs + n_taken);
        if (rc > 0) {
            n_taken += (size_t)rc;
            libaio->n_in_kernel += (size_t)rc;
        } else if (rc == 0 || rc == -EAGAIN) {
            break;
        } else if (rc != -EINTR) {
            finish(libaio, iocbs[n_taken]->data, rc);
            n_taken++;
        }
    }
    return n_taken;
}

static int libaio_submit(void *state, struct io_call *const *calls, size_t n, size_t *ret_n, struct err *err)
{
    struct libaio *libaio = state;
    if (n > libaio->n_calls - libaio->n_in_flight)
        n = libaio->n_calls - libaio->n_in_flight;
    for (size_t i = 0; i < n; i++) {
        struct io_call *call = calls[i];
        struct iocb *iocb = &libaio->iocbs[call->slot];
        if (call->is_write)
            io_prep_pwrite(iocb, call->fd, call->buffer, call->size_bytes, (long long)call->offset_bytes);
        else
            io_prep_pread(iocb, call->fd, call->buffer, call->size_bytes, (long long)call->offset_bytes);
        iocb->data = call;
        libaio->batch[i] = iocb;
    }
    size_t n_taken = push(libaio, libaio->batch, n);
    if (n > 0 && n_taken == 0 && libaio->n_in_flight == 0)
        return err_sys(err, -EAGAIN, "libaio: io_submit takes no call although none is in flight");
    libaio->n_in_flight += n_taken;
    *ret_n = n_taken;
    return 0;
}

/* Sends fdatasyncs after the writes that have completed. With nothing left in the kernel there is nothing to
 * wait for: then the kernel's refusal is the outcome. */
static void push_syncs(struct libaio *libaio)
{
    size_t n_taken = push(libaio, libaio->to_sync, libaio->n_to_sync);
    libaio->n_to_sync -= n_taken;
    memmove(libaio->to_sync, libaio->to_sync + n_taken, libaio->n_to_sync * sizeof(*libaio->to_sync));
    if (libaio->n_in_kernel > 0)
        return;
    for (size_t i = 0; i < libaio->n_to_sync; i++)
        finish(libaio, libaio->to_sync[i]->data, -EAGAIN);
    libaio->n_to_sync = 0;
}

static void take_event(struct libaio *libaio, const struct io_event *event)
{
    struct io_call *call = event->data;
    struct iocb *iocb = event->obj;
    int64_t result = (long)event->res; /* the kernel puts a negative errno into an unsigned long */
    if (iocb->aio_lio_opcode == IO_CMD_FDSYNC) {
        finish(libaio, call, result < 0 ? result : (int64_t)call->size_bytes);
    } else if (libaio->sync_each && call->is_write && result == (int64_t)call->size_bytes) {
        io_prep_fdsync(iocb, call->fd);
        iocb->data = call;
        libaio->to_sync[libaio->n_to_sync++] = iocb;
    } else {
        finish(libaio, call, result);
    }
}

static int libaio_reap(void *state, struct io_call **calls, size_t max, uint64_t until_ns, size_t *ret_n,
                       struct err *err)
{
    struct libaio *libaio = state;
    if (libaio->n_in_flight == 0 || max == 0)
        return err_set(err, -EINVAL, "libaio: nothing to reap");
    while (libaio->n_done == 0) {
        int rc = wait_events(libaio, (long)libaio->n_in_kernel, until_ns);
        if (rc < 0)
            return err_sys(err, rc, "libaio: io_getevents");
        if (rc == 0)
            break;
        libaio->n_in_kernel -= (size_t)rc;
        for (int i = 0; i < rc; i++)
            take_event(libaio, &libaio->events[i]);
        if (libaio->n_to_sync > 0)
            push_syncs(libaio);
    }
    size_t n = libaio->n_done < max ? libaio->n_done : max;
    memcpy(calls, libaio->done, n * sizeof(*calls));
    libaio->n_done -= n;
    memmove(libaio->done, libaio->done + n, libaio->n_done * sizeof(*calls));
    libaio->n_in_flight -= n;
    *ret_n = n;
    return 0;
}

const struct ioapi_ops ioapi_libaio = {
    .name = "libaio",
    .api = API_LIBAIO,
    .state_size = sizeof(struct libaio),
    .inline_io = true,
    .probe = libaio_probe,
    .open = libaio_open,
    .submit = libaio_submit,
    .reap = libaio_reap,
    .close = libaio_close,
};
