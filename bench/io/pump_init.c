/* What a pump is made of: its calls, their sizes, its offsets. */
#include "bench/io/pump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int make_calls(struct pump *pump, const struct pump_config *config)
{
    pump->calls = calloc(config->n_calls, sizeof *pump->calls);
    pump->idle = calloc(config->n_calls, sizeof(struct io_call *));
    pump->ready = calloc(config->n_calls, sizeof(struct io_call *));
    pump->slots_opened_ns = calloc(config->n_calls, sizeof *pump->slots_opened_ns);
    if (pump->calls == NULL || pump->idle == NULL || pump->ready == NULL || pump->slots_opened_ns == NULL)
        return -ENOMEM;
    bool coalesced = config->rounds_per_call > 1;
    bool writes = pump->only_kind == PATTERN_SEQ_WRITE || pump->only_kind == PATTERN_RAND_WRITE;
    for (uint32_t i = 0; i < config->n_calls; i++) {
        struct io_call *call = &pump->calls[i];
        call->slot = i;
        /* In a mix, the kind and size are set for every call. */
        call->is_write = writes;
        call->size_bytes = pump->call_bytes[writes];
        call->buffer = config->buffers != NULL ? config->buffers + i * pump->most_call_bytes : NULL;
        call->fd = config->fds != NULL ? config->fds[0] : -1;
        call->n_requests = config->requests_per_call;
        call->n_rounds = coalesced ? config->rounds_per_call : 1;
    }
    return 0;
}

static void set_sizes(struct pump *pump, const struct pump_config *config)
{
    uint64_t writes = config->write_size_bytes != 0 ? config->write_size_bytes : config->request_size_bytes;
    pump->request_size_bytes = config->request_size_bytes;
    pump->call_bytes[0] = config->request_size_bytes * config->requests_per_call;
    pump->call_bytes[1] = writes * config->requests_per_call;
    pump->most_call_bytes =
        pump->call_bytes[0] > pump->call_bytes[1] ? pump->call_bytes[0] : pump->call_bytes[1];
}

int pump_init(struct pump *pump, const struct pump_config *config, struct err *err)
{
    *pump = (struct pump){
        .clock = config->clock,
        .ops = config->ops,
        .pattern = config->pattern,
        .n_calls = config->n_calls,
        .requests_per_call = config->requests_per_call,
        .rounds_per_call = config->rounds_per_call,
        .batch_requests = config->batch_requests,
        .works_in_submit = config->works_in_submit,
        .fds = config->fds,
        .n_files = config->n_files,
        .shift_bytes = config->shift_bytes,
        .content = config->content,
        .verify = config->verify,
    };
    set_sizes(pump, config);
    rng_init(&pump->rng, config->seed);
    pump->only_kind = PATTERN_N_KINDS;
    for (int kind = 0; kind < PATTERN_N_KINDS; kind++) {
        if (config->pattern.percent[kind] == 100 && config->verify == NULL && config->n_files <= 1)
            pump->only_kind = (enum pattern_kind)kind;
    }
    int result = make_calls(pump, config);
    if (result < 0) {
        pump_done(pump);
        return err_set(err, result, "no memory for %u requests in flight", config->n_calls);
    }
    result = offsets_init(&pump->offsets, &config->pattern, config->base_bytes, config->region_bytes,
                          pump->call_bytes, rng_derive(config->seed, 1));
    if (result < 0) {
        pump_done(pump);
        return err_set(err, result,
                       "a region of %" PRIu64 " bytes is too small for requests of %" PRIu64
                       " bytes; use a larger --file-size",
                       config->region_bytes, pump->most_call_bytes);
    }
    if (config->skew.kind != SKEW_NONE)
        offsets_skew(&pump->offsets, &config->skew, rng_derive(config->seed, 2));
    for (uint32_t i = 0; config->buffers != NULL && !content_is_plain(&config->content) && i < pump->n_calls;
         i++)
        content_lay(&config->content, pump->calls[i].buffer, pump->most_call_bytes, &pump->rng);
    return 0;
}

void pump_done(struct pump *pump)
{
    free(pump->calls);
    free(pump->idle);
    free(pump->ready);
    free(pump->slots_opened_ns);
    pump->slots_opened_ns = NULL;
    pump->calls = NULL;
    pump->idle = pump->ready = NULL;
}
