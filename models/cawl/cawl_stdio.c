/* Algorithm 2: the C library's buffer in front of the system calls. The paper has one buffer; here every file
 * has its own, as every FILE has. Time in the library passes for the flusher at the next system call. */
#include "models/cawl/cawl_internal.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

struct stdio {
    struct cawl_engine *engine;
    uint64_t bf;
    double delay; /* since the last system call */
    struct cawl_streams streams;
    int close_result;
};

static int system_call(struct stdio *stdio, uint32_t file, uint64_t offset, uint64_t size, double *cost)
{
    double call = 0;

    cawl_nosync_wait(stdio->engine, stdio->delay);
    stdio->delay = 0;

    int result = cawl_nosync_write(stdio->engine, file, offset, size, &call);

    *cost += call;
    return result;
}

static void copy(struct stdio *stdio, struct cawl_stream *stream, uint64_t size, double *cost)
{
    const struct cawl_engine *engine = stdio->engine;
    double rate = engine->options->small_calls ? engine->host->bw_buffer_bps : engine->host->bw_mem_bps;
    double seconds = (double)size / rate;

    *cost += seconds;
    stdio->delay += seconds;
    stream->pending += size;
    stream->end += size;
}

/* Counts the fixed cost of a call of the C library. */
static void count_library_call(struct stdio *stdio, double *cost)
{
    double seconds = stdio->engine->options->small_calls ? stdio->engine->host->sc_f_s : 0;

    *cost += seconds;
    stdio->delay += seconds;
}

/* Makes no system call where nothing is pending. */
static int write_pending(struct stdio *stdio, struct cawl_stream *stream, double *cost)
{
    uint64_t size = stream->pending;

    stream->pending = 0;
    return size > 0 ? system_call(stdio, stream->file, stream->end - size, size, cost) : 0;
}

static int write_chunk(struct stdio *stdio, struct cawl_stream *stream, const struct cawl_chunk *chunk,
                       double *cost)
{
    uint64_t size = chunk->size_bytes;
    int result = 0;

    stdio->delay += chunk->delay_s;
    count_library_call(stdio, cost);
    if (chunk->offset_bytes != stream->end) {
        result = write_pending(stdio, stream, cost);
        stream->end = chunk->offset_bytes;
    }
    if (result == 0 && size > stdio->bf - stream->pending) {
        uint64_t fill = stdio->bf - stream->pending, rest = size - fill, direct = rest - rest % stdio->bf;

        copy(stdio, stream, fill, cost);
        result = write_pending(stdio, stream, cost);
        if (result == 0 && direct > 0)
            result = system_call(stdio, chunk->file, stream->end, direct, cost);
        stream->end += direct;
        size = rest - direct;
    }
    copy(stdio, stream, size, cost);
    return result;
}

/* Visits the streams in the order of their files. */
static void close_stream(const void *node, VISIT visit, void *context)
{
    struct stdio *stdio = context;

    if ((visit == postorder || visit == leaf) && stdio->close_result == 0)
        stdio->close_result =
            write_pending(stdio, *(struct cawl_stream *const *)node, &stdio->engine->prediction->close_s);
}

int cawl_stdio_predict(struct cawl_engine *engine, const struct cawl_chunk *chunks)
{
    struct stdio stdio = {.engine = engine, .bf = (uint64_t)engine->host->bf_bytes};
    struct cawl_prediction *prediction = engine->prediction;
    int result = 0;

    for (size_t i = 0; i < prediction->n && result == 0; i++) {
        struct cawl_stream *stream = cawl_stream_of(&stdio.streams, &chunks[i]);

        engine->chunk = i;
        prediction->costs_s[i] = 0;
        result = stream == NULL ? -ENOMEM : write_chunk(&stdio, stream, &chunks[i], &prediction->costs_s[i]);
        prediction->end_s[i] = engine->time + stdio.delay;
        prediction->dirty_bytes[i] = (double)cawl_cache_dirty(&engine->cache);
        cawl_nosync_check(engine);
    }
    if (result == 0 && engine->options->close)
        twalk_r(stdio.streams.tree, close_stream, &stdio);
    tdestroy(stdio.streams.tree, free);
    return result == 0 ? stdio.close_result : result;
}
