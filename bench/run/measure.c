/* One run of one point: prepare, warm up, measure, settle. */
#include "bench/run/measure.h"

#include "bench/run/lanes.h"

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

/* The final flush of sync=end; inside the span. */
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

/* From the first submission of any lane to the last completion of any: the one time that all lanes share. */
struct span {
    uint64_t first_ns, last_ns;
};

static void span_add(struct span *span, const struct pump_stats *stats)
{
    if (stats->n_requests == 0)
        return;
    if (stats->first_submit_ns < span->first_ns)
        span->first_ns = stats->first_submit_ns;
    if (stats->last_complete_ns > span->last_ns)
        span->last_ns = stats->last_complete_ns;
}

static double span_seconds(struct span span)
{
    return span.last_ns > span.first_ns ? (double)(span.last_ns - span.first_ns) / 1e9 : 0;
}

/* Requests in flight times seconds. */
static double lane_request_seconds(const struct lanes *lanes, const struct lane *lane)
{
    return lane->timed.depth_area * (lanes->rounds_per_call > 1 ? 1 : lanes->requests_per_call) / 1e9;
}

/* How far the sum of a lane's latencies is from its requests in flight times seconds, beyond what drawing the
 * latencies by chance explains. Divided by the span, the sums are mean latency x IOPS and achieved depth. */
static double littles_law_error(const struct pump_stats *timed, double request_seconds)
{
    double mean_ns = 0;
    if (histogram_mean_ns(timed->latency, &mean_ns) < 0 || request_seconds <= 0)
        return 0;
    double error = fabs(mean_ns / 1e9 * (double)timed->n_requests / request_seconds - 1);
    double chance =
        timed->sampled ? 3 * histogram_std_ns(timed->latency) / sqrt((double)timed->n_sampled) / mean_ns : 0;
    return fmax(error - chance, 0);
}

static void add_lane(struct measure_result *ret, const struct lanes *lanes, const struct lane *lane)
{
    const struct pump_stats *timed = &lane->timed;
    double request_seconds = lane_request_seconds(lanes, lane);
    ret->n_requests += timed->n_requests;
    ret->bytes_read += timed->bytes_read;
    ret->bytes_written += timed->bytes_written;
    ret->sampled |= timed->sampled;
    ret->littles_law_error = fmax(ret->littles_law_error, littles_law_error(timed, request_seconds));
    pump_windows_merge(&ret->windows, &timed->windows);
}

static void count_totals(struct measure_result *ret, const struct lanes *lanes)
{
    for (uint32_t i = 0; lanes->lane != NULL && i < lanes->n; i++) {
        const struct lane *lane = &lanes->lane[i];
        ret->total_bytes_read += lane->warmup.bytes_read + lane->timed.bytes_read;
        ret->total_bytes_written += lane->warmup.bytes_written + lane->timed.bytes_written;
    }
}

/* Rates are those of all lanes over the span that they share: lanes may well run one after the other. */
static void set_rates(struct measure_result *ret, const struct lanes *lanes, struct span issuing,
                      uint64_t end_ns)
{
    double issuing_seconds = span_seconds(issuing), request_seconds = 0;
    for (uint32_t i = 0; i < lanes->n; i++)
        request_seconds += lane_request_seconds(lanes, &lanes->lane[i]);
    ret->flush_seconds = end_ns != 0 ? (double)(end_ns - issuing.last_ns) / 1e9 : 0;
    ret->seconds = issuing_seconds + ret->flush_seconds;
    if (issuing_seconds <= 0)
        return;
    ret->throughput_bps = (double)(ret->bytes_read + ret->bytes_written) / ret->seconds;
    ret->iops = (double)ret->n_requests / ret->seconds;
    ret->achieved_depth = request_seconds / issuing_seconds / lanes->plan->point.threads;
}

/* Of the lanes that sample their latencies; 1 where none does. */
static uint64_t requests_per_sample(const struct lanes *lanes)
{
    uint64_t n_requests = 0, n_sampled = 0;
    for (uint32_t i = 0; i < lanes->n; i++) {
        const struct pump_stats *timed = &lanes->lane[i].timed;
        n_requests += timed->sampled ? timed->n_requests : 0;
        n_sampled += timed->sampled ? timed->n_sampled : 0;
    }
    return n_sampled > 0 ? (n_requests + n_sampled / 2) / n_sampled : 1;
}

static void gather(struct measure_result *ret, const struct lanes *lanes, uint64_t end_ns,
                   struct histogram *latency)
{
    bool warmed = true;
    uint64_t per_sample = requests_per_sample(lanes);
    struct span warmup = {UINT64_MAX, 0}, issuing = {atomic_load(&lanes->start_ns), 0};
    for (uint32_t i = 0; i < lanes->n; i++) {
        const struct lane *lane = &lanes->lane[i];
        add_lane(ret, lanes, lane);
        /* Each lane turns to sampling by itself; every request is to count alike. */
        if (!lane->timed.sampled && per_sample > 1)
            histogram_thin(lane->timed.latency, per_sample);
        histogram_merge(latency, lane->timed.latency);
        warmed &= lane->stable;
        span_add(&warmup, &lane->warmup);
        span_add(&issuing, &lane->timed);
    }
    set_rates(ret, lanes, issuing, end_ns);
    ret->warmup_seconds = span_seconds(warmup);
    ret->warmup = warmup.last_ns == 0 ? MEASURE_WARMUP_NONE
                  : warmed            ? MEASURE_WARMUP_STABLE
                                      : MEASURE_WARMUP_LIMIT;
    ret->cut = atomic_load(&lanes->hopeless) != 0;
    ret->ended_by_bytes = !ret->cut && lanes->cap_bytes != UINT64_MAX &&
                          issuing.last_ns - issuing.first_ns < lanes->plan->duration_ns &&
                          lanes->plan->n_requests == 0;
}

/* The queues are still open, so that their workers can be asked for their processor time. */
static void watch_end(const struct measure_env *env, const struct lanes *lanes, struct watch *watch)
{
    struct watch_reading after;
    if (env->world != NULL)
        return;
    watch_read(&after, &env->device);
    watch_difference(&lanes->before, &after, watch);
    for (uint32_t i = 0; i < lanes->n; i++) {
        const struct lane *lane = &lanes->lane[i];
        watch_add_lane(watch, lane->cpu_before, lane->cpu_after,
                       (double)(lane->timed.last_complete_ns - lane->timed.start_ns) / 1e9);
    }
}

static bool was_interrupted(const struct measure_env *env)
{
    return env->interrupted != NULL && atomic_load(env->interrupted) != 0;
}

/* After a run: everything durable, the device quiet, so that the next run starts from the same state. */
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

static int run_lanes(const struct measure_env *env, const struct measure_plan *plan, double truth_bps,
                     struct measure_result *ret, struct histogram *latency, struct err *err)
{
    struct lanes lanes;
    uint64_t end_ns = 0, start_ns = clock_now_ns(env->clock);
    int result = lanes_open(&lanes, env, plan, truth_bps, err);
    ret->setup_seconds += (double)(clock_now_ns(env->clock) - start_ns) / 1e9;
    if (result == 0)
        result = lanes_run(&lanes, err);
    if (result == 0 && !was_interrupted(env))
        result = flush_in_span(env, plan, &end_ns, err);
    count_totals(ret, &lanes);
    if (result == 0 && !was_interrupted(env)) {
        watch_end(env, &lanes, &ret->watch);
        gather(ret, &lanes, end_ns, latency);
    }
    lanes_close(&lanes);
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

/* Everything is durable by now. */
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
    watch_clear(&ret->watch);
    uint64_t start_ns = clock_now_ns(env->clock);
    if (env->world != NULL)
        result = env->truth_bps(env->truth_context, &plan->pattern, &plan->point, &truth_bps, err);
    else
        result = prepare_target(env, plan, ret, err);
    if (result < 0)
        return result;
    ret->setup_seconds = (double)(clock_now_ns(env->clock) - start_ns) / 1e9;
    result = run_lanes(env, plan, truth_bps, ret, latency, err);
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
