/* One preadv or pwritev of queue_depth buffers at one offset: the queue depth of Erofeev's program. */
#include "bench/base/full_io.h"
#include "bench/io/ioapi.h"
#include "bench/io/ioapi_blocking.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

struct pvec {
    struct ioapi_blocking blocking;
    uint32_t n_vector_max;
    uint32_t n_vector;    /* parts that the vector describes now ... */
    uint64_t size_bytes;  /* ... of a buffer of this size ... */
    const void *buffer;   /* ... at this place */
    struct iovec *vector; /* n_vector_max */
};

static int pvec_open(void *state, const struct ioapi_config *config, struct err *err)
{
    struct pvec *pvec = state;
    uint32_t n = config->requests_per_call;
    if (config->n_calls != 1)
        return err_set(err, -EINVAL, "pvec has one call in flight, not %u", config->n_calls);
    if (n < 1 || n > IOV_MAX)
        return err_set(err, -EINVAL, "pvec: %u buffers a call; the system takes 1..%d", n, IOV_MAX);
    *pvec = (struct pvec){.blocking = {.name = "pvec", .sync_each = config->sync_each}, .n_vector_max = n};
    pvec->vector = calloc(n, sizeof(*pvec->vector));
    if (pvec->vector == NULL)
        return err_set(err, -ENOMEM, "pvec: no memory for a vector of %u buffers", n);
    return 0;
}

/* Describes the parts of the call's buffer. The pump reuses its only call, so that this mostly finds nothing
 * to do. */
static void describe(struct pvec *pvec, const struct io_call *call)
{
    size_t part_bytes = call->size_bytes / call->n_requests;
    if (call->buffer == pvec->buffer && call->size_bytes == pvec->size_bytes &&
        call->n_requests == pvec->n_vector)
        return;
    for (uint32_t i = 0; i < call->n_requests; i++)
        pvec->vector[i] = (struct iovec){(unsigned char *)call->buffer + i * part_bytes, part_bytes};
    pvec->n_vector = call->n_requests;
    pvec->size_bytes = call->size_bytes;
    pvec->buffer = call->buffer;
}

static int64_t transfer(const struct pvec *pvec, const struct io_call *call)
{
    int n = (int)pvec->n_vector;
    unsigned n_tries = 0;
    ssize_t moved;
    do
        moved = call->is_write ? pwritev(call->fd, pvec->vector, n, (off_t)call->offset_bytes)
                               : preadv(call->fd, pvec->vector, n, (off_t)call->offset_bytes);
    while (moved < 0 && retry_interrupted(&n_tries));
    if (moved < 0)
        return -errno;
    if (pvec->blocking.sync_each && call->is_write && (uint64_t)moved == call->size_bytes)
        return ioapi_blocking_sync(call->fd, moved);
    return moved;
}

static int pvec_submit(void *state, struct io_call *const *calls, size_t n, size_t *ret_n, struct err *err)
{
    struct pvec *pvec = state;
    if (n == 0 || pvec->blocking.done != NULL) {
        *ret_n = 0;
        return 0;
    }
    struct io_call *call = calls[0];
    if (call->n_requests < 1 || call->n_requests > pvec->n_vector_max ||
        call->size_bytes % call->n_requests != 0)
        return err_set(err, -EINVAL, "pvec: a call of %u requests does not fit a vector of %u",
                       call->n_requests, pvec->n_vector_max);
    describe(pvec, call);
    call->result = transfer(pvec, call);
    pvec->blocking.done = call;
    *ret_n = 1;
    return 0;
}

static void pvec_close(void *state)
{
    struct pvec *pvec = state;
    free(pvec->vector);
    memset(pvec, 0, sizeof(*pvec));
}

const struct ioapi_ops ioapi_pvec = {
    .name = "pvec",
    .api = API_PVEC,
    .state_size = sizeof(struct pvec),
    .inline_io = true,
    .probe = ioapi_blocking_probe,
    .open = pvec_open,
    .submit = pvec_submit,
    .reap = ioapi_blocking_reap,
    .close = pvec_close,
};
