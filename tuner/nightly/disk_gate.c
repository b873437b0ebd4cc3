/* Who may pass, by which way, and what has passed in a slice of time. */
#include "tuner/nightly/disk_gate.h"

#include "bench/base/clock.h"
#include "tuner/nightly/disk_ways.h"

#define SLICE_NS          (CLOCK_NS_PER_S / 20)
#define SLICE_BUSY_NS     (SLICE_NS / 5)
#define SLICE_MOST_NS     (3 * CLOCK_NS_PER_S)
#define SLICE_REQUESTS    64
#define IDLE_NS           CLOCK_NS_PER_S
#define MOST_UNFLUSHED    (4U << 20) /* that a switch may flush */
#define FLUSHED_REMAINDER 8          /* a flush that leaves less than such a part of a slice has flushed it */

int disk_gate_init(struct disk_gate *gate, const struct image *image, struct image_way way)
{
    *gate = (struct disk_gate){.image = image, .now = way, .wanted = way};
    gate->slice.begin_ns = clock_now_ns(&clock_monotonic);
    /* It is held for less than a microsecond mostly, which is not worth a sleep. */
    pthread_mutexattr_t spins;
    int code = -pthread_mutexattr_init(&spins);
    if (code == 0) {
        pthread_mutexattr_settype(&spins, PTHREAD_MUTEX_ADAPTIVE_NP);
        code = -pthread_mutex_init(&gate->lock, &spins);
        pthread_mutexattr_destroy(&spins);
    }
    if (code == 0 && (code = -pthread_cond_init(&gate->changed, NULL)) != 0)
        pthread_mutex_destroy(&gate->lock);
    return code;
}

void disk_gate_done(struct disk_gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
}

/* Time under way is counted up to now. */
static void count_busy(struct disk_gate *gate, uint64_t now_ns)
{
    /* Another thread may have read a later time and come first. */
    if (now_ns <= gate->busy_since_ns)
        return;
    if (gate->n_inside > 0)
        gate->slice.busy_ns += now_ns - gate->busy_since_ns;
    gate->busy_since_ns = now_ns;
}

static uint64_t unflushed(const struct disk_gate *gate)
{
    return gate->written_bytes - gate->flushed_bytes;
}

static void begin_slice(struct disk_gate *gate, uint64_t now_ns)
{
    count_busy(gate, now_ns);
    gate->slice = (struct disk_gate_slice){.number = gate->slice.number + 1, .begin_ns = now_ns};
}

void disk_gate_slice_begin(struct disk_gate *gate)
{
    begin_slice(gate, clock_now_ns(&clock_monotonic));
}

/* Nobody is inside. The kernel writes out cached pages before direct requests and forgets them after direct
 * writes; with nothing unflushed and nobody under way it has nothing to do at the border. */
static void change_over(struct disk_gate *gate)
{
    uint64_t begin_ns = gate->drain_ns;
    if (gate->wanted.direct && unflushed(gate) > 0) {
        int code = image_sync(gate->image);
        if (code < 0 && gate->lost_code == 0)
            gate->lost_code = code;
        gate->flushed_bytes = gate->written_bytes;
    }
    gate->now = gate->wanted;
    gate->n_changes++;
    gate->drain_ns = 0;
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    begin_slice(gate, now_ns);
    gate->slice.switch_ns = now_ns - begin_ns;
    pthread_cond_broadcast(&gate->changed);
}

static bool may_change(const struct disk_gate *gate)
{
    return !disk_ways_are_same(gate->now, gate->wanted) &&
           (!gate->wanted.direct || gate->now.direct || unflushed(gate) <= MOST_UNFLUSHED);
}

/* Waits where the way is about to change. Ways that are both cached or both direct may mix. */
static void wait_for_change(struct disk_gate *gate)
{
    while (may_change(gate)) {
        if (gate->now.direct == gate->wanted.direct) {
            gate->now = gate->wanted;
            break;
        }
        if (gate->drain_ns == 0)
            gate->drain_ns = clock_now_ns(&clock_monotonic);
        if (gate->n_inside == 0)
            change_over(gate);
        else
            pthread_cond_wait(&gate->changed, &gate->lock);
    }
    gate->drain_ns = 0;
}

/* A sequential reader is kept half a window to a whole one ahead of. */
static void plan_ahead(struct disk_gate_client *client, const struct profile_request *request,
                       struct disk_gate_pass *pass)
{
    uint64_t window = pass->way.ahead_bytes, end = request->offset_bytes + request->n_bytes;
    if (client->ahead_end < end || client->ahead_end > end + window)
        client->ahead_end = end;
    if (client->ahead_end - end > window / 2)
        return;
    pass->ahead_from = client->ahead_end;
    pass->ahead_n_bytes = end + window - client->ahead_end;
    client->ahead_end = end + window;
}

static void judge(struct disk_gate_client *client, const struct profile_request *request,
                  struct disk_gate_pass *pass)
{
    struct stream_verdict verdict =
        stream_take(&client->stream[request->direction], request, (struct stream_context){0});
    pass->is_sequential = verdict.order == STREAM_SEQUENTIAL;
    if (pass->is_sequential && request->direction == PROFILE_READ && !pass->way.direct &&
        pass->way.ahead_bytes > IMAGE_AHEAD_KERNEL)
        plan_ahead(client, request, pass);
}

void disk_gate_enter(struct disk_gate *gate, struct disk_gate_client *client,
                     const struct profile_request *request, struct disk_gate_pass *ret_pass)
{
    pthread_mutex_lock(&gate->lock);
    wait_for_change(gate);
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    if (gate->n_inside == 0 && now_ns > gate->left_ns + IDLE_NS)
        begin_slice(gate, now_ns);
    count_busy(gate, now_ns);
    gate->n_inside++;
    *ret_pass = (struct disk_gate_pass){
        .way = gate->now, .slice = gate->slice.number, .written_bytes = gate->written_bytes};
    if (request != NULL)
        judge(client, request, ret_pass);
    pthread_mutex_unlock(&gate->lock);
}

static void count_request(struct disk_gate *gate, const struct disk_gate_pass *pass,
                          const struct profile_request *request)
{
    struct disk_gate_slice *slice = &gate->slice;
    slice->n_requests++;
    slice->counts.n[request->direction]++;
    slice->counts.n_bytes += request->n_bytes;
    slice->counts.n_sequential += pass->is_sequential;
    slice->has_writes = slice->has_writes || request->direction == PROFILE_WRITE;
}

void disk_gate_leave(struct disk_gate *gate, const struct disk_gate_pass *pass,
                     const struct profile_request *request, enum disk_gate_end end)
{
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    pthread_mutex_lock(&gate->lock);
    count_busy(gate, now_ns);
    gate->left_ns = now_ns;
    if (request != NULL && request->direction == PROFILE_WRITE)
        gate->written_bytes += request->n_bytes;
    if (request != NULL && end != DISK_GATE_FAILED && pass->slice == gate->slice.number)
        count_request(gate, pass, request);
    if (end == DISK_GATE_FLUSHED && pass->written_bytes > gate->flushed_bytes)
        gate->flushed_bytes = pass->written_bytes;
    gate->slice.is_flushed =
        end == DISK_GATE_FLUSHED && unflushed(gate) <= gate->slice.counts.n_bytes / FLUSHED_REMAINDER;
    if (--gate->n_inside == 0)
        pthread_cond_broadcast(&gate->changed);
}

void disk_gate_want(struct disk_gate *gate, struct image_way way)
{
    gate->wanted = way;
    if (gate->now.direct == way.direct)
        gate->now = way;
}

bool disk_gate_slice_is_whole(const struct disk_gate *gate)
{
    return !gate->slice.has_writes || gate->slice.is_flushed;
}

bool disk_gate_slice_is_over(const struct disk_gate *gate)
{
    const struct disk_gate_slice *slice = &gate->slice;
    uint64_t ns = clock_now_ns(&clock_monotonic) - slice->begin_ns;
    bool is_long = slice->n_requests >= SLICE_REQUESTS && slice->busy_ns >= SLICE_BUSY_NS && ns >= SLICE_NS;
    return (is_long && disk_gate_slice_is_whole(gate)) || ns >= SLICE_MOST_NS;
}
