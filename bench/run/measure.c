/* One run of one point: prepare, warm up, measure, settle. */
#include "bench/run/measure.h"

#include "bench/run/figures.h"
#include "bench/run/workers.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

/* Cold buffered random reads stop here: with more of the file cached, read-ahead and hits would set in. */
#define COLD_RANDOM_SHARE 4
#define SETTLE_POLL_NS    1000000ULL
/* A flush after direct I/O has only metadata to write. */
#define ABSORBED_SHARE 0.05

double measure_flush_bps(const struct measure_env *env, const struct measure_plan *plan, uint32_t member)
{
    double fill_bps = measure_member(env, member)->fill_bps;
    return plan->flush_bps > 0 && fill_bps > plan->flush_bps ? plan->flush_bps : fill_bps;
}

bool measure_writes_once(const struct pattern *pattern, const struct point *point)
{
    return pattern_writes(pattern) && point->direct == 0 && point->sync == SYNC_END;
}

double measure_request_bytes(const struct pattern *pattern, const struct point *point)
{
    if (!factors_is_split(point))
        return (double)point->request_size_bytes;
    double writes = (pattern->percent[PATTERN_SEQ_WRITE] + pattern->percent[PATTERN_RAND_WRITE]) / 100.0;
    return (1 - writes) * (double)point->request_size_bytes +
           writes * (double)factors_write_size_bytes(point);
}

uint64_t measure_shift_bytes(const struct measure_env *env, const struct point *point)
{
    return env->alignment_bytes == 0 ? 0 : env->alignment_bytes % factors_largest_size_bytes(point);
}

const char *const measure_warmup_names[MEASURE_WARMUP_N] = {
    [MEASURE_WARMUP_STABLE] = "stable", [MEASURE_WARMUP_LIMIT] = "limit", [MEASURE_WARMUP_NONE] = "none"};

uint32_t measure_n_members(const struct measure_env *env)
{
    return env->members != NULL ? env->members->n : 1;
}

struct target *measure_member(const struct measure_env *env, uint32_t member)
{
    return env->members != NULL ? env->members->target[member] : env->target;
}

static bool is_spread(const struct measure_env *env, const struct point *point)
{
    return target_n_files(env->target) > 1 || measure_shift_bytes(env, point) != 0;
}

uint64_t measure_region_bytes(const struct measure_env *env, const struct point *point)
{
    uint64_t size = env->target->size_bytes, n_files = target_n_files(env->target);
    uint64_t unit = factors_largest_size_bytes(point) * (point->api == API_PVEC ? point->queue_depth : 1);
    uint32_t parts = env->shared_region ? 1 : point->threads;
    if (is_spread(env, point)) {
        uint64_t file = target_file_bytes(env->target), shift = measure_shift_bytes(env, point);
        size = file > shift ? (file - shift) / unit * unit * n_files : 0;
        unit *= n_files;
    }
    return parts == 1 ? size : size / parts / unit * unit;
}

static uint64_t cap_of_member(const struct measure_env *env, const struct pattern *pattern,
                              const struct point *point)
{
    if (env->world != NULL)
        return UINT64_MAX;
    uint64_t size = env->target->size_bytes;
    if (is_spread(env, point))
        size = measure_region_bytes(env, point) * (env->shared_region ? 1 : point->threads);
    if (factors_is_split(point) && pattern->percent[PATTERN_RAND_READ] > 0 &&
        pattern->percent[PATTERN_RAND_WRITE] > 0)
        size /= 2;
    bool reads_cold = pattern_reads(pattern) && env->cache == MEASURE_CACHE_COLD;
    if (!reads_cold)
        return measure_writes_once(pattern, point) ? size : UINT64_MAX;
    if (point->direct == 0 && pattern->percent[PATTERN_RAND_READ] > 0)
        return size / COLD_RANDOM_SHARE;
    /* Two sequential streams start half a file apart. */
    return pattern->percent[PATTERN_SEQ_READ] > 0 && pattern->percent[PATTERN_SEQ_WRITE] > 0 ? size / 2
                                                                                             : size;
}

uint64_t measure_cap_bytes(const struct measure_env *env, const struct pattern *pattern,
                           const struct point *point)
{
    uint64_t cap = cap_of_member(env, pattern, point), room = env->dirty_room_bytes;
    if (cap != UINT64_MAX)
        cap *= measure_n_members(env);
    bool dirties = pattern_writes(pattern) && point->direct == 0 && point->sync != SYNC_EACH;
    return dirties && room != 0 && room < cap ? room : cap;
}

bool measure_was_absorbed(const struct measure_result *result)
{
    return result->flush_seconds > ABSORBED_SHARE * result->seconds;
}

static int prepare_member(const struct measure_env *env, const struct measure_plan *plan,
                          const struct target *target, enum target_cold *ret_cold, struct err *err)
{
    *ret_cold = TARGET_COLD_UNVERIFIED;
    if (target->writable) {
        int result = target_flush(target, err);
        if (result < 0)
            return result;
    }
    if (env->cache == MEASURE_CACHE_COLD || plan->point.direct != 0)
        return target_drop_cache(target, ret_cold, err);
    uint64_t cached = 0, dirty = 0;
    uint64_t pages = target->size_bytes / (uint64_t)sysconf(_SC_PAGESIZE);
    if (target_cached_pages(target, 0, target_file_bytes(target), &cached, &dirty) == 0 && cached >= pages)
        return 0;
    return target_warm_cache(target, env->interrupted, err);
}

/* Of several members the worst state of a cache counts: what is not cold, then what nobody can tell. */
static int prepare_target(const struct measure_env *env, const struct measure_plan *plan,
                          struct measure_result *ret, struct err *err)
{
    int result = 0;
    ret->cold = TARGET_COLD_VERIFIED;
    for (uint32_t i = 0; i < measure_n_members(env) && result == 0; i++) {
        enum target_cold cold;
        result = prepare_member(env, plan, measure_member(env, i), &cold, err);
        if (cold == TARGET_COLD_NOT || ret->cold == TARGET_COLD_VERIFIED)
            ret->cold = cold;
    }
    return result;
}

/* The final flush of sync=end lies inside the span. ret_end_ns: its end, of each member. */
static int flush_in_span(const struct measure_env *env, const struct measure_plan *plan, uint64_t *ret_end_ns,
                         struct err *err)
{
    if (env->world != NULL || plan->point.sync != SYNC_END || !pattern_writes(&plan->pattern))
        return 0;
    if (env->members != NULL)
        return members_flush(env->members, env->clock, ret_end_ns, err);
    int result = target_flush(env->target, err);
    if (result == 0)
        *ret_end_ns = clock_now_ns(env->clock);
    return result;
}

/* The queues are still open, so that their workers can be asked for their processor time. */
static void run_monitor_end(const struct measure_env *env, const struct workers *workers,
                            struct run_monitor *monitor)
{
    struct run_monitor_reading after;
    if (env->world != NULL)
        return;
    run_monitor_read(&after, &env->device);
    run_monitor_difference(&workers->before, &after, monitor);
    /* The counters of one device say nothing about several. */
    if (env->members != NULL)
        monitor->device_read_bytes = monitor->device_written_bytes = NAN;
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct worker *worker = &workers->worker[i];
        run_monitor_add_worker(monitor, worker->cpu_before, worker->cpu_after,
                               (double)(worker->stats.last_complete_ns - worker->stats.start_ns) / 1e9);
    }
}

static bool was_interrupted(const struct measure_env *env)
{
    return env->interrupted != NULL && atomic_load(env->interrupted) != 0;
}

static int flush_members(const struct measure_env *env, struct err *err)
{
    int result = 0;
    for (uint32_t i = 0; i < measure_n_members(env) && result == 0; i++) {
        const struct target *target = measure_member(env, i);
        if (target->writable)
            result = target_flush(target, err);
    }
    return result;
}

/* Whether a device has requests in flight. */
static bool is_busy(const struct measure_env *env)
{
    uint64_t in_flight = 0;
    bool busy = hostinfo_in_flight(&env->device, &in_flight) == 0 && in_flight > 0;
    for (uint32_t i = 1; i < measure_n_members(env) && !busy; i++)
        busy = hostinfo_in_flight(&env->members->device[i], &in_flight) == 0 && in_flight > 0;
    return busy;
}

/* After a run all is made durable and the device becomes quiet, so that the next run starts from the same
 * state. */
static int settle(const struct measure_env *env, struct measure_result *ret, struct err *err)
{
    ret->settled = true;
    if (env->world != NULL)
        return 0;
    uint64_t start_ns = clock_now_ns(env->clock);
    int result = flush_members(env, err);
    if (result < 0)
        return result;
    while (!was_interrupted(env) && is_busy(env)) {
        uint64_t now_ns = clock_now_ns(env->clock);
        if (now_ns - start_ns >= env->settle_limit_ns) {
            ret->settled = false;
            break;
        }
        clock_sleep_until_ns(env->clock, now_ns + SETTLE_POLL_NS);
    }
    ret->settle_seconds = (double)(clock_now_ns(env->clock) - start_ns) / 1e9;
    return 0;
}

/* What ran beside the workers ends, whatever became of these. */
static int stop_others(const struct measure_env *env, int result, struct err *err)
{
    if (env->companion != NULL) {
        int stopped = companion_stop(env->companion, result == 0 ? err : NULL);
        result = result == 0 ? stopped : result;
    }
    if (env->beside != NULL) {
        int stopped = beside_stop(env->beside, result == 0 ? err : NULL);
        result = result == 0 ? stopped : result;
    }
    return result;
}

static int run_workers(const struct measure_env *env, const struct measure_plan *plan, double truth_bps,
                       struct measure_result *ret, struct histogram *latency, struct err *err)
{
    struct workers workers;
    uint64_t end_ns[MEMBERS_MOST] = {0}, start_ns = clock_now_ns(env->clock);
    int result = workers_open(&workers, env, plan, truth_bps, err);
    ret->setup_seconds += (double)(clock_now_ns(env->clock) - start_ns) / 1e9;
    if (result == 0 && env->beside != NULL)
        result = beside_start(env->beside, err);
    if (result == 0 && env->companion != NULL)
        result = companion_start(env->companion, err);
    if (result == 0)
        result = workers_run(&workers, err);
    if (result == 0 && !was_interrupted(env))
        result = flush_in_span(env, plan, end_ns, err);
    result = stop_others(env, result, err);
    figures_count_totals(ret, &workers);
    if (result == 0 && !was_interrupted(env)) {
        run_monitor_end(env, &workers, &ret->monitor);
        figures_gather(ret, &workers, end_ns, latency);
    }
    workers_close(&workers);
    return result;
}

int measure_read_back(const struct measure_env *env, uint64_t *ret_bytes, struct err *err)
{
    enum target_cold cold;
    struct err why = {0};
    *ret_bytes = 0;
    int result = target_drop_cache(env->target, &cold, err);
    if (result < 0)
        return result;
    result = verify_read_back(env->verify, target_fds(env->target), env->interrupted, ret_bytes, &why);
    return result < 0 ? err_set(err, result, "%s: %s", env->target->name, why.text) : 0;
}

/* Called when everything is durable. */
static int check_writes(const struct measure_env *env, const struct measure_plan *plan,
                        struct measure_result *ret, struct err *err)
{
    uint64_t bytes = 0;
    if (env->verify == NULL || !pattern_writes(&plan->pattern))
        return 0;
    int result = measure_read_back(env, &bytes, err);
    ret->total_bytes_read += bytes;
    return result;
}

int measure_run(const struct measure_env *env, const struct measure_plan *plan, struct measure_result *ret,
                struct histogram *latency, struct err *err)
{
    double truth_bps = 0;
    int result = 0;
    *ret = (struct measure_result){0};
    run_monitor_clear(&ret->monitor);
    uint64_t start_ns = clock_now_ns(env->clock);
    if (env->world != NULL)
        result = env->truth_bps(env->truth_context, &plan->pattern, &plan->point, &truth_bps, err);
    else
        result = prepare_target(env, plan, ret, err);
    if (result < 0)
        return result;
    ret->setup_seconds = (double)(clock_now_ns(env->clock) - start_ns) / 1e9;
    result = run_workers(env, plan, truth_bps, ret, latency, err);
    if (result == 0 && was_interrupted(env))
        return err_set(err, -EINTR, "interrupted");
    int settled = settle(env, ret, result == 0 ? err : NULL);
    if (result < 0 || settled < 0)
        return result < 0 ? result : settled;
    return check_writes(env, plan, ret, err);
}

int measure_prepare(const struct measure_env *env, const struct measure_plan *plan, struct err *err)
{
    struct measure_result ignored;
    return prepare_target(env, plan, &ignored, err);
}

int measure_settle(const struct measure_env *env, bool *ret_settled, struct err *err)
{
    struct measure_result result = {0};
    int code = settle(env, &result, err);
    if (code == 0)
        *ret_settled = result.settled;
    return code;
}
