/* bench/run/beside: loads beside the one that is measured. */
#include "bench/run/beside.h"

#include "bench/base/full_io.h"
#include "bench/base/rng.h"
#include "bench/io/offsets.h"
#include "bench/io/pace.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* A sleeping thread looks so often whether it is to end. */
#define SLICE_NS (CLOCK_NS_PER_S / 200)

#define BUFFER_ALIGN 4096U

/* A thread with one request in flight. */
struct beside_lane {
    struct beside *all;
    size_t load;
    int fd;
    unsigned char *buffer;
    struct offsets offsets;
    struct rng rng;
    struct pace pace;
    struct beside_figures figures;
    pthread_t thread;
    int result;
};

static const struct beside_load *load_of(const struct beside_lane *lane)
{
    return &lane->all->load[lane->load];
}

/* The kind of the next request, by the shares of the pattern. */
static enum pattern_kind draw_kind(struct beside_lane *lane)
{
    const uint32_t *percent = load_of(lane)->pattern.percent;
    double left = 100 * rng_uniform(&lane->rng);
    enum pattern_kind kind = PATTERN_SEQ_READ;
    while (kind + 1 < PATTERN_N_KINDS && left > percent[kind])
        left -= percent[kind++];
    /* The last kinds may have no share, and a sum of 100 is met by rounding alone. */
    while (percent[kind] == 0)
        kind = kind > 0 ? kind - 1 : PATTERN_N_KINDS - 1;
    return kind;
}

/* Whether another write stays below the limit; taken before it is made, so that all threads together keep it.
 */
static bool take_room(struct beside *beside, uint64_t bytes)
{
    if (beside->most_write_bytes == 0 ||
        atomic_fetch_add(&beside->taken_bytes, bytes) + bytes <= beside->most_write_bytes)
        return true;
    atomic_store(&beside->spent, true);
    return false;
}

static int make_request(struct beside_lane *lane)
{
    const struct beside_load *load = load_of(lane);
    enum pattern_kind kind = draw_kind(lane);
    bool is_read = kind == PATTERN_SEQ_READ || kind == PATTERN_RAND_READ;
    if (!is_read && !take_room(lane->all, load->request_bytes))
        return 0;
    uint64_t offset = offsets_next(&lane->offsets, kind);
    int result = is_read ? full_io_read(lane->fd, lane->buffer, load->request_bytes, offset)
                         : full_io_write(lane->fd, lane->buffer, load->request_bytes, offset, NULL);
    if (result == 0 && !is_read && load->sync_each)
        result = full_io_sync(lane->fd);
    if (result == 0 && is_read)
        lane->figures.bytes_read += load->request_bytes;
    else if (result == 0)
        lane->figures.bytes_written += load->request_bytes;
    return result;
}

/* False when the load is to end. */
static bool wait_until_due(const struct beside_lane *lane)
{
    const struct clock *clock = lane->all->clock;
    uint64_t now_ns, due_ns = pace_due_ns(&lane->pace);
    while (!atomic_load(&lane->all->stop) && !atomic_load(&lane->all->spent) &&
           (now_ns = clock_now_ns(clock)) < due_ns)
        clock_sleep_until_ns(clock, due_ns - now_ns < SLICE_NS ? due_ns : now_ns + SLICE_NS);
    return !atomic_load(&lane->all->stop) && !atomic_load(&lane->all->spent);
}

static void *run_lane(void *argument)
{
    struct beside_lane *lane = argument;
    const struct clock *clock = lane->all->clock;
    while (lane->result == 0 && wait_until_due(lane)) {
        uint64_t begin_ns = pace_is_on(&lane->pace) ? pace_due_ns(&lane->pace) : clock_now_ns(clock);
        lane->result = make_request(lane);
        if (lane->result == 0 && !atomic_load(&lane->all->spent))
            histogram_add(&lane->figures.latency, clock_now_ns(clock) - begin_ns, 1);
        pace_step(&lane->pace);
    }
    if (lane->result == 0)
        pace_count_late(&lane->pace, clock_now_ns(clock), 1, &lane->figures.latency);
    return NULL;
}

/* Lanes of a load have equal parts of its file, and are due in turn. */
static int open_lane(struct beside_lane *lane, struct beside *beside, size_t load, uint32_t i,
                     struct err *err)
{
    const struct beside_load *asked = &beside->load[load];
    const struct target *target = &beside->target[load];
    const uint64_t units[2] = {asked->request_bytes, asked->request_bytes};
    uint64_t part = target->size_bytes / asked->queue_depth / asked->request_bytes * asked->request_bytes;
    *lane = (struct beside_lane){.all = beside, .load = load, .fd = -1};
    histogram_init(&lane->figures.latency);
    rng_init(&lane->rng, rng_derive(beside->seed, 1000 * load + i));
    if (offsets_init(&lane->offsets, &asked->pattern, i * part, part, units, rng_next(&lane->rng)) != 0)
        return err_set(err, -EFBIG, "a load beside has no room for its requests in %s", target->name);
    pace_init(&lane->pace, (double)asked->rate_bps / (double)asked->request_bytes, i, asked->queue_depth,
              beside->start_ns);
    lane->buffer =
        aligned_alloc(BUFFER_ALIGN, (asked->request_bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN);
    if (lane->buffer == NULL)
        return err_set(err, -ENOMEM, "no memory for a load beside");
    rng_fill(&lane->rng, lane->buffer, asked->request_bytes);
    return target_open_run(target, asked->direct, pattern_writes(&asked->pattern), &lane->fd, err);
}

static int prepare_targets(const struct beside *beside, struct err *err)
{
    enum target_cold cold;
    int result = 0;
    for (size_t i = 0; i < beside->n && result == 0; i++) {
        result = target_flush(&beside->target[i], err);
        if (result == 0)
            result = target_drop_cache(&beside->target[i], &cold, err);
    }
    return result;
}

/* Signals belong to the thread that waits for them. */
static int start_lanes(struct beside *beside, struct err *err)
{
    sigset_t all, before;
    int result = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 0; i < beside->n_lanes && result == 0; i++) {
        result = -pthread_create(&beside->lanes[i].thread, NULL, run_lane, &beside->lanes[i]);
        beside->n_started += result == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result == 0 ? 0 : err_sys(err, result, "no thread can be started for a load beside");
}

int beside_start(struct beside *beside, struct err *err)
{
    int result = prepare_targets(beside, err);
    size_t n = 0;
    for (size_t i = 0; i < beside->n; i++) {
        n += beside->load[i].queue_depth;
        beside->figures[i] = (struct beside_figures){0}; /* should nothing start */
    }
    if (result < 0 || n == 0)
        return result;
    beside->lanes = calloc(n, sizeof *beside->lanes);
    beside->n_lanes = beside->n_started = 0;
    atomic_store(&beside->stop, false);
    atomic_store(&beside->spent, false);
    atomic_store(&beside->taken_bytes, 0);
    if (beside->lanes == NULL)
        return err_set(err, -ENOMEM, "no memory for a load beside");
    beside->start_ns = clock_now_ns(beside->clock);
    for (size_t load = 0; load < beside->n && result == 0; load++)
        for (uint32_t i = 0; i < beside->load[load].queue_depth && result == 0; i++)
            result = open_lane(&beside->lanes[beside->n_lanes++], beside, load, i, err);
    if (result == 0)
        result = start_lanes(beside, err);
    if (result < 0)
        beside_stop(beside, NULL);
    return result;
}

static void add_figures(struct beside_figures *to, const struct beside_figures *from)
{
    histogram_merge(&to->latency, &from->latency);
    to->bytes_read += from->bytes_read;
    to->bytes_written += from->bytes_written;
}

static int close_lane(struct beside *beside, struct beside_lane *lane, bool started, struct err *err)
{
    if (started)
        pthread_join(lane->thread, NULL);
    free(lane->buffer);
    if (lane->fd >= 0)
        close(lane->fd);
    if (!started)
        return 0;
    add_figures(&beside->figures[lane->load], &lane->figures);
    return lane->result == 0
               ? 0
               : err_io(err, lane->result, "a load beside failed in %s", beside->target[lane->load].name);
}

int beside_stop(struct beside *beside, struct err *err)
{
    int result = 0;
    if (beside->lanes == NULL)
        return 0;
    /* Before any lane ends: each counts what was due by its own end. */
    double seconds = (double)(clock_now_ns(beside->clock) - beside->start_ns) / 1e9;
    atomic_store(&beside->stop, true);
    for (size_t i = 0; i < beside->n; i++) {
        beside->figures[i] = (struct beside_figures){.seconds = seconds};
        histogram_init(&beside->figures[i].latency);
    }
    for (size_t i = 0; i < beside->n_lanes; i++) {
        int code = close_lane(beside, &beside->lanes[i], i < beside->n_started, result == 0 ? err : NULL);
        result = result == 0 ? code : result;
    }
    free(beside->lanes);
    beside->lanes = NULL;
    for (size_t i = 0; i < beside->n && result == 0; i++)
        result = target_flush(&beside->target[i], err);
    return result;
}
