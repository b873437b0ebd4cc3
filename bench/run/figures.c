/* What the workers of a run add up to. */
#include "bench/run/figures.h"

#include <math.h>

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

void figures_count_totals(struct measure_result *ret, const struct workers *workers)
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
    ret->achieved_depth = depth / workers->plan->point.threads / measure_n_members(workers->env);
}

/* The same of one member: where slots count, by its own slots and the end of its own flush; else over the
 * time of all, so that the rates of the members add up to the rate. */
static void set_member(struct member_figures *figures, const struct workers *workers, uint32_t member,
                       const struct measure_result *all, bool windowed, uint64_t end_ns)
{
    struct measure_result own = {0};
    struct span span = {0};
    double slot_seconds = 0, outside = 0;
    uint32_t n = 0;
    *figures = (struct member_figures){0};
    histogram_init(&figures->latency);
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct worker *worker = &workers->worker[i];
        const struct pump_stats *stats = &worker->stats;
        if (worker->member != member)
            continue;
        n++;
        slot_seconds += stats->slot_ns / 1e9;
        outside += (double)(stats->outside.bytes_read + stats->outside.bytes_written);
        count_in(&own, &stats->counted);
        if (!windowed)
            count_in(&own, &stats->outside);
        span_add(&span, stats);
        histogram_merge(&figures->latency, stats->counted.latency);
    }
    double bytes = (double)(own.bytes_read + own.bytes_written);
    double flush = end_ns > span.last_ns ? (double)(end_ns - span.last_ns) / 1e9 : 0;
    double counted = bytes > 0 ? bytes / (bytes + outside) : 1;
    figures->seconds = windowed ? slot_seconds / n / workers->n_calls + flush * counted : all->seconds;
    figures->n_requests = own.n_requests;
    figures->bytes_read = own.bytes_read;
    figures->bytes_written = own.bytes_written;
    if (figures->seconds <= 0)
        return;
    figures->throughput_bps = bytes / figures->seconds;
    figures->iops = (double)own.n_requests / figures->seconds;
}

/* In a window the rate of all is the sum of the members' rates. */
static void set_members(struct measure_result *ret, const struct workers *workers, bool windowed,
                        const uint64_t *end_ns)
{
    struct members *members = workers->env->members;
    double bps = 0, iops = 0;
    for (uint32_t i = 0; members != NULL && i < members->n; i++) {
        set_member(&members->figures[i], workers, i, ret, windowed, end_ns[i]);
        bps += members->figures[i].throughput_bps;
        iops += members->figures[i].iops;
    }
    if (members == NULL || !windowed)
        return;
    ret->throughput_bps = bps;
    ret->iops = iops;
}

static uint64_t last_of(const struct measure_env *env, const uint64_t *end_ns)
{
    uint64_t last_ns = 0;
    for (uint32_t i = 0; i < measure_n_members(env); i++)
        last_ns = end_ns[i] > last_ns ? end_ns[i] : last_ns;
    return last_ns;
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

void figures_gather(struct measure_result *ret, const struct workers *workers, const uint64_t *end_ns,
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
        if (stats->first_submit_ns > ret->begun_ns)
            ret->begun_ns = stats->first_submit_ns;
        span_add(&issuing, stats);
    }
    add_latencies(workers, windowed, latency);
    set_rates(ret, workers, windowed, issuing, last_of(workers->env, end_ns));
    set_members(ret, workers, windowed, end_ns);
    set_warmup(ret, workers, windowed);
    ret->windowed = windowed;
    ret->closed_ns = atomic_load(&workers->window.closed_ns);
    ret->stopped_ns = atomic_load(&workers->window.stopped_ns);
    if (!windowed)
        ret->closed_ns = ret->stopped_ns = issuing.last_ns + (uint64_t)(ret->flush_seconds * 1e9);
    ret->cut = atomic_load(&workers->hopeless) != 0;
    /* A window that other machines have, too, closes at its time, and may have opened late. */
    bool early = windowed && workers->window.close_ns != 0
                     ? ret->closed_ns < workers->window.close_ns
                     : ret->seconds - ret->flush_seconds < (double)workers->plan->duration_ns / 1e9;
    ret->ended_by_bytes =
        !ret->cut && workers->cap_bytes != UINT64_MAX && early && workers->plan->n_requests == 0;
}
