/* models/profile/stream: cursors that follow the runs of a stream. */
#include "models/profile/stream.h"

#include "models/profile/cells.h"

#include <stddef.h>

/* Cursors that have no run yet are kept, so that one request among many random ones cannot push a run out. */
#define LEAST_NEW 2
/* Of a run whose first request was not judged random: there is nothing to redeem. */
#define NO_BEGIN UINT64_MAX

uint64_t stream_n(const struct stream *stream)
{
    return stream->n[STREAM_SEQUENTIAL] + stream->n[STREAM_STRIDED] + stream->n[STREAM_RANDOM];
}

static void note_size(struct stream *stream, uint64_t n_bytes)
{
    if (stream->size_votes == 0)
        stream->size_candidate = n_bytes;
    stream->size_votes += stream->size_candidate == n_bytes ? 1 : UINT64_MAX;
}

/* The cursor that a new run may take: an unused one, else by chance one of those without a run, so that a run
 * that comes back after many others has a chance to be known; where too few are without, the one unused for
 * longest. */
static struct stream_cursor *find_victim(struct stream *stream)
{
    struct stream_cursor *oldest = &stream->cursor[0], *newcomers[STREAM_N_CURSORS];
    uint64_t n_new = 0;
    for (size_t i = 0; i < STREAM_N_CURSORS; i++) {
        struct stream_cursor *cursor = &stream->cursor[i];
        if (cursor->used == 0)
            return cursor;
        if (cursor->run == 0)
            newcomers[n_new++] = cursor;
        if (cursor->used < oldest->used)
            oldest = cursor;
    }
    return n_new >= LEAST_NEW ? newcomers[cells_hash(stream->n_taken) % n_new] : oldest;
}

static struct stream_cursor *find_latest(struct stream *stream)
{
    struct stream_cursor *latest = NULL;
    for (size_t i = 0; i < STREAM_N_CURSORS; i++) {
        struct stream_cursor *cursor = &stream->cursor[i];
        if (cursor->used > 0 && (latest == NULL || cursor->used > latest->used))
            latest = cursor;
    }
    return latest;
}

static void advance(struct stream_cursor *cursor, const struct profile_request *request, uint32_t now)
{
    cursor->stride = (int64_t)(request->offset_bytes - cursor->last);
    cursor->last = request->offset_bytes;
    cursor->end = request->offset_bytes + request->n_bytes;
    cursor->used = now;
    cursor->run += cursor->run < UINT32_MAX;
}

/* Where the run meets the beginning of another it takes it over. Returns how many of that one's requests were
 * judged random; 0: there is none. */
static unsigned join(struct stream *stream, struct stream_cursor *run)
{
    for (size_t i = 0; i < STREAM_N_CURSORS; i++) {
        struct stream_cursor *other = &stream->cursor[i];
        if (other == run || other->used == 0 || other->begin != run->end)
            continue;
        unsigned n_random = 1 + other->pending;
        run->end = other->end;
        run->last = other->last;
        *other = (struct stream_cursor){0};
        return n_random;
    }
    return 0;
}

static struct stream_cursor *find_going_on(struct stream *stream, uint64_t offset)
{
    for (size_t i = 0; i < STREAM_N_CURSORS; i++) {
        struct stream_cursor *cursor = &stream->cursor[i];
        if (cursor->used > 0 && cursor->end == offset)
            return cursor;
    }
    return NULL;
}

static struct stream_cursor *find_striding(struct stream *stream, uint64_t offset)
{
    for (size_t i = 0; i < STREAM_N_CURSORS; i++) {
        struct stream_cursor *cursor = &stream->cursor[i];
        if (cursor->used > 0 && cursor->stride != 0 && (int64_t)(offset - cursor->last) == cursor->stride)
            return cursor;
    }
    return NULL;
}

/* A new run; what it is behind the last request may be a step that comes again. */
static void begin_run(struct stream *stream, const struct profile_request *request, uint64_t begin,
                      bool is_start)
{
    struct stream_cursor *latest = find_latest(stream);
    int64_t stride = latest != NULL ? (int64_t)(request->offset_bytes - latest->last) : 0;
    *find_victim(stream) = (struct stream_cursor){.begin = begin,
                                                  .last = request->offset_bytes,
                                                  .end = request->offset_bytes + request->n_bytes,
                                                  .stride = stride,
                                                  .used = (uint32_t)stream->n_taken,
                                                  .run = is_start};
}

/* What goes on from a cursor: the first to do so waits for the next one, unless there is more to say for it.
 */
static struct stream_verdict go_on(struct stream *stream, struct stream_cursor *cursor,
                                   const struct profile_request *request)
{
    bool first_was_random = stream->n_taken == 2 && stream->n[STREAM_RANDOM] == 1;
    advance(cursor, request, (uint32_t)stream->n_taken);
    unsigned n_redeemed = cursor->pending + join(stream, cursor) + first_was_random;
    if (first_was_random)
        cursor->begin = NO_BEGIN;
    cursor->pending = cursor->run == 1 && n_redeemed == 0;
    if (cursor->pending != 0)
        return (struct stream_verdict){STREAM_RANDOM, 0};
    cursor->run += cursor->run == 1;
    return (struct stream_verdict){STREAM_SEQUENTIAL, n_redeemed};
}

/* The first request is judged by the file, or by the one that follows it. */
static struct stream_verdict judge(struct stream *stream, const struct profile_request *request,
                                   struct stream_context context)
{
    uint64_t offset = request->offset_bytes;
    struct stream_cursor *cursor = find_going_on(stream, offset);
    if (cursor != NULL)
        return go_on(stream, cursor, request);
    bool is_first = stream->n_taken == 1, is_start = is_first && (offset == 0 || context.goes_on);
    /* The cursor that it strides from keeps its end: runs that are interleaved evenly look like steps, too.
     */
    if (find_striding(stream, offset) != NULL) {
        begin_run(stream, request, NO_BEGIN, false);
        stream->stride = find_latest(stream)->stride;
        return (struct stream_verdict){STREAM_STRIDED, 0};
    }
    bool is_unknown = is_first && !is_start && context.is_pressed;
    begin_run(stream, request, is_start || is_unknown ? NO_BEGIN : offset, is_start);
    enum stream_order order = is_unknown ? STREAM_UNJUDGED : is_start ? STREAM_SEQUENTIAL : STREAM_RANDOM;
    return (struct stream_verdict){order, 0};
}

struct stream_verdict stream_take(struct stream *stream, const struct profile_request *request,
                                  struct stream_context context)
{
    /* The count of requests is the time of the cursors. */
    stream->n_taken++;
    struct stream_verdict verdict = judge(stream, request, context);
    if (verdict.order != STREAM_UNJUDGED)
        stream->n[verdict.order]++;
    if (verdict.n_redeemed > stream->n[STREAM_RANDOM])
        verdict.n_redeemed = (unsigned)stream->n[STREAM_RANDOM];
    stream->n[STREAM_RANDOM] -= verdict.n_redeemed;
    stream->n[STREAM_SEQUENTIAL] += verdict.n_redeemed;
    stream->n_bytes += request->n_bytes;
    stream->flags |= request->flags;
    stream->last_ns = request->start_ns;
    note_size(stream, request->n_bytes);
    return verdict;
}
