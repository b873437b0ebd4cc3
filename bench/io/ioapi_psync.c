/* pread and pwrite, one at a time: submit does the transfer, reap hands the outcome out. */
#include "bench/io/ioapi.h"
#include "bench/io/ioapi_blocking.h"

#include <string.h>

static int psync_open(void *state, const struct ioapi_config *config, struct err *err)
{
    struct ioapi_blocking *psync = state;
    if (config->n_calls != 1)
        return err_set(err, -EINVAL, "psync has one call in flight, not %u", config->n_calls);
    *psync = (struct ioapi_blocking){.name = "psync", .sync_each = config->sync_each};
    return 0;
}

static int psync_submit(void *state, struct io_call *const *calls, size_t n, size_t *ret_n, struct err *err)
{
    struct ioapi_blocking *psync = state;
    (void)err;
    if (n == 0 || psync->done != NULL) {
        *ret_n = 0;
        return 0;
    }
    struct io_call *call = calls[0];
    call->result = ioapi_blocking_transfer(call->fd, call, psync->sync_each);
    psync->done = call;
    *ret_n = 1;
    return 0;
}

/* The loop stands here and not in the caller: that saves a return per request, and after a system call a
 * processor seldom predicts where a return leads. */
static size_t psync_transfer(void *state, struct io_call *call, const uint64_t *offsets_bytes, size_t n,
                             const atomic_int *stop)
{
    const struct ioapi_blocking *psync = state;
    size_t i = 0;
    for (; i < n && (stop == NULL || atomic_load_explicit(stop, memory_order_relaxed) == 0); i++) {
        call->offset_bytes = offsets_bytes[i];
        call->result = ioapi_blocking_transfer(call->fd, call, psync->sync_each);
        if (call->result != (int64_t)call->size_bytes)
            break;
    }
    return i;
}

static void psync_close(void *state)
{
    memset(state, 0, sizeof(struct ioapi_blocking));
}

const struct ioapi_ops ioapi_psync = {
    .name = "psync",
    .api = API_PSYNC,
    .state_size = sizeof(struct ioapi_blocking),
    .inline_io = true,
    .probe = ioapi_blocking_probe,
    .open = psync_open,
    .submit = psync_submit,
    .reap = ioapi_blocking_reap,
    .transfer = psync_transfer,
    .close = psync_close,
};
