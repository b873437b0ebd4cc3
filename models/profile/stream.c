/* models/profile/stream: cursors that follow the runs of a stream. */
#include "models/profile/stream.h"

#include "models/profile/cells.h"

#include <stddef.h>

/* Cursors that have no run yet are kept, so that one request among many random ones cannot push a run out. */
#define LEAST_NEW 2
/* Of a run whose first request was not judged random: there is nothing to redeem. */
#define NO_BEGIN UINT64_MAX
/* Quarters of a bit: what each request of a run costs, what is enough, and what is kept at most. */
#define CHANCE    8
#define PROOF     16
#define MOST_BITS 24

uint64_t stream_n(const struct stream *stream)
{
    return cells_read(&stream->n[STREAM_SEQUENTIAL]) + cells_read(&stream->n[STREAM_STRIDED]) +
           cells_read(&stream->n[STREAM_RANDOM]);
}

bool stream_is_closed(const struct stream *stream)
{
    return __atomic_load_n(&stream->is_closed, __ATOMIC_RELAXED) != 0;
}

void stream_clear(struct stream *stream)
{
    __atomic_store_n(&stream->is_closed, 0, __ATOMIC_RELAXED);
    cells_clear(&stream->file, sizeof *stream - offsetof(struct stream, file));
}

static void note_size(struct stream *stream, uint64_t n_bytes)
{
    if (stream->size_votes == 0)
        cells_put(&stream->size_candidate, n_bytes);
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
    return n_new >= LEAST_NEW ? newcomers[(cells_hash(stream->n_taken) >> 32) * n_new >> 32] : oldest;
}

/* In quarters, by the first three binary digits; n > 0. */
static int quarter_log2(uint64_t n)
{
    int log2 = 63 - __builtin_clzll(n);
    uint64_t digits = log2 >= 2 ? n >> (log2 - 2) : n << (2 - log2);
    return 4 * log2 + (int)(digits & 3);
}

/* Whether the run is more than chance after this request, which goes on from it. */
static bool weigh(const struct stream *stream, struct stream_cursor *cursor,
                  const struct profile_request *request)
{
    uint64_t n_places = (stream->high - stream->low) / request->n_bytes + 1;
    uint64_t n_since = stream->n_taken - cursor->used;
    int bits = (int)cursor->quarter_bits;
    if (request->offset_bytes == stream->high)
        bits += PROOF;
    else if (cursor->run > 0)
        bits += quarter_log2(n_places) - quarter_log2(n_since > 0 ? n_since : 1) - CHANCE;
    cursor->quarter_bits = bits < 0 ? 0 : bits > MOST_BITS ? MOST_BITS : (unsigned)bits;
    cursor->is_proved = bits >= PROOF || (cursor->is_proved && bits >= 0);
    return bits >= 0;
}

static void advance(struct stream *stream, struct stream_cursor *cursor,
                    const struct profile_request *request)
{
    stream->latest = (uint64_t)(cursor - stream->cursor);
    cursor->stride = (int64_t)(request->offset_bytes - cursor->last);
    cursor->last = request->offset_bytes;
    cursor->end = request->offset_bytes + request->n_bytes;
    cursor->used = (uint32_t)stream->n_taken;
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
    uint64_t before = stream->cursor[stream->latest].last;
    struct stream_cursor *cursor = find_victim(stream);
    stream->latest = (uint64_t)(cursor - stream->cursor);
    *cursor =
        (struct stream_cursor){.begin = begin,
                               .last = request->offset_bytes,
                               .end = request->offset_bytes + request->n_bytes,
                               .stride = stream->n_taken > 1 ? (int64_t)(request->offset_bytes - before) : 0,
                               .used = (uint32_t)stream->n_taken,
                               .run = is_start,
                               .is_proved = is_start};
}

/* What goes on from a cursor: the first to do so waits for the next one, and all for the run to be more than
 * chance, unless there is more to say for them. */
static struct stream_verdict go_on(struct stream *stream, struct stream_cursor *cursor,
                                   const struct profile_request *request)
{
    bool first_was_random = stream->n_taken == 2 && stream->n[STREAM_RANDOM] == 1;
    bool is_likely = weigh(stream, cursor, request);
    advance(stream, cursor, request);
    if (!is_likely) {
        cursor->run = cursor->pending = 0;
        return (struct stream_verdict){STREAM_RANDOM, 0};
    }
    unsigned n_joined = join(stream, cursor) + first_was_random, n_redeemed = cursor->pending + n_joined;
    if (first_was_random)
        cursor->begin = NO_BEGIN;
    bool is_run = cursor->is_proved && (cursor->run > 1 || n_joined > 0);
    cursor->pending = is_run ? 0 : n_redeemed + 1;
    cursor->run += is_run && cursor->run == 1;
    return is_run ? (struct stream_verdict){STREAM_SEQUENTIAL, n_redeemed}
                  : (struct stream_verdict){STREAM_RANDOM, 0};
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
    /* The cursor that it strides from keeps its end: evenly interleaved runs look like steps, too. */
    if (find_striding(stream, offset) != NULL) {
        begin_run(stream, request, NO_BEGIN, false);
        __atomic_store_n(&stream->stride, stream->cursor[stream->latest].stride, __ATOMIC_RELAXED);
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
    uint64_t end = request->offset_bytes + request->n_bytes, *n = stream->n;
    if (stream->n_taken == 1 || request->offset_bytes < stream->low)
        stream->low = request->offset_bytes;
    stream->high = end > stream->high ? end : stream->high;
    if (verdict.order != STREAM_UNJUDGED)
        cells_put(&n[verdict.order], n[verdict.order] + 1);
    if (verdict.n_redeemed > n[STREAM_RANDOM])
        verdict.n_redeemed = (unsigned)n[STREAM_RANDOM];
    cells_put(&n[STREAM_RANDOM], n[STREAM_RANDOM] - verdict.n_redeemed);
    cells_put(&n[STREAM_SEQUENTIAL], n[STREAM_SEQUENTIAL] + verdict.n_redeemed);
    cells_put(&stream->n_bytes, stream->n_bytes + request->n_bytes);
    stream->flags |= request->flags;
    cells_put(&stream->last_ns, request->start_ns);
    note_size(stream, request->n_bytes);
    return verdict;
}
