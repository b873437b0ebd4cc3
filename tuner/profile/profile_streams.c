/* tuner/profile/profile_streams: streams joined by file and direction. */
#include "tuner/profile/profile_streams.h"

#include "tuner/base/json.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_STRIDED 0.05 /* of the requests, for steps that are told */

uint64_t profile_streams_requests(const struct profile_stream *stream)
{
    return stream->n[STREAM_SEQUENTIAL] + stream->n[STREAM_STRIDED] + stream->n[STREAM_RANDOM];
}

static int by_file(const void *a, const void *b)
{
    const struct stream *x = *(const struct stream *const *)a, *y = *(const struct stream *const *)b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (int)x->direction - (int)y->direction;
}

static void add(struct profile_stream *sum, const struct stream *stream)
{
    uint64_t before = profile_streams_requests(sum);
    for (int i = 0; i < STREAM_N_ORDERS; i++)
        sum->n[i] += stream->n[i];
    sum->n_bytes += stream->n_bytes;
    sum->flags |= stream->flags;
    sum->n_handles++;
    if (stream->n[STREAM_STRIDED] > 0)
        sum->stride_bytes = stream->stride;
    /* The size of the stream that says most. */
    if (stream_n(stream) > before)
        sum->size_bytes = stream->size_candidate;
}

static void keep(struct profile_stream *kept, size_t *n, const struct profile_stream *stream, size_t *n_more)
{
    size_t at = *n;
    if (*n == PROFILE_STREAMS_MOST) {
        (*n_more)++;
        if (profile_streams_requests(&kept[*n - 1]) >= profile_streams_requests(stream))
            return;
        at--;
    } else {
        (*n)++;
    }
    for (; at > 0 && profile_streams_requests(&kept[at - 1]) < profile_streams_requests(stream); at--)
        kept[at] = kept[at - 1];
    kept[at] = *stream;
}

static void set_name(const struct store *store, struct profile_stream *stream)
{
    const struct store_file *files = store_files(store);
    for (uint64_t i = 0; i < store->n_files; i++) {
        if (files[i].key == stream->file)
            memcpy(stream->name, files[i].name, sizeof stream->name - 1);
    }
}

size_t profile_streams_find(const struct store *store, struct profile_stream ret[PROFILE_STREAMS_MOST],
                            size_t *ret_n_more)
{
    const struct stream **sorted = calloc(store->n_streams, sizeof *sorted), *streams = store_streams(store);
    size_t n = 0, n_kept = 0;
    *ret_n_more = 0;
    for (uint64_t i = 0; i < store->n_streams && sorted != NULL; i++) {
        if (streams[i].key != 0 && stream_n(&streams[i]) > 0)
            sorted[n++] = &streams[i];
    }
    if (n > 0)
        qsort(sorted, n, sizeof *sorted, by_file);
    for (size_t i = 0; i < n;) {
        struct profile_stream sum = {.file = sorted[i]->file,
                                     .direction = (enum profile_direction)sorted[i]->direction,
                                     .thread = sorted[i]->thread};
        size_t first = i;
        for (; i < n && by_file(&sorted[first], &sorted[i]) == 0; i++)
            add(&sum, sorted[i]);
        set_name(store, &sum);
        keep(ret, &n_kept, &sum, ret_n_more);
    }
    free(sorted);
    return n_kept;
}

bool profile_streams_strides(const struct profile_stream *stream)
{
    return (double)stream->n[STREAM_STRIDED] >= LEAST_STRIDED * (double)profile_streams_requests(stream);
}

static json_t *stream_json(const struct profile_stream *stream)
{
    double n = (double)profile_streams_requests(stream);
    return json_pack("{s:o, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:b, s:i}", "file",
                     stream->name[0] != '\0' ? json_text(stream->name) : json_null(), "direction",
                     stream->direction == PROFILE_READ ? "read" : "write", "requests", (json_int_t)n, "bytes",
                     (json_int_t)stream->n_bytes, "request_size", (json_int_t)stream->size_bytes,
                     "sequential_share", json_number((double)stream->n[STREAM_SEQUENTIAL] / n),
                     "strided_share", json_number((double)stream->n[STREAM_STRIDED] / n), "random_share",
                     json_number((double)stream->n[STREAM_RANDOM] / n), "stride_bytes",
                     profile_streams_strides(stream) ? json_integer(stream->stride_bytes) : json_null(),
                     "direct", (int)((stream->flags & PROFILE_DIRECT) != 0), "handles",
                     (int)stream->n_handles);
}

json_t *profile_streams_json(const struct store *store)
{
    struct profile_stream streams[PROFILE_STREAMS_MOST];
    size_t n_more, n = profile_streams_find(store, streams, &n_more);
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, stream_json(&streams[i]));
    return array;
}
