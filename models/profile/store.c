/* models/profile/store: the parts of the store, and what each request changes in them. */
#include "models/profile/store.h"

#include "models/profile/cells.h"
#include "models/profile/store_slots.h"

#include <errno.h>

#define MAGIC          0x32306e7574736670ULL
#define BYTES_PER_SLOT 2048
#define FEW_BYTES      (128U << 10) /* a store below it has fewer intervals */
#define LEAST_SLOTS    16
#define ROOMY_BYTES    (64U << 10) /* a store below it has fewer places for marks */
#define LEAST_MARKS    2

static uint64_t power_of_two_below(uint64_t n)
{
    return n == 0 ? 0 : 1ULL << (63 - __builtin_clzll(n));
}

/* Parts after the header: files, streams, intervals, locks of the slots, blocks in what is left, and marks
 * behind them. */
static int lay_out(struct store *store, size_t n_bytes)
{
    uint64_t slots = power_of_two_below(n_bytes / BYTES_PER_SLOT), at = sizeof *store;
    store->n_bytes = n_bytes;
    store->n_files = store->n_streams = slots < LEAST_SLOTS ? LEAST_SLOTS : slots;
    store->files_at = at;
    at += store->n_files * sizeof(struct store_file);
    store->streams_at = at;
    at += store->n_streams * sizeof(struct stream);
    store->intervals_at = at;
    store->timeline.n_intervals = n_bytes < FEW_BYTES ? 64 : 256;
    at += store->timeline.n_intervals * sizeof(struct timeline_interval);
    store->locks_at = at;
    at += (store->n_files + store->n_streams) / STORE_SLOTS_WAYS * sizeof(uint64_t);
    store->blocks_at = at;
    size_t n_kept = (n_bytes >= ROOMY_BYTES ? MARKS_MOST : LEAST_MARKS) * sizeof(struct mark);
    if (at + n_kept >= n_bytes)
        return -EINVAL;
    store->blocks.n_entries = power_of_two_below((n_bytes - n_kept - at) / sizeof(struct blocks_entry));
    store->marks_at = at + store->blocks.n_entries * sizeof(struct blocks_entry);
    uint64_t n_marks = (n_bytes - store->marks_at) / sizeof(struct mark);
    store->marks.n_slots = n_marks < MARKS_MOST ? n_marks : MARKS_MOST;
    return store->blocks.n_entries > 0 ? 0 : -EINVAL;
}

int store_init(struct store *store, size_t n_bytes, uint64_t now_ns)
{
    if (n_bytes < STORE_MIN_BYTES || n_bytes > STORE_MAX_BYTES || lay_out(store, n_bytes) < 0)
        return -EINVAL;
    store->start_ns = store->last_ns = now_ns;
    flight_start(&store->flight, now_ns);
    store->timeline.log2_ns = TIMELINE_FIRST_LOG2_NS;
    store->magic = MAGIC;
    return 0;
}

/* Whoever holds a stream ends with a slot that is free. */
static void forget_streams(struct store *store)
{
    for (uint64_t i = 0; i < store->n_streams; i++) {
        struct stream *stream = &store_streams(store)[i];
        bool has_it = cells_take(&stream->lock);
        __atomic_store_n(&stream->key, 0, __ATOMIC_RELEASE);
        if (!has_it)
            continue;
        stream_clear(stream);
        cells_give(&stream->lock);
    }
}

static void forget_time(struct store *store)
{
    bool has_it = cells_take(&store->timeline.lock);
    cells_clear(store_intervals(store), store->timeline.n_intervals * sizeof(struct timeline_interval));
    cells_clear(&store->timeline.n_lost, sizeof store->timeline.n_lost);
    __atomic_store_n(&store->timeline.log2_ns, TIMELINE_FIRST_LOG2_NS, __ATOMIC_RELEASE);
    if (has_it)
        cells_give(&store->timeline.lock);
    cells_clear(store->flight.depth_ns, sizeof store->flight.depth_ns);
    cells_clear(&store->flight.deep_area, sizeof store->flight.deep_area);
}

/* Adds what the cells hold to `sum`, from where they begin anew. Whoever reads `sum` first and the cells then
 * never finds more than there was. */
static uint64_t put_aside(uint64_t *cells, size_t n, uint64_t *sum)
{
    uint64_t n_taken = 0;
    for (size_t i = 0; i < n; i++)
        n_taken += cells_empty(&cells[i]);
    __atomic_fetch_add(sum, n_taken, __ATOMIC_RELEASE);
    return n_taken;
}

/* What marks look at. Returns the bytes. */
static uint64_t put_totals_aside(struct store *store)
{
    uint64_t *before = store->totals_before, n_bytes = 0;
    for (int i = 0; i < PROFILE_N_DIRECTIONS; i++) {
        bool is_read = i == PROFILE_READ;
        uint64_t *n = &before[is_read ? MARKS_READS : MARKS_WRITES];
        uint64_t n_sequential = put_aside(&store->n[i][STREAM_SEQUENTIAL], 1,
                                          &before[is_read ? MARKS_SEQ_READS : MARKS_SEQ_WRITES]);
        __atomic_fetch_add(n, n_sequential, __ATOMIC_RELEASE);
        put_aside(store->n[i], STREAM_N_ORDERS, n);
        put_aside(&store->n_unjudged[i], 1, n);
        n_bytes += put_aside(&store->bytes[i], 1, &before[is_read ? MARKS_READ_BYTES : MARKS_WRITTEN_BYTES]);
    }
    put_aside(&store->n_flushes, 1, &before[MARKS_FLUSHES]);
    return n_bytes;
}

/* Processes that are gone are counted no more. Returns how many these are. */
static uint64_t forget_processes(struct store *store)
{
    uint64_t n = cells_read(&store->count[STORE_PROCESSES]), n_there = 0;
    for (size_t i = 0; i < STORE_PROCESSES_MOST; i++)
        n_there += __atomic_load_n(&store->processes[i].pid, __ATOMIC_RELAXED) != 0;
    bool is_done = n > n_there && cells_swap(&store->count[STORE_PROCESSES], n, n_there);
    return is_done ? n - n_there : 0;
}

/* What the system has counted of the program until now has passed. */
static void forget_counts(struct store *store)
{
    uint64_t *count = store->count;
    uint64_t n_told = put_totals_aside(store) + cells_empty(&count[STORE_OTHER_BYTES]) -
                      cells_empty(&count[STORE_LATE_BYTES]) + forget_processes(store) * STORE_LOADER_BYTES;
    store_count(store, STORE_PASSED_BYTES, n_told);
    put_aside(&count[STORE_LOST_REQUESTS], 1, &store->lost_before);
    for (int i = 0; i < STORE_N_COUNTS; i++) {
        if (i != STORE_PASSED_BYTES && i != STORE_PROCESSES && i != STORE_LOST_REQUESTS &&
            i != STORE_OTHER_BYTES && i != STORE_LATE_BYTES)
            cells_clear(&count[i], sizeof count[i]);
    }
    cells_clear(store->spent_ns, offsetof(struct store, flight) - offsetof(struct store, spent_ns));
    cells_clear(store->sizes, sizeof store->sizes);
    cells_clear(&store->between, sizeof store->between);
    for (uint64_t i = 0; i < store->n_files; i++)
        cells_clear(&store_files(store)[i].n_flushes, sizeof(uint64_t));
}

/* A pause begins anew as well, unless another thread ends it just now. */
static void forget_pauses(struct store *store, uint64_t now_ns)
{
    uint64_t since_ns = cells_read(&store->paused_since_ns);
    cells_clear(&store->paused_ns, sizeof store->paused_ns);
    if (since_ns != 0 && now_ns > since_ns && cells_swap(&store->paused_since_ns, since_ns, now_ns))
        cells_add(&store->paused_ever_ns, now_ns - since_ns);
}

static uint64_t count_requests(const struct store *store, enum profile_direction direction)
{
    uint64_t n = cells_read(&store->n_unjudged[direction]);
    for (int order = 0; order < STREAM_N_ORDERS; order++)
        n += cells_read(&store->n[direction][order]);
    return n;
}

/* Of what marks look at, over all new beginnings: each of them only grows. MARKS_NS is the clock without
 * pauses, so that it is not in question when the recording began. */
static void find_totals(const struct store *store, uint64_t now_ns, uint64_t ret[MARKS_N_TOTALS])
{
    uint64_t since_ns = cells_read(&store->paused_since_ns);
    for (int i = 0; i < MARKS_N_TOTALS; i++)
        ret[i] = __atomic_load_n(&store->totals_before[i], __ATOMIC_ACQUIRE);
    ret[MARKS_READS] += count_requests(store, PROFILE_READ);
    ret[MARKS_SEQ_READS] += cells_read(&store->n[PROFILE_READ][STREAM_SEQUENTIAL]);
    ret[MARKS_WRITES] += count_requests(store, PROFILE_WRITE);
    ret[MARKS_SEQ_WRITES] += cells_read(&store->n[PROFILE_WRITE][STREAM_SEQUENTIAL]);
    ret[MARKS_READ_BYTES] += cells_read(&store->bytes[PROFILE_READ]);
    ret[MARKS_WRITTEN_BYTES] += cells_read(&store->bytes[PROFILE_WRITE]);
    ret[MARKS_FLUSHES] += cells_read(&store->n_flushes);
    ret[MARKS_NS] = (since_ns != 0 && since_ns < now_ns ? since_ns : now_ns) -
                    __atomic_load_n(&store->paused_ever_ns, __ATOMIC_ACQUIRE);
}

/* last_ns is never seen below start_ns by whoever renews, and of two at once the later one holds. */
void store_renew(struct store *store, uint64_t now_ns)
{
    uint64_t totals[MARKS_N_TOTALS];
    cells_raise(&store->last_ns, now_ns);
    cells_raise(&store->start_ns, now_ns);
    forget_pauses(store, now_ns);
    forget_streams(store);
    forget_time(store);
    blocks_forget(&store->blocks, store_blocks(store));
    forget_counts(store);
    find_totals(store, now_ns, totals);
    marks_forget(&store->marks, store_marks(store), totals);
    flight_skip(&store->flight, now_ns);
}

bool store_is_sound(const struct store *store, size_t n_bytes)
{
    struct store expected = {0};
    if (n_bytes < STORE_MIN_BYTES || n_bytes > STORE_MAX_BYTES || store->magic != MAGIC)
        return false;
    return lay_out(&expected, n_bytes) == 0 && store->n_bytes == n_bytes &&
           store->n_files == expected.n_files && store->n_streams == expected.n_streams &&
           store->files_at == expected.files_at && store->streams_at == expected.streams_at &&
           store->intervals_at == expected.intervals_at && store->blocks_at == expected.blocks_at &&
           store->locks_at == expected.locks_at &&
           store->timeline.n_intervals == expected.timeline.n_intervals &&
           store->blocks.n_entries == expected.blocks.n_entries && store->marks_at == expected.marks_at &&
           store->marks.n_slots == expected.marks.n_slots && store->blocks.shift < 64 &&
           store->timeline.log2_ns >= TIMELINE_FIRST_LOG2_NS && store->timeline.log2_ns < 64;
}

static void *part(const struct store *store, uint64_t at)
{
    return (char *)(uintptr_t)store + at;
}

struct store_file *store_files(const struct store *store)
{
    return part(store, store->files_at);
}

struct stream *store_streams(const struct store *store)
{
    return part(store, store->streams_at);
}

struct timeline_interval *store_intervals(const struct store *store)
{
    return part(store, store->intervals_at);
}

struct blocks_entry *store_blocks(const struct store *store)
{
    return part(store, store->blocks_at);
}

struct mark *store_marks(const struct store *store)
{
    return part(store, store->marks_at);
}

uint32_t store_new_handle(struct store *store)
{
    return __atomic_add_fetch(&store->next_handle, 1, __ATOMIC_RELAXED);
}

void store_count(struct store *store, enum store_count what, uint64_t n)
{
    cells_add(&store->count[what], n);
}

uint64_t store_lost_ever(const struct store *store)
{
    uint64_t n_before = __atomic_load_n(&store->lost_before, __ATOMIC_ACQUIRE);
    return n_before + cells_read(&store->count[STORE_LOST_REQUESTS]);
}

void store_begin(struct store *store, uint64_t now_ns, uint32_t n)
{
    flight_begin(&store->flight, now_ns, n);
}

void store_end(struct store *store, uint64_t now_ns, uint32_t n)
{
    flight_end(&store->flight, now_ns, n);
    cells_follow(&store->last_ns, now_ns);
}

void store_skip(struct store *store, uint64_t now_ns)
{
    flight_skip(&store->flight, now_ns);
}

void store_pause(struct store *store, uint64_t now_ns)
{
    cells_follow(&store->last_ns, now_ns);
    flight_begin(&store->flight, now_ns, 0);
    cells_swap(&store->paused_since_ns, 0, now_ns);
    __atomic_fetch_or(&store->is_stopped, STORE_PAUSED, __ATOMIC_ACQ_REL);
    /* Another thread has ended the pause before it was one. */
    if (cells_read(&store->paused_since_ns) == 0)
        __atomic_fetch_and(&store->is_stopped, ~(uint32_t)STORE_PAUSED, __ATOMIC_ACQ_REL);
}

void store_go_on(struct store *store, uint64_t now_ns)
{
    uint64_t since_ns = __atomic_exchange_n(&store->paused_since_ns, 0, __ATOMIC_ACQ_REL);
    if (since_ns != 0) {
        uint64_t spent_ns = now_ns > since_ns ? now_ns - since_ns : 0;
        __atomic_fetch_add(&store->paused_ever_ns, spent_ns, __ATOMIC_RELEASE);
        cells_add(&store->paused_ns, spent_ns);
        flight_skip(&store->flight, now_ns);
        cells_follow(&store->last_ns, now_ns);
    }
    __atomic_fetch_and(&store->is_stopped, ~(uint32_t)STORE_PAUSED, __ATOMIC_ACQ_REL);
}

bool store_is_paused(const struct store *store)
{
    return (__atomic_load_n(&store->is_stopped, __ATOMIC_RELAXED) & STORE_PAUSED) != 0;
}

uint64_t store_spent_ns(const struct store *store)
{
    uint64_t start_ns = cells_read(&store->start_ns), last_ns = cells_read(&store->last_ns);
    return last_ns > start_ns ? last_ns - start_ns : 0;
}

uint64_t store_paused_ns(const struct store *store)
{
    uint64_t since_ns = cells_read(&store->paused_since_ns), last_ns = cells_read(&store->last_ns);
    return cells_read(&store->paused_ns) + (since_ns != 0 && last_ns > since_ns ? last_ns - since_ns : 0);
}

uint64_t store_mark(struct store *store, const char *name, uint64_t now_ns)
{
    uint64_t totals[MARKS_N_TOTALS];
    cells_follow(&store->last_ns, now_ns);
    find_totals(store, now_ns, totals);
    return marks_take(&store->marks, store_marks(store), name, now_ns, totals);
}

size_t store_list_marks(const struct store *store, struct mark ret[MARKS_MOST])
{
    uint64_t totals[MARKS_N_TOTALS];
    find_totals(store, cells_read(&store->last_ns), totals);
    return marks_list(&store->marks, store_marks(store), totals, ret);
}

struct store_process *store_join(struct store *store, uint32_t pid)
{
    /* One that runs another program in its place keeps its own. */
    for (size_t i = 0; i < STORE_PROCESSES_MOST; i++) {
        if (__atomic_load_n(&store->processes[i].pid, __ATOMIC_RELAXED) == pid)
            return &store->processes[i];
    }
    for (size_t i = 0; i < STORE_PROCESSES_MOST; i++) {
        uint32_t is_free = 0;
        if (__atomic_compare_exchange_n(&store->processes[i].pid, &is_free, pid, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return &store->processes[i];
    }
    return NULL;
}

void store_leave(struct store *store, struct store_process *process, uint64_t now_ns)
{
    uint64_t n = __atomic_exchange_n(&process->n_in_flight, 0, __ATOMIC_RELAXED);
    /* Below zero where another process began what this one saw the end of. */
    if (n > 0 && n <= UINT32_MAX)
        store_end(store, now_ns, (uint32_t)n);
    __atomic_store_n(&process->pid, 0, __ATOMIC_RELEASE);
}

/* Judged with the file's and the stream's help; false where the stream has no place or is busy, or nobody can
 * know. */
static bool judge(struct store *store, const struct profile_request *request, struct stream_verdict *ret)
{
    struct store_file *file = store_slots_file(store, request->file, request->start_ns);
    struct stream *stream = store_slots_stream(store, request);
    uint64_t end = request->offset_bytes + request->n_bytes;
    bool goes_on = false;
    if (file != NULL) {
        uint64_t *last_end = &file->last_end[request->direction];
        goes_on = cells_read(last_end) == request->offset_bytes;
        __atomic_store_n(last_end, end, __ATOMIC_RELAXED);
        __atomic_store_n(&file->last_ns, request->start_ns, __ATOMIC_RELAXED);
        if (request->direction == PROFILE_WRITE && (request->flags & PROFILE_DURABLE) == 0)
            cells_add(&file->n_unflushed, 1);
    }
    if (file == NULL)
        store_count(store, STORE_LOST_FILES, 1);
    if (stream == NULL)
        return false;
    const struct stream_context context = {.goes_on = goes_on,
                                           .is_pressed = cells_read(&store->count[STORE_EVICTED]) > 0};
    *ret = stream_take(stream, request, context);
    cells_give(&stream->lock);
    return ret->order != STREAM_UNJUDGED;
}

/* Those that were judged before a new beginning are counted no more. */
static void redeem(uint64_t n[STREAM_N_ORDERS], uint64_t n_redeemed)
{
    uint64_t n_random = cells_read(&n[STREAM_RANDOM]);
    while (n_random >= n_redeemed) {
        if (cells_swap(&n[STREAM_RANDOM], n_random, n_random - n_redeemed)) {
            cells_add(&n[STREAM_SEQUENTIAL], n_redeemed);
            return;
        }
        n_random = cells_read(&n[STREAM_RANDOM]);
    }
}

static void count_order(struct store *store, const struct profile_request *request, bool is_judged,
                        struct stream_verdict verdict)
{
    uint64_t *n = store->n[request->direction];
    enum timeline_kind kind = request->direction == PROFILE_READ ? TIMELINE_RAND_READ : TIMELINE_RAND_WRITE;
    if (!is_judged) {
        cells_add(&store->n_unjudged[request->direction], 1);
        return;
    }
    cells_add(&n[verdict.order], 1);
    if (verdict.n_redeemed > 0)
        redeem(n, verdict.n_redeemed);
    if (verdict.order == STREAM_SEQUENTIAL)
        kind = request->direction == PROFILE_READ ? TIMELINE_SEQ_READ : TIMELINE_SEQ_WRITE;
    uint64_t begin_ns = cells_read(&store->start_ns);
    uint64_t since_ns = request->start_ns > begin_ns ? request->start_ns - begin_ns : 0;
    timeline_take(&store->timeline, store_intervals(store), since_ns, kind, request->n_bytes);
}

static void note_thread(struct store *store, uint32_t thread)
{
    uint64_t *word = &store->threads[thread / 64 % STORE_THREAD_WORDS], bit = 1ULL << (thread % 64);
    if ((cells_read(word) & bit) == 0)
        __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

void store_expect(const struct store *store, uint64_t file, uint64_t offset_bytes)
{
    blocks_expect(&store->blocks, store_blocks(store), file, offset_bytes);
}

void store_take(struct store *store, const struct profile_request *request)
{
    struct stream_verdict verdict = {STREAM_RANDOM, 0};
    bool is_judged = judge(store, request, &verdict);
    uint64_t bits = request->offset_bytes | request->n_bytes;
    unsigned alignment = (unsigned)__builtin_ctzll(bits | 1ULL << (STORE_ALIGNMENTS - 1));
    count_order(store, request, is_judged, verdict);
    cells_add(&store->bytes[request->direction], request->n_bytes);
    cells_add(&store->alignment[alignment], 1);
    if ((request->flags & PROFILE_DIRECT) != 0)
        cells_add(&store->n_direct, 1);
    if ((request->flags & PROFILE_DURABLE) != 0 && request->direction == PROFILE_WRITE)
        cells_add(&store->n_durable, 1);
    if ((request->flags & PROFILE_ASYNC) != 0)
        cells_add(&store->n_async, 1);
    if ((request->flags & PROFILE_RING) != 0)
        cells_add(&store->n_ringed, 1);
    bins_add(&store->sizes[request->direction], request->n_bytes);
    note_thread(store, request->thread);
    blocks_take(&store->blocks, store_blocks(store), request->file, request->offset_bytes, request->n_bytes);
    cells_follow(&store->last_ns, request->start_ns);
}

void store_took(struct store *store, enum profile_direction direction, uint64_t spent_ns)
{
    cells_add(&store->spent_ns[direction], spent_ns);
}

static void flush_file(struct store *store, struct store_file *file)
{
    uint64_t n = __atomic_exchange_n(&file->n_unflushed, 0, __ATOMIC_RELAXED);
    if (n == 0) {
        cells_add(&store->n_empty_flushes, 1);
        return;
    }
    cells_add(&file->n_flushes, 1);
    cells_add(&store->n_flushed_writes, n);
    bins_add(&store->between, n);
}

void store_flush(struct store *store, uint64_t file, uint64_t now_ns, uint64_t spent_ns)
{
    uint64_t begin_ns = cells_read(&store->start_ns), since_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
    cells_add(&store->n_flushes, 1);
    cells_add(&store->flush_ns, spent_ns);
    timeline_take(&store->timeline, store_intervals(store), since_ns, TIMELINE_FLUSH, 0);
    cells_follow(&store->last_ns, now_ns);
    for (uint64_t i = 0; i < store->n_files && file == 0; i++) {
        struct store_file *each = &store_files(store)[i];
        if (cells_read(&each->n_unflushed) > 0)
            flush_file(store, each);
    }
    struct store_file *found = file != 0 ? store_slots_file(store, file, now_ns) : NULL;
    if (found != NULL)
        flush_file(store, found);
}
