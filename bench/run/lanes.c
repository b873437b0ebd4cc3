/* The threads of one run. */
#include "bench/run/lanes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Of what a run may move, this much at most goes into its warm-up. */
#define WARMUP_SHARE_OF_CAP 4

/* A simulated file is as large as it needs to be: 2^50 bytes. */
static uint64_t region_bytes(const struct lanes *lanes)
{
    return lanes->env->world != NULL ? 1ULL << 50 : measure_region_bytes(lanes->env, &lanes->plan->point);
}

static void choose_shape(struct lanes *lanes, double truth_bps)
{
    const struct point *point = &lanes->plan->point;
    lanes->n = point->threads;
    lanes->n_files = lanes->env->world != NULL ? 1 : target_n_files(lanes->env->target);
    lanes->n_calls = point->queue_depth;
    lanes->requests_per_call = lanes->rounds_per_call = 1;
    lanes->ops = lanes->env->world != NULL ? &ioapi_surface : ioapi_table[point->api];
    if (lanes->env->world != NULL) {
        surface_run_init(&lanes->surface, lanes->env->world, point, truth_bps, lanes->plan->duration_ns,
                         lanes->plan->seed);
        lanes->n = 1;
        lanes->n_calls = lanes->surface.n_in_flight;
        lanes->requests_per_call = lanes->rounds_per_call = surface_requests_per_call(&lanes->surface);
    } else if (point->api == API_PVEC) {
        lanes->n_calls = 1;
        lanes->requests_per_call = point->queue_depth;
    }
}

static int open_descriptors(struct lane *lane, const struct lanes *lanes, struct err *err)
{
    const struct measure_env *env = lanes->env;
    const struct measure_plan *plan = lanes->plan;
    bool writes = pattern_writes(&plan->pattern);
    int advice = pattern_is_random(&plan->pattern) ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL;
    uint32_t n_files = lanes->n_files;
    lane->fds = calloc(n_files, sizeof *lane->fds);
    if (lane->fds == NULL)
        return err_set(err, -ENOMEM, "no memory for %u descriptors", n_files);
    for (uint32_t i = 0; i < n_files && env->world == NULL; i++) {
        int result = target_open_file(env->target, i, plan->point.direct != 0, writes, &lane->fds[i], err);
        if (result < 0)
            return result;
        lane->n_open = i + 1;
        if (env->advise)
            (void)posix_fadvise(lane->fds[i], 0, 0, advice);
    }
    return 0;
}

static int open_queue(struct lane *lane, struct lanes *lanes, struct err *err)
{
    const struct measure_plan *plan = lanes->plan;
    struct ioapi_config config = {
        .fd = lane->fds[0],
        .n_calls = lanes->n_calls,
        .request_size_bytes = plan->point.request_size_bytes,
        .requests_per_call = lanes->requests_per_call,
        .sync_each = plan->point.sync == SYNC_EACH && pattern_writes(&plan->pattern),
        .cooperative_ring = lanes->env->cooperative_ring,
        .surface = &lanes->surface,
    };
    void *state = calloc(1, lanes->ops->state_size);
    if (state == NULL)
        return err_set(err, -ENOMEM, "no memory for the I/O API's state");
    int result = lanes->ops->open(state, &config, err);
    if (result < 0) {
        lanes->ops->close(state);
        free(state);
        return result;
    }
    lane->io = lane->pump.io = state;
    return 0;
}

static uint64_t shift_bytes(const struct lanes *lanes)
{
    return lanes->env->world != NULL ? 0 : measure_shift_bytes(lanes->env, &lanes->plan->point);
}

static bool env_shares_region(const struct lanes *lanes)
{
    return lanes->env->shared_region && lanes->n > 1;
}

/* Threads that share a region start their sequential streams apart: side by side they would read each other's
 * cached pages. */
static void spread_streams(struct offsets *offsets, uint32_t index, uint32_t n)
{
    for (size_t i = 0; i < 2; i++)
        offsets->next_seq[i] = (offsets->next_seq[i] + offsets->n_units[i] / n * index) % offsets->n_units[i];
}

static int open_lane(struct lanes *lanes, uint32_t index, unsigned char *buffers, struct err *err)
{
    struct lane *lane = &lanes->lane[index];
    const struct measure_plan *plan = lanes->plan;
    lane->all = lanes;
    lane->warmup_latency = malloc(sizeof *lane->warmup_latency);
    lane->timed_latency = malloc(sizeof *lane->timed_latency);
    if (lane->warmup_latency == NULL || lane->timed_latency == NULL)
        return err_set(err, -ENOMEM, "no memory for latency histograms");
    lane->warmup.latency = lane->warmup_latency;
    lane->timed.latency = lane->timed_latency;
    uint64_t region = region_bytes(lanes), shift = shift_bytes(lanes);
    int result = open_descriptors(lane, lanes, err);
    if (result < 0)
        return result;
    struct pump_config config = {
        .clock = lanes->env->clock,
        .ops = lanes->ops,
        .pattern = plan->pattern,
        .base_bytes = (lanes->env->shared_region ? 0 : region * index) + (lanes->n_files > 1 ? 0 : shift),
        .region_bytes = region,
        .fds = lane->fds,
        .n_files = lanes->n_files,
        .shift_bytes = shift,
        .n_calls = lanes->n_calls,
        .request_size_bytes = plan->point.request_size_bytes,
        .write_size_bytes = plan->point.write_size_bytes,
        .requests_per_call = lanes->requests_per_call,
        .rounds_per_call = lanes->rounds_per_call,
        .buffers = buffers,
        .batch_requests = plan->batch_requests,
        /* Direct I/O is queued by submit, not done. */
        .works_in_submit = lanes->ops->inline_io && plan->point.direct == 0,
        .verify = lanes->env->verify,
        .seed = rng_derive(plan->seed, 100 + index),
    };
    result = pump_init(&lane->pump, &config, err);
    if (result == 0 && env_shares_region(lanes))
        spread_streams(&lane->pump.offsets, index, lanes->n);
    if (result == 0)
        result = warmup_init(&lane->judge, plan->warmup_coef, plan->warmup_window);
    return result < 0 ? result : open_queue(lane, lanes, err);
}

int lanes_open(struct lanes *lanes, const struct measure_env *env, const struct measure_plan *plan,
               double truth_bps, struct err *err)
{
    *lanes = (struct lanes){.env = env, .plan = plan};
    choose_shape(lanes, truth_bps);
    lanes->cap_bytes = measure_cap_bytes(env, &plan->pattern, &plan->point);
    if (plan->max_bytes != 0 && plan->max_bytes < lanes->cap_bytes)
        lanes->cap_bytes = plan->max_bytes;
    uint64_t call_bytes = factors_largest_size_bytes(&plan->point) * lanes->requests_per_call;
    if (lanes->cap_bytes / lanes->n < call_bytes)
        return err_set(err, -EFBIG,
                       "a run may move %" PRIu64 " bytes, which is less than one request of %" PRIu64
                       " bytes in each thread; use a smaller --request-size",
                       lanes->cap_bytes, call_bytes);
    uint64_t lane_bytes = call_bytes * lanes->n_calls;
    if (env->world == NULL) {
        int result = arena_reserve(env->arena, lane_bytes * lanes->n, plan->seed, err);
        if (result < 0)
            return result;
    }
    lanes->lane = calloc(lanes->n, sizeof *lanes->lane);
    if (lanes->lane == NULL)
        return err_set(err, -ENOMEM, "no memory for %u threads", lanes->n);
    target_allow_descriptors((uint64_t)lanes->n_files * (lanes->n + 1));
    for (uint32_t i = 0; i < lanes->n; i++) {
        unsigned char *buffers = env->world == NULL ? env->arena->memory + i * lane_bytes : NULL;
        int result = open_lane(lanes, i, buffers, err);
        if (result < 0)
            return result;
    }
    return 0;
}

static uint64_t least_requests(const struct lanes *lanes)
{
    return (MEASURE_MIN_REQUESTS + lanes->n - 1) / lanes->n;
}

static uint64_t age_ns_of(const struct pump_stats *stats)
{
    return stats->last_complete_ns - stats->start_ns;
}

/* Has this lane done what every run must, while all lanes together stay below this rate, even if all that is
 * in flight counts as done? */
static bool is_slower_than(struct lane *lane, const struct pump_stats *stats, double bps)
{
    struct lanes *lanes = lane->all;
    uint64_t age_ns = age_ns_of(stats);
    uint64_t bytes = stats->bytes_read + stats->bytes_written;
    uint64_t more = bytes - lane->told_bytes;
    lane->told_bytes = bytes;
    uint64_t all = atomic_fetch_add(&lanes->done_bytes, more) + more;
    all += lane->pump.calls[0].size_bytes * lanes->n_calls * lanes->n;
    return age_ns >= MEASURE_MIN_DURATION_NS && stats->n_requests >= least_requests(lanes) &&
           (double)all < bps * (double)age_ns / 1e9;
}

/* A start may be slow where the rest is not: only what is slow by far is not waited for. */
static bool starts_hopelessly(struct lane *lane)
{
    double bps = lane->all->plan->hopeless_bps;
    return bps > 0 && is_slower_than(lane, &lane->warmup, bps / 2);
}

static bool warm_enough(void *context, double batch_latency_ns)
{
    struct lane *lane = context;
    struct lanes *lanes = lane->all;
    bool steady = warmup_add(&lane->judge, batch_latency_ns);
    if (steady && !lane->stable && age_ns_of(&lane->warmup) >= lanes->plan->warmup_least_ns) {
        lane->stable = true;
        atomic_fetch_add(&lanes->n_stable, 1);
    }
    return atomic_load(&lanes->n_stable) == lanes->n || atomic_load(&lanes->failed) != 0 ||
           starts_hopelessly(lane);
}

/* A lane that another one calls hopeless still does what every run must. */
static bool must_stop(void *context, double batch_latency_ns)
{
    (void)batch_latency_ns;
    struct lane *lane = context;
    struct lanes *lanes = lane->all;
    double bps = lanes->plan->hopeless_bps;
    if (atomic_load_explicit(&lanes->failed, memory_order_relaxed) != 0)
        return true;
    uint64_t age_ns = age_ns_of(&lane->timed);
    if (lanes->plan->longest_ns != 0 && age_ns >= lanes->plan->longest_ns &&
        lane->timed.n_requests >= least_requests(lanes))
        return true;
    if (bps <= 0 || age_ns >= lanes->plan->duration_ns)
        return false;
    bool called = atomic_load(&lanes->hopeless) != 0;
    if (!is_slower_than(lane, &lane->timed, called ? INFINITY : bps))
        return false;
    atomic_store(&lanes->hopeless, 1);
    return true;
}

/* The warm-up leaves enough of a capped run for its timed part; 0: there is no room for a warm-up. */
static uint64_t warmup_cap_bytes(const struct lanes *lanes)
{
    uint64_t cap = lanes->cap_bytes / lanes->n;
    uint64_t timed = least_requests(lanes) * factors_largest_size_bytes(&lanes->plan->point);
    if (cap <= timed)
        return 0;
    return cap - timed < cap / WARMUP_SHARE_OF_CAP ? cap - timed : cap / WARMUP_SHARE_OF_CAP;
}

static void close_queue(struct lane *lane)
{
    if (lane->io != NULL)
        lane->all->ops->close(lane->io);
    free(lane->io);
    lane->io = NULL;
}

/* What a broken queue has left in flight is waited for here: its ring may be entered by the thread that has
 * submitted to it, and by no other. */
static void run_phase(struct lane *lane, const struct pump_end *end, struct pump_stats *stats)
{
    lane->result = pump_phase(&lane->pump, end, stats, &lane->err);
    if (lane->result == 0)
        return;
    atomic_store(&lane->all->failed, 1);
    close_queue(lane);
}

static void warm_up(struct lane *lane)
{
    struct lanes *lanes = lane->all;
    const struct measure_plan *plan = lanes->plan;
    bool capped = lanes->cap_bytes != UINT64_MAX;
    uint64_t max_bytes = capped ? warmup_cap_bytes(lanes) : 0;
    if (plan->warmup_limit_ns == 0 || measure_writes_once(&plan->pattern, &plan->point) ||
        (capped && max_bytes == 0))
        return;
    struct pump_end end = {
        .duration_ns = plan->warmup_limit_ns,
        .max_bytes = max_bytes,
        .interrupted = lanes->env->interrupted,
        .after_batch = warm_enough,
        .context = lane,
    };
    run_phase(lane, &end, &lane->warmup);
}

/* Buffered writes that end with a flush are bounded in bytes, so that the flush is bounded in time: B of
 * interfaces, section 5. */
static uint64_t timed_cap_bytes(const struct lane *lane)
{
    const struct lanes *lanes = lane->all;
    const struct measure_plan *plan = lanes->plan;
    if (lanes->cap_bytes == UINT64_MAX)
        return 0;
    uint64_t cap = lanes->cap_bytes / lanes->n - lane->warmup.bytes_read - lane->warmup.bytes_written;
    if (lanes->env->world == NULL && measure_writes_once(&plan->pattern, &plan->point) &&
        lanes->env->target->fill_bps > 0) {
        double bytes = lanes->env->target->fill_bps * (double)plan->duration_ns / 1e9 / lanes->n;
        uint64_t least = least_requests(lanes) * factors_largest_size_bytes(&plan->point);
        if (least < lane->pump.most_call_bytes)
            least = lane->pump.most_call_bytes;
        uint64_t bound = bytes < (double)least ? least : (uint64_t)bytes;
        cap = bound < cap ? bound : cap;
    }
    return cap;
}

/* The first lane that comes here says when the timed phase begins for all: they come one after the other, or
 * late, where processors are fewer than lanes. */
static uint64_t common_start_ns(struct lanes *lanes)
{
    unsigned long long first_ns = 0, now_ns = clock_now_ns(lanes->env->clock);
    return atomic_compare_exchange_strong(&lanes->start_ns, &first_ns, now_ns) ? now_ns : first_ns;
}

static void measure_lane(struct lane *lane)
{
    struct lanes *lanes = lane->all;
    bool counts = lanes->plan->n_requests != 0;
    uint64_t least = least_requests(lanes), asked = (lanes->plan->n_requests + lanes->n - 1) / lanes->n;
    struct pump_end end = {
        .duration_ns = counts ? MEASURE_MIN_DURATION_NS : lanes->plan->duration_ns,
        .min_requests = asked > least ? asked : least,
        .max_bytes = timed_cap_bytes(lane),
        .interrupted = lanes->env->interrupted,
        .start_ns = common_start_ns(lanes),
        .after_batch = must_stop,
        .context = lane,
        .batches_per_stamp = counts ? 1 : PUMP_BATCHES_PER_STAMP,
    };
    run_phase(lane, &end, &lane->timed);
}

static void wait_for_all(struct lanes *lanes)
{
    if (lanes->n > 1)
        pthread_barrier_wait(&lanes->barrier);
}

/* Counters are read while nobody does I/O: all lanes have warmed up, none has begun its timed phase. */
static void run_lane(struct lane *lane)
{
    struct lanes *lanes = lane->all;
    warm_up(lane);
    wait_for_all(lanes);
    if (atomic_load(&lanes->failed) != 0)
        return;
    if (lane == lanes->lane && lanes->env->world == NULL)
        watch_read(&lanes->before, &lanes->env->device);
    lane->cpu_before = watch_cpu_now();
    lane->told_bytes = 0;
    if (lane == lanes->lane)
        atomic_store(&lanes->done_bytes, 0);
    wait_for_all(lanes);
    measure_lane(lane);
    lane->cpu_after = watch_cpu_now();
}

/* Threads pass the gate only when all of them exist: a barrier would wait for ever for one that could not be
 * created. That another lane has failed by then is no reason to stay away from the barrier. */
static void *lane_main(void *argument)
{
    struct lane *lane = argument;
    pthread_mutex_lock(&lane->all->gate);
    bool abandoned = lane->all->abandoned;
    pthread_mutex_unlock(&lane->all->gate);
    if (!abandoned)
        run_lane(lane);
    return NULL;
}

static int run_threads(struct lanes *lanes, pthread_t *threads, struct err *err)
{
    int result = 0;
    uint32_t n_started = 0;
    pthread_mutex_init(&lanes->gate, NULL);
    pthread_mutex_lock(&lanes->gate);
    while (result == 0 && n_started < lanes->n) {
        result = -pthread_create(&threads[n_started], NULL, lane_main, &lanes->lane[n_started]);
        if (result == 0)
            n_started++;
    }
    lanes->abandoned = result < 0;
    pthread_mutex_unlock(&lanes->gate);
    for (uint32_t i = 0; i < n_started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&lanes->gate);
    return result < 0 ? err_sys(err, result, "cannot start %u threads; lower --threads", lanes->n) : 0;
}

static int run_all(struct lanes *lanes, struct err *err)
{
    pthread_t *threads = calloc(lanes->n, sizeof *threads);
    if (threads == NULL)
        return err_set(err, -ENOMEM, "no memory for %u threads", lanes->n);
    int result = -pthread_barrier_init(&lanes->barrier, NULL, lanes->n);
    if (result == 0) {
        result = run_threads(lanes, threads, err);
        pthread_barrier_destroy(&lanes->barrier);
    } else {
        err_sys(err, result, "cannot make a barrier for %u threads", lanes->n);
    }
    free(threads);
    return result;
}

/* The pump knows the request, this is where the file is known. */
static int explain(const struct lanes *lanes, const struct lane *lane, struct err *err)
{
    if (lanes->env->world != NULL)
        return err_set(err, lane->result, "%s", lane->err.text);
    return err_set(err, lane->result, "%s: %s%s", lanes->env->target->name, lane->err.text,
                   err_advice(lane->result));
}

int lanes_run(struct lanes *lanes, struct err *err)
{
    int result = 0;
    if (lanes->n == 1)
        run_lane(&lanes->lane[0]);
    else
        result = run_all(lanes, err);
    for (uint32_t i = 0; i < lanes->n && result == 0; i++) {
        if (lanes->lane[i].result < 0)
            result = explain(lanes, &lanes->lane[i], err);
    }
    return result;
}

void lanes_close(struct lanes *lanes)
{
    for (uint32_t i = 0; lanes->lane != NULL && i < lanes->n; i++) {
        struct lane *lane = &lanes->lane[i];
        close_queue(lane);
        pump_done(&lane->pump);
        free(lane->warmup_latency);
        free(lane->timed_latency);
        for (uint32_t file = 0; file < lane->n_open; file++)
            close(lane->fds[file]);
        free(lane->fds);
    }
    free(lanes->lane);
    lanes->lane = NULL;
}
