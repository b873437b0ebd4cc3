/* Who may pass, by which way, and what has passed in a slice of time. */
#include "tuner/nightly/disk_gate.h"

#include "bench/base/clock.h"

#define SLICE_NS          (CLOCK_NS_PER_S / 20)
#define SLICE_BUSY_NS     (SLICE_NS / 5)
#define SLICE_MOST_NS     (3 * CLOCK_NS_PER_S)
#define SLICE_REQUESTS    64
#define IDLE_NS           CLOCK_NS_PER_S
#define MOST_UNFLUSHED    (4U << 20) /* that a switch may flush */
#define FLUSHED_REMAINDER 8          /* a flush that leaves less than such a part of a slice has flushed it */
#define CLOSED            0x80000000U
#define WAY_UNIT          4096U /* of sizes in a way */
#define NO_WAY            UINT64_MAX

/* A way in one word: a bit, pieces and what is gathered in units, and what is read ahead. */
static uint64_t pack(struct image_way way)
{
    return (uint64_t)way.direct << 63 | (uint64_t)(way.piece_bytes / WAY_UNIT) << 48 |
           (uint64_t)(way.out_bytes / WAY_UNIT) << 32 | way.ahead_bytes;
}

static struct image_way unpack(uint64_t packed)
{
    return (struct image_way){.direct = packed >> 63 != 0,
                              .piece_bytes = (uint32_t)(packed >> 48 & 0x7fff) * WAY_UNIT,
                              .out_bytes = (uint32_t)(packed >> 32 & 0xffff) * WAY_UNIT,
                              .ahead_bytes = (uint32_t)packed};
}

struct image_way disk_gate_way(const struct disk_gate *gate)
{
    return unpack(atomic_load_explicit(&gate->way, memory_order_relaxed));
}

void disk_gate_try(struct disk_gate *gate, const struct image_way *way)
{
    atomic_store(&gate->tried_way, way != NULL ? pack(*way) : NO_WAY);
}

int disk_gate_init(struct disk_gate *gate, struct image_flush *flush, struct image_way way)
{
    *gate = (struct disk_gate){.flush = flush, .way = pack(way), .tried_way = NO_WAY, .wanted = way};
    disk_gate_slice_begin(gate, clock_now_ns(&clock_monotonic));
    int code = -pthread_mutex_init(&gate->lock, NULL);
    if (code == 0 && (code = -pthread_cond_init(&gate->changed, NULL)) != 0)
        pthread_mutex_destroy(&gate->lock);
    return code;
}

void disk_gate_done(struct disk_gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
}

static void add(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void set(atomic_uint_fast64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

void disk_gate_note_written(struct disk_gate *gate, uint64_t n_bytes)
{
    atomic_fetch_add(&gate->written_bytes, n_bytes);
}

uint64_t disk_gate_written_bytes(const struct disk_gate *gate)
{
    return atomic_load(&gate->written_bytes);
}

static uint64_t unflushed(const struct disk_gate *gate)
{
    return get(&gate->written_bytes) - gate->flushed_bytes;
}

void disk_gate_slice_begin(struct disk_gate *gate, uint64_t now_ns)
{
    struct disk_gate_slice *slice = &gate->slice;
    atomic_fetch_add(&slice->number, 1);
    set(&slice->begin_ns, now_ns);
    set(&gate->left_ns, now_ns);
    set(&slice->idle_ns, 0);
    for (size_t i = 0; i < PROFILE_N_DIRECTIONS; i++)
        set(&slice->n[i], 0);
    set(&slice->n_bytes, 0);
    set(&slice->n_sequential, 0);
    for (size_t group = 0; group < LATENCY_N_CLASSES; group++)
        for (size_t i = 0; i < LATENCY_N_BUCKETS; i++)
            atomic_store_explicit(&slice->latencies[group][i], 0, memory_order_relaxed);
    slice->switch_ns = 0;
}

struct kind_counts disk_gate_slice_counts(const struct disk_gate *gate)
{
    const struct disk_gate_slice *slice = &gate->slice;
    struct kind_counts counts = {.n_bytes = get(&slice->n_bytes), .n_sequential = get(&slice->n_sequential)};
    for (size_t i = 0; i < PROFILE_N_DIRECTIONS; i++)
        counts.n[i] = get(&slice->n[i]);
    return counts;
}

struct latency_counts disk_gate_slice_latencies(const struct disk_gate *gate)
{
    struct latency_counts counts;
    for (size_t group = 0; group < LATENCY_N_CLASSES; group++)
        for (size_t i = 0; i < LATENCY_N_BUCKETS; i++)
            counts.n[group][i] = atomic_load_explicit(&gate->slice.latencies[group][i], memory_order_relaxed);
    return counts;
}

struct latency_counts disk_gate_take_late(struct disk_gate *gate, enum disk_gate_role role)
{
    struct latency_counts counts;
    for (size_t group = 0; group < LATENCY_N_CLASSES; group++)
        for (size_t i = 0; i < LATENCY_N_BUCKETS; i++)
            counts.n[group][i] =
                atomic_exchange_explicit(&gate->late[role][group][i], 0, memory_order_relaxed);
    return counts;
}

uint64_t disk_gate_slice_busy_ns(const struct disk_gate *gate, uint64_t now_ns)
{
    uint64_t not_busy_ns = get(&gate->slice.begin_ns) + get(&gate->slice.idle_ns);
    return now_ns > not_busy_ns ? now_ns - not_busy_ns : 0;
}

/* Nobody is inside. The kernel writes out cached pages before direct requests and forgets them after direct
 * writes; with nothing unflushed and nobody under way it has nothing to do at the border. */
static void change_over(struct disk_gate *gate)
{
    if (gate->wanted.direct && unflushed(gate) > 0) {
        int code;
        if (image_flush_wait(gate->flush, &code))
            image_flush_make(gate->flush);
        gate->flushed_bytes = get(&gate->written_bytes);
    }
    gate->n_changes++;
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    disk_gate_slice_begin(gate, now_ns);
    gate->slice.switch_ns = now_ns - gate->drain_ns;
    set(&gate->way, pack(gate->wanted));
    atomic_fetch_and(&gate->inside, ~CLOSED);
    pthread_cond_broadcast(&gate->changed);
}

/* Ways that are both cached or both direct may mix; else the gate closes as soon as little is unflushed. */
static void reconsider(struct disk_gate *gate)
{
    if (disk_gate_way(gate).direct == gate->wanted.direct) {
        set(&gate->way, pack(gate->wanted));
        atomic_fetch_and(&gate->inside, ~CLOSED);
        pthread_cond_broadcast(&gate->changed);
    } else if ((atomic_load(&gate->inside) & CLOSED) == 0 &&
               (!gate->wanted.direct || unflushed(gate) <= MOST_UNFLUSHED)) {
        gate->drain_ns = 0;
        atomic_fetch_or(&gate->inside, CLOSED);
    }
}

/* The last one inside wakes who waits here, or the first one who comes finds nobody inside. */
static void wait_and_enter(struct disk_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while ((atomic_load(&gate->inside) & CLOSED) != 0) {
        if (gate->drain_ns == 0)
            gate->drain_ns = clock_now_ns(&clock_monotonic);
        if (atomic_load(&gate->inside) == CLOSED)
            change_over(gate);
        else
            pthread_cond_wait(&gate->changed, &gate->lock);
    }
    atomic_fetch_add(&gate->inside, 1);
    pthread_mutex_unlock(&gate->lock);
}

/* A sequential reader is kept half a window to a whole one ahead of. */
static void plan_ahead(struct disk_gate_client *client, const struct profile_request *request,
                       struct disk_gate_pass *pass)
{
    uint64_t window = pass->way.ahead_bytes, end = request->offset_bytes + request->n_bytes;
    if (client->ahead_end_bytes < end || client->ahead_end_bytes > end + window)
        client->ahead_end_bytes = end;
    if (client->ahead_end_bytes - end > window / 2)
        return;
    pass->ahead_from_bytes = client->ahead_end_bytes;
    pass->ahead_n_bytes = end + window - client->ahead_end_bytes;
    client->ahead_end_bytes = end + window;
}

/* Whoever would have to wait for another request of the client is taken for what the last one was. */
static void judge(struct disk_gate_client *client, const struct profile_request *request,
                  struct disk_gate_pass *pass)
{
    atomic_bool *was_sequential = &client->was_sequential[request->direction];
    atomic_flag *is_judging = &client->is_judging[request->direction];
    if (atomic_flag_test_and_set_explicit(is_judging, memory_order_acquire)) {
        pass->is_sequential = atomic_load_explicit(was_sequential, memory_order_relaxed);
        return;
    }
    struct stream_verdict verdict =
        stream_take(&client->stream[request->direction], request, (struct stream_context){0});
    pass->is_sequential = verdict.order == STREAM_SEQUENTIAL;
    atomic_store_explicit(was_sequential, pass->is_sequential, memory_order_relaxed);
    if (pass->is_sequential && request->direction == PROFILE_READ && !pass->way.direct &&
        pass->way.ahead_bytes > IMAGE_AHEAD_KERNEL)
        plan_ahead(client, request, pass);
    atomic_flag_clear_explicit(is_judging, memory_order_release);
}

/* The first one inside ends a time of idleness; after a long one a slice begins. */
static void end_idleness(struct disk_gate *gate, uint64_t now_ns)
{
    uint64_t left_ns = get(&gate->left_ns);
    uint64_t idle_ns = now_ns > left_ns ? now_ns - left_ns : 0;
    if (idle_ns > IDLE_NS) {
        pthread_mutex_lock(&gate->lock);
        disk_gate_slice_begin(gate, now_ns);
        pthread_mutex_unlock(&gate->lock);
    } else {
        add(&gate->slice.idle_ns, idle_ns);
    }
}

void disk_gate_enter(struct disk_gate *gate, struct disk_gate_client *client,
                     const struct profile_request *request, struct disk_gate_pass *ret_pass)
{
    unsigned before = atomic_fetch_add(&gate->inside, 1);
    if ((before & CLOSED) != 0) {
        atomic_fetch_sub(&gate->inside, 1);
        wait_and_enter(gate);
    }
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    if (before == 0)
        end_idleness(gate, now_ns);
    /* The number first: a slice gets it after its way. */
    *ret_pass = (struct disk_gate_pass){.slice = atomic_load(&gate->slice.number), .begin_ns = now_ns};
    uint64_t way = get(&gate->way);
    ret_pass->way = unpack(way);
    if (way == get(&gate->tried_way)) {
        ret_pass->role = DISK_GATE_TRIED;
        atomic_fetch_add(&gate->n_tried, 1);
    }
    if (request != NULL)
        judge(client, request, ret_pass);
}

static void count(struct disk_gate *gate, const struct disk_gate_pass *pass,
                  const struct profile_request *request, uint64_t latency_ns)
{
    struct disk_gate_slice *slice = &gate->slice;
    bool is_late = pass->slice != get(&slice->number);
    enum latency_class group =
        request == NULL || (request->flags & PROFILE_DURABLE) != 0 ? LATENCY_FLUSHES : LATENCY_MOVES;
    atomic_uint_least32_t *latencies = is_late ? gate->late[pass->role][group] : slice->latencies[group];
    atomic_fetch_add_explicit(&latencies[latency_bucket(latency_ns)], 1, memory_order_relaxed);
    if (is_late || request == NULL)
        return;
    add(&slice->n[request->direction], 1);
    add(&slice->n_bytes, request->n_bytes);
    if (pass->is_sequential)
        add(&slice->n_sequential, 1);
}

uint64_t disk_gate_leave(struct disk_gate *gate, const struct disk_gate_pass *pass,
                         const struct profile_request *request, bool counts)
{
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    if (counts)
        count(gate, pass, request, now_ns - pass->begin_ns);
    if (pass->role == DISK_GATE_TRIED)
        atomic_fetch_sub(&gate->n_tried, 1);
    set(&gate->left_ns, now_ns);
    if (atomic_fetch_sub(&gate->inside, 1) == (CLOSED | 1)) {
        pthread_mutex_lock(&gate->lock);
        pthread_cond_broadcast(&gate->changed);
        pthread_mutex_unlock(&gate->lock);
    }
    return now_ns;
}

bool disk_gate_note_flush(struct disk_gate *gate, const struct disk_gate_pass *pass)
{
    if (pass->written_bytes > gate->flushed_bytes)
        gate->flushed_bytes = pass->written_bytes;
    reconsider(gate);
    return unflushed(gate) <= get(&gate->slice.n_bytes) / FLUSHED_REMAINDER;
}

void disk_gate_want(struct disk_gate *gate, struct image_way way)
{
    gate->wanted = way;
    reconsider(gate);
}

bool disk_gate_slice_is_whole(const struct disk_gate *gate, bool is_flushed)
{
    return is_flushed || get(&gate->slice.n[PROFILE_WRITE]) == 0;
}

bool disk_gate_slice_is_over(const struct disk_gate *gate, bool is_flushed, uint64_t now_ns)
{
    uint64_t begin_ns = get(&gate->slice.begin_ns), ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
    if (ns < SLICE_NS)
        return false;
    struct kind_counts counts = disk_gate_slice_counts(gate);
    return ns >= SLICE_MOST_NS || (counts.n[PROFILE_READ] + counts.n[PROFILE_WRITE] >= SLICE_REQUESTS &&
                                   disk_gate_slice_busy_ns(gate, now_ns) >= SLICE_BUSY_NS &&
                                   disk_gate_slice_is_whole(gate, is_flushed));
}
