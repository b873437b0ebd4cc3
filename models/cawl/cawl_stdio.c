/* Algorithm 2: the C library's buffer in front of the system calls. The paper has one buffer; here every file
 * has its own, as every FILE has. Time in the library passes for the flusher at the next system call. */
#include "models/cawl/cawl_internal.h"

#include <errno.h>
#include <stdlib.h>

struct stream {
    uint64_t end, pending; /* where the next sequential write begins; bytes before it in the buffer */
};

struct stdio {
    struct cawl_engine *engine;
    uint64_t bf;
    double delay; /* since the last system call */
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

static void copy(struct stdio *stdio, struct stream *stream, uint64_t size, double *cost)
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
static int write_pending(struct stdio *stdio, struct stream *stream, uint32_t file, double *cost)
{
    uint64_t size = stream->pending;

    stream->pending = 0;
    return size > 0 ? system_call(stdio, file, stream->end - size, size, cost) : 0;
}

static int write_chunk(struct stdio *stdio, struct stream *stream, const struct cawl_chunk *chunk,
                       double *cost)
{
    uint64_t size = chunk->size_bytes;
    int result = 0;

    stdio->delay += chunk->delay_s;
    count_library_call(stdio, cost);
    if (chunk->offset_bytes != stream->end) {
        result = write_pending(stdio, stream, chunk->file, cost);
        stream->end = chunk->offset_bytes;
    }
    if (result == 0 && size > stdio->bf - stream->pending) {
        uint64_t fill = stdio->bf - stream->pending, rest = size - fill, direct = rest - rest % stdio->bf;

        copy(stdio, stream, fill, cost);
        result = write_pending(stdio, stream, chunk->file, cost);
        if (result == 0 && direct > 0)
            result = system_call(stdio, chunk->file, stream->end, direct, cost);
        stream->end += direct;
        size = rest - direct;
    }
    copy(stdio, stream, size, cost);
    return result;
}

static int close_streams(struct stdio *stdio, struct stream *streams, const struct cawl_files *files)
{
    int result = 0;

    for (size_t i = 0; i < files->n && result == 0; i++)
        result = write_pending(stdio, &streams[i], files->ids[i], &stdio->engine->prediction->close_s);
    return result;
}

static int write_all_chunks(struct stdio *stdio, const struct cawl_chunk *chunks, struct cawl_files *files,
                            struct stream *streams)
{
    struct cawl_engine *engine = stdio->engine;
    struct cawl_prediction *prediction = engine->prediction;
    int result = 0;

    for (size_t i = 0; i < prediction->n && result == 0; i++) {
        struct stream *stream = &streams[cawl_files_index(files, chunks[i].file)];

        engine->chunk = i;
        prediction->costs_s[i] = 0;
        result = write_chunk(stdio, stream, &chunks[i], &prediction->costs_s[i]);
        prediction->end_s[i] = engine->time + stdio->delay;
        prediction->dirty_bytes[i] = (double)cawl_cache_dirty(&engine->cache);
        cawl_nosync_check(engine);
    }
    if (result == 0 && engine->options->close)
        result = close_streams(stdio, streams, files);
    return result;
}

int cawl_stdio_predict(struct cawl_engine *engine, const struct cawl_chunk *chunks)
{
    struct stdio stdio = {.engine = engine, .bf = (uint64_t)engine->host->bf_bytes};
    struct cawl_files files = {0};
    struct stream *streams = NULL;
    int result = cawl_files_init(&files, chunks, engine->prediction->n);

    if (result != 0)
        return result;
    streams = calloc(files.n + 1, sizeof(*streams));
    result = streams == NULL ? -ENOMEM : write_all_chunks(&stdio, chunks, &files, streams);
    free(streams);
    cawl_files_done(&files);
    return result;
}
