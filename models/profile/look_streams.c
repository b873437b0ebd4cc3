/* models/profile/look_streams: streams joined by file and direction, and what is new in them. */
#include "models/profile/look_streams.h"

#include "models/profile/cells.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int look_streams_open(struct look_streams *streams, const struct store *store)
{
    *streams = (struct look_streams){.streams = calloc(store->n_streams, sizeof *streams->streams),
                                     .room = store->n_streams};
    return streams->streams != NULL ? 0 : -ENOMEM;
}

void look_streams_close(struct look_streams *streams)
{
    free(streams->streams);
    *streams = (struct look_streams){0};
}

uint64_t look_streams_requests(const struct look_stream *stream)
{
    return stream->n[STREAM_SEQUENTIAL] + stream->n[STREAM_STRIDED] + stream->n[STREAM_RANDOM];
}

static int by_file(const void *a, const void *b)
{
    const struct look_stream *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->direction == y->direction ? 0 : x->direction < y->direction ? -1 : 1;
}

static struct look_stream read_stream(const struct stream *stream)
{
    struct look_stream read = {.file = cells_read(&stream->file),
                               .direction = __atomic_load_n(&stream->direction, __ATOMIC_RELAXED),
                               .n_bytes = cells_read(&stream->n_bytes),
                               .size_bytes = cells_read(&stream->size_candidate),
                               .stride_bytes = __atomic_load_n(&stream->stride, __ATOMIC_RELAXED)};
    for (int i = 0; i < STREAM_N_ORDERS; i++)
        read.n[i] = cells_read(&stream->n[i]);
    return read;
}

/* The size and the stride are those of the part that has most. */
static void join(struct look_stream *into, const struct look_stream *more)
{
    if (look_streams_requests(more) > look_streams_requests(into)) {
        into->size_bytes = more->size_bytes;
        into->stride_bytes = more->stride_bytes;
    }
    for (int i = 0; i < STREAM_N_ORDERS; i++)
        into->n[i] += more->n[i];
    into->n_bytes += more->n_bytes;
}

void look_streams_take(struct look_streams *streams, const struct store *store)
{
    const struct stream *each = store_streams(store);
    size_t n = 0, joined = 0;
    for (size_t i = 0; i < streams->room; i++) {
        if (cells_read(&each[i].key) != 0)
            streams->streams[n++] = read_stream(&each[i]);
    }
    if (n > 0)
        qsort(streams->streams, n, sizeof *streams->streams, by_file);
    for (size_t i = 0; i < n; i++) {
        if (joined > 0 && by_file(&streams->streams[joined - 1], &streams->streams[i]) == 0)
            join(&streams->streams[joined - 1], &streams->streams[i]);
        else
            streams->streams[joined++] = streams->streams[i];
    }
    streams->n = joined;
}

/* A stream that made room for another is gone with its counts, and a request that is judged again changes its
 * order. */
static void subtract(struct look_stream *from, const struct look_stream *before)
{
    for (int i = 0; i < STREAM_N_ORDERS; i++)
        from->n[i] = cells_grown(before->n[i], from->n[i]);
    from->n_bytes = cells_grown(before->n_bytes, from->n_bytes);
}

static size_t keep(struct look_stream *kept, size_t n, const struct look_stream *stream)
{
    size_t at = n < LOOK_BUSIEST ? n : LOOK_BUSIEST - 1;
    if (n == LOOK_BUSIEST && kept[at].n_bytes >= stream->n_bytes)
        return n;
    for (; at > 0 && kept[at - 1].n_bytes < stream->n_bytes; at--)
        kept[at] = kept[at - 1];
    kept[at] = *stream;
    return n < LOOK_BUSIEST ? n + 1 : n;
}

/* What came in a stream since the look before; b goes on to where the next stream may be. */
static struct look_stream news(const struct look_streams *before, size_t *b, const struct look_stream *after)
{
    struct look_stream stream = *after;
    while (*b < before->n && by_file(&before->streams[*b], &stream) < 0)
        ++*b;
    if (*b < before->n && by_file(&before->streams[*b], &stream) == 0)
        subtract(&stream, &before->streams[*b]);
    return stream;
}

size_t look_streams_busiest(const struct look_streams *before, const struct look_streams *after,
                            struct look_stream ret[LOOK_BUSIEST])
{
    size_t n_kept = 0, b = 0;
    for (size_t i = 0; i < after->n; i++) {
        const struct look_stream stream = news(before, &b, &after->streams[i]);
        if (look_streams_requests(&stream) > 0 && stream.n_bytes > 0)
            n_kept = keep(ret, n_kept, &stream);
    }
    return n_kept;
}

void look_streams_rates(const struct look_streams *before, const struct look_streams *after,
                        const struct look_rates *rates, double ret_bps[SUMMARY_N_KINDS])
{
    double in_sequence[PROFILE_N_DIRECTIONS] = {0}, all[PROFILE_N_DIRECTIONS] = {0};
    size_t b = 0;
    for (size_t i = 0; i < after->n; i++) {
        const struct look_stream stream = news(before, &b, &after->streams[i]);
        uint64_t n = look_streams_requests(&stream);
        if (n == 0 || stream.direction >= PROFILE_N_DIRECTIONS)
            continue;
        double bytes = (double)stream.n_bytes;
        in_sequence[stream.direction] += bytes * (double)stream.n[STREAM_SEQUENTIAL] / (double)n;
        all[stream.direction] += bytes;
    }
    for (int i = 0; i < PROFILE_N_DIRECTIONS; i++) {
        double share = all[i] > 0 ? in_sequence[i] / all[i] : rates->bps[i] > 0 ? NAN : 0;
        ret_bps[i == PROFILE_READ ? SUMMARY_SEQ_READ : SUMMARY_SEQ_WRITE] = rates->bps[i] * share;
        ret_bps[i == PROFILE_READ ? SUMMARY_RAND_READ : SUMMARY_RAND_WRITE] = rates->bps[i] * (1 - share);
    }
}
