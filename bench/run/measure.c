/* One run of one point: prepare, warm up, measure, settle. */
#include "bench/run/measure.h"

#include "bench/run/workers.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

/* Cold buffered random reads stop here: with more of the file cached, read-ahead and hits would set in. */
#define COLD_RANDOM_SHARE 4
#define SETTLE_POLL_NS    1000000ULL
/* A flush after direct I/O has only metadata to write. */
#define ABSORBED_SHARE 0.05

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

uint64_t measure_cap_bytes(const struct measure_env *env, const struct pattern *pattern,
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

bool measure_was_absorbed(const struct measure_result *result)
{
    return result->flush_seconds > ABSORBED_SHARE * result->seconds;
}

static int prepare_target(const struct measure_env *env, const struct measure_plan *plan,
                          struct measure_result *ret, struct err *err)
{
    ret->cold = TARGET_COLD_UNVERIFIED;
    if (env->target->writable) {
        int result = target_flush(env->target, err);
        if (result < 0)
            return result;
    }
    if (env->cache == MEASURE_CACHE_COLD || plan->point.direct != 0)
        return target_drop_cache(env->target, &ret->cold, err);
    uint64_t cached = 0, dirty = 0;
    uint64_t pages = env->target->size_bytes / (uint64_t)sysconf(_SC_PAGESIZE);
    if (target_cached_pages(env->target, 0, target_file_bytes(env->target), &cached, &dirty) == 0 &&
        cached >= pages)
        return 0;
    return target_warm_cache(env->target, env->interrupted, err);
}

/* The final flush of sync=end lies inside the span. */
static int flush_in_span(const struct measure_env *env, const struct measure_plan *plan, uint64_t *ret_end_ns,
                         struct err *err)
{
    if (env->world != NULL || plan->point.sync != SYNC_END || !pattern_writes(&plan->pattern))
        return 0;
    int result = target_flush(env->target, err);
    if (result == 0)
        *ret_end_ns = clock_now_ns(env->clock);
    return result;
}

/* From the first submission of any worker to the last completion of any: the one time that all workers share.
 */
struct span {
    uint64_t first_ns, last_ns;
};

static void span_add(struct span *span, const struct pump_stats *stats)
{
    if (stats->last_complete_ns > span->last_ns)
        span->last_ns = stats->last_complete_ns;
}

static double span_seconds(struct span span)
{
    return span.last_ns > span.first_ns ? (double)(span.last_ns - span.first_ns) / 1e9 : 0;
}

/* Requests in flight in a worker on average over what is counted. */
static double worker_depth(const struct workers *workers, const struct worker *worker)
{
    const struct pump_stats *stats = &worker->stats;
    double calls = stats->depth_ns > 0 ? stats->depth_area / stats->depth_ns : 0;
    return calls * (workers->rounds_per_call > 1 ? 1 : workers->requests_per_call);
}

/* For how long a worker's queue counted. */
static double worker_seconds(const struct workers *workers, const struct worker *worker)
{
    const struct pump_stats *stats = &worker->stats;
    return (stats->windowed ? stats->slot_ns / workers->n_calls : stats->depth_ns) / 1e9;
}

/* How far mean latency x IOPS of a worker is from its achieved depth, beyond what drawing the latencies by
 * chance explains. */
static double littles_law_error(const struct workers *workers, const struct worker *worker)
{
    const struct pump_count *counted = &worker->stats.counted;
    double mean_ns = 0, requests = worker_depth(workers, worker) * worker_seconds(workers, worker);
    if (workers->plan->rate_bps > 0) /* latencies hold the time before a request was in flight, too */
        return 0;
    if (histogram_mean_ns(counted->latency, &mean_ns) < 0 || requests <= 0)
        return 0;
    double error = fabs(mean_ns / 1e9 * (double)counted->n_requests / requests - 1);
    double chance = worker->stats.sampled
                        ? 3 * histogram_std_ns(counted->latency) / sqrt((double)counted->n_sampled) / mean_ns
                        : 0;
    return fmax(error - chance, 0);
}

static void count_in(struct measure_result *ret, const struct pump_count *count)
{
    ret->n_requests += count->n_requests;
    ret->bytes_read += count->bytes_read;
    ret->bytes_written += count->bytes_written;
}

static void count_totals(struct measure_result *ret, const struct workers *workers)
{
    for (uint32_t i = 0; workers->worker != NULL && i < workers->n; i++) {
        const struct pump_stats *stats = &workers->worker[i].stats;
        ret->total_bytes_read += stats->counted.bytes_read + stats->outside.bytes_read;
        ret->total_bytes_written += stats->counted.bytes_written + stats->outside.bytes_written;
    }
}

/* Requests for each timed one, in the workers that sample their latencies; 1 where none does. */
static uint64_t requests_per_sample(const struct workers *workers)
{
    uint64_t n_requests = 0, n_sampled = 0;
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct pump_stats *stats = &workers->worker[i].stats;
        n_requests += stats->sampled ? stats->counted.n_requests : 0;
        n_sampled += stats->sampled ? stats->counted.n_sampled : 0;
    }
    return n_sampled > 0 ? (n_requests + n_sampled / 2) / n_sampled : 1;
}

/* False where a run was too short for its queues to turn over: everything counts then. */
static bool has_window(const struct workers *workers)
{
    bool windowed = true;
    for (uint32_t i = 0; i < workers->n; i++)
        windowed &= workers->worker[i].stats.windowed;
    return windowed;
}

/* Each worker turns to sampling by itself; every request is to count alike. */
static void add_latencies(const struct workers *workers, bool windowed, struct histogram *latency)
{
    uint64_t per_sample = requests_per_sample(workers);
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct pump_stats *stats = &workers->worker[i].stats;
        if (!windowed)
            histogram_merge(stats->counted.latency, stats->outside.latency);
        if (!stats->sampled && per_sample > 1)
            histogram_thin(stats->counted.latency, per_sample);
        histogram_merge(latency, stats->counted.latency);
    }
}

/* In a window, all slots together counted for slot_seconds, each for its part: bytes / (slot_seconds / slots)
 * is the rate. Without one, workers share the time from the first submission to the last completion, since
 * they may well run one after the other. */
static void set_rates(struct measure_result *ret, const struct workers *workers, bool windowed,
                      struct span issuing, uint64_t end_ns)
{
    double slot_seconds = 0, depth = 0, span = span_seconds(issuing), counted = 1;
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct worker *worker = &workers->worker[i];
        slot_seconds += worker->stats.slot_ns / 1e9;
        depth +=
            worker_depth(workers, worker) * (windowed || span <= 0 ? 1 : worker->stats.depth_ns / 1e9 / span);
    }
    double seconds = windowed ? slot_seconds / workers->n / workers->n_calls : span;
    uint64_t bytes = ret->bytes_read + ret->bytes_written;
    ret->flush_seconds = end_ns != 0 ? (double)(end_ns - issuing.last_ns) / 1e9 : 0;
    if (windowed)
        counted = (double)bytes / (double)(ret->total_bytes_read + ret->total_bytes_written);
    if (seconds <= 0)
        return;
    ret->flush_seconds *= counted;
    ret->seconds = seconds + ret->flush_seconds;
    ret->throughput_bps = (double)bytes / ret->seconds;
    ret->iops = (double)ret->n_requests / ret->seconds;
    ret->achieved_depth = depth / workers->plan->point.threads;
}

static void set_warmup(struct measure_result *ret, const struct workers *workers, bool windowed)
{
    const struct measure_plan *plan = workers->plan;
    bool stable = true, judged = true;
    double slot_seconds = 0;
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct worker *worker = &workers->worker[i];
        stable &= worker->stable;
        judged &= worker->judge.n_seen >= worker->judge.n_window;
        slot_seconds += worker->stats.warmup_slot_ns / 1e9;
        ret->warmup_bytes += windowed ? worker->stats.warmup_bytes : 0;
    }
    bool none = plan->warmup_limit_ns == 0 || measure_writes_once(&plan->pattern, &plan->point);
    /* A queue that takes longer than the warm-up for its first turnover has too few batches to judge by. */
    ret->warmup = none || (!stable && !judged) ? MEASURE_WARMUP_NONE
                  : stable                     ? MEASURE_WARMUP_STABLE
                                               : MEASURE_WARMUP_LIMIT;
    ret->warmup_seconds = windowed ? slot_seconds / workers->n / workers->n_calls : 0;
}

static void gather(struct measure_result *ret, const struct workers *workers, uint64_t end_ns,
                   struct histogram *latency)
{
    bool windowed = has_window(workers);
    struct span issuing = {atomic_load(&workers->start_ns), 0};
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct worker *worker = &workers->worker[i];
        const struct pump_stats *stats = &worker->stats;
        count_in(ret, &stats->counted);
        if (!windowed)
            count_in(ret, &stats->outside);
        ret->n_late += stats->n_late;
        ret->sampled |= stats->sampled;
        ret->littles_law_error = fmax(ret->littles_law_error, littles_law_error(workers, worker));
        pump_windows_merge(&ret->windows, &stats->windows);
        span_add(&issuing, stats);
    }
    add_latencies(workers, windowed, latency);
    set_rates(ret, workers, windowed, issuing, end_ns);
    set_warmup(ret, workers, windowed);
    ret->cut = atomic_load(&workers->hopeless) != 0;
    ret->ended_by_bytes = !ret->cut && workers->cap_bytes != UINT64_MAX &&
                          ret->seconds - ret->flush_seconds < (double)workers->plan->duration_ns / 1e9 &&
                          workers->plan->n_requests == 0;
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

/* After a run all is made durable and the device becomes quiet, so that the next run starts from the same
 * state. */
static int settle(const struct measure_env *env, struct measure_result *ret, struct err *err)
{
    ret->settled = true;
    if (env->world != NULL)
        return 0;
    uint64_t start_ns = clock_now_ns(env->clock), in_flight = 0;
    if (env->target->writable) {
        int result = target_flush(env->target, err);
        if (result < 0)
            return result;
    }
    while (!was_interrupted(env) && hostinfo_in_flight(&env->device, &in_flight) == 0 && in_flight > 0) {
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
    uint64_t end_ns = 0, start_ns = clock_now_ns(env->clock);
    int result = workers_open(&workers, env, plan, truth_bps, err);
    ret->setup_seconds += (double)(clock_now_ns(env->clock) - start_ns) / 1e9;
    if (result == 0 && env->beside != NULL)
        result = beside_start(env->beside, err);
    if (result == 0 && env->companion != NULL)
        result = companion_start(env->companion, err);
    if (result == 0)
        result = workers_run(&workers, err);
    if (result == 0 && !was_interrupted(env))
        result = flush_in_span(env, plan, &end_ns, err);
    result = stop_others(env, result, err);
    count_totals(ret, &workers);
    if (result == 0 && !was_interrupted(env)) {
        run_monitor_end(env, &workers, &ret->monitor);
        gather(ret, &workers, end_ns, latency);
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
