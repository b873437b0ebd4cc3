/* Keeps one queue full and records what comes back. */
#include "bench/io/pump.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A sampled phase times one request in SAMPLE_EVERY on average; the gap is random so that no period of the
 * device is met. */
#define SAMPLE_EVERY 32
#define MOST_UNTIMED (2 * SAMPLE_EVERY - 1)
/* A phase turns to sampling within its first batches or not at all: what it recorded before is lost. */
#define SAMPLE_JUDGED_BATCHES 16

/* A reaping that took less time than this did not wait. */
#define AT_ONCE_NS 3000

struct submission {
    size_t n_in_flight; /* before it */
    size_t n_accepted;
    uint64_t duration_ns;
};

struct phase {
    struct pump *pump;
    const struct pump_end *end;
    struct pump_stats *stats;
    struct err *err;
    int failed; /* 0 or the first failure */
    bool stopping;
    uint64_t issued_requests, issued_bytes;
    size_t n_idle;
    size_t n_ready;
    uint64_t last_ns;             /* up to here the depth has been integrated ... */
    struct submission submission; /* ... but for this call */
    uint32_t batch_requests;
    double batch_ns;
};

static void phase_fail(struct phase *phase, int code)
{
    if (phase->failed == 0)
        phase->failed = code;
    phase->stopping = true;
}

static enum pattern_kind draw_kind_of_mix(struct pump *pump)
{
    uint32_t left = (uint32_t)(((rng_next(&pump->rng) >> 32) * 100) >> 32);
    for (int kind = 0; kind < PATTERN_N_KINDS; kind++) {
        if (left < pump->pattern.percent[kind])
            return (enum pattern_kind)kind;
        left -= pump->pattern.percent[kind];
    }
    return PATTERN_RAND_WRITE;
}

/* With several files, sequential streams pass to the next file with every call of the larger size. */
static void choose_file(const struct pump *pump, struct io_call *call)
{
    uint64_t unit = pump->most_call_bytes, at = call->offset_bytes;
    call->file = (uint32_t)(at / unit % pump->n_files);
    call->fd = pump->fds[call->file];
    call->offset_bytes = at / unit / pump->n_files * unit + at % unit + pump->shift_bytes;
}

/* A new word in the buffer of every write keeps a device from deduplicating; so do the stamps of verify. */
static void stamp_buffer(struct pump *pump, const struct io_call *call)
{
    unsigned char *buffer = call->buffer;
    if (pump->verify != NULL) {
        verify_begin(pump->verify, call);
        return;
    }
    for (uint32_t i = 0; buffer != NULL && i < call->n_requests; i++) {
        uint64_t word = rng_next(&pump->rng);
        memcpy(buffer + i * pump->request_size_bytes, &word, sizeof word);
    }
}

/* Inline, like all that a fast request at depth 1 passes through: calls and returns cost most there. */
static inline void prepare(struct phase *phase, struct io_call *call)
{
    struct pump *pump = phase->pump;
    bool plain = pump->only_kind < PATTERN_N_KINDS;
    enum pattern_kind kind = plain ? pump->only_kind : draw_kind_of_mix(pump);
    if (!plain) {
        call->is_write = kind == PATTERN_SEQ_WRITE || kind == PATTERN_RAND_WRITE;
        call->size_bytes = pump->call_bytes[call->is_write];
    }
    call->offset_bytes = offsets_next(&pump->offsets, kind);
    if (!plain && pump->n_files > 1)
        choose_file(pump, call);
    if (call->is_write || (!plain && pump->verify != NULL))
        stamp_buffer(pump, call);
    phase->issued_requests += call->n_requests;
    phase->issued_bytes += call->size_bytes;
}

static bool is_interrupted(const struct phase *phase)
{
    const atomic_int *flag = phase->end->interrupted;
    return flag != NULL && atomic_load_explicit(flag, memory_order_relaxed) != 0;
}

/* May another call be issued? Turns `stopping` on when not. */
static bool may_issue(struct phase *phase, uint64_t now_ns)
{
    const struct pump_end *end = phase->end;
    if (phase->stopping)
        return false;
    if (is_interrupted(phase))
        phase->stopping = true;
    else if (end->max_bytes != 0 && phase->issued_bytes + phase->pump->most_call_bytes > end->max_bytes)
        phase->stopping = true;
    else if (now_ns - phase->stats->start_ns >= end->duration_ns &&
             phase->issued_requests >= end->min_requests)
        phase->stopping = true;
    return !phase->stopping;
}

static void batch_end(struct phase *phase)
{
    batch_stats_add(&phase->stats->batches, phase->batch_ns);
    if (phase->end->after_batch != NULL && phase->end->after_batch(phase->end->context, phase->batch_ns))
        phase->stopping = true;
    phase->batch_requests = 0;
    phase->batch_ns = 0;
}

static void batch_add(struct phase *phase, double latency_ns, uint32_t n_requests)
{
    for (uint32_t i = 0; i < n_requests; i++) {
        phase->batch_ns += latency_ns;
        if (++phase->batch_requests == phase->pump->batch_requests)
            batch_end(phase);
    }
}

static void report_failure(struct phase *phase, const struct io_call *call)
{
    struct err *err = phase->failed == 0 ? phase->err : NULL;
    const char *name = phase->pump->ops->name, *verb = call->is_write ? "write" : "read";
    int code;
    if (phase->pump->verify != NULL)
        verify_abandon(phase->pump->verify, call);
    if (call->result < 0)
        code = err_sys(err, (int)call->result, "%s: %s of %" PRIu64 " bytes at offset %" PRIu64, name, verb,
                       call->size_bytes, call->offset_bytes);
    else
        code = err_set(err, -EIO, "%s: short %s at offset %" PRIu64 ": %" PRId64 " of %" PRIu64 " bytes",
                       name, verb, call->offset_bytes, call->result, call->size_bytes);
    phase_fail(phase, code);
}

/* False when a read found something else than was written; then the request has failed. */
static bool is_as_written(struct phase *phase, const struct io_call *call)
{
    struct err *err = phase->failed == 0 ? phase->err : NULL;
    int result = verify_end(phase->pump->verify, call, err);
    if (result == 0)
        return true;
    err_prefix(err, "%s", phase->pump->ops->name);
    phase_fail(phase, result);
    return false;
}

/* Counts a call's bytes; false when it failed. */
static inline bool count_bytes(struct phase *phase, const struct io_call *call)
{
    if (call->result != (int64_t)call->size_bytes) {
        report_failure(phase, call);
        return false;
    }
    if (phase->pump->verify != NULL && !is_as_written(phase, call))
        return false;
    phase->stats->n_requests += call->n_requests;
    *(call->is_write ? &phase->stats->bytes_written : &phase->stats->bytes_read) += call->size_bytes;
    return true;
}

static void complete(struct phase *phase, const struct io_call *call, uint64_t now_ns)
{
    if (!count_bytes(phase, call))
        return;
    struct pump_stats *stats = phase->stats;
    uint64_t latency_ns = (now_ns - call->submitted_ns) / call->n_rounds;
    histogram_add(stats->latency, latency_ns, call->n_requests);
    stats->n_sampled += call->n_requests;
    pump_windows_add(&stats->windows, now_ns - stats->start_ns, call->size_bytes);
    stats->last_complete_ns = now_ns;
    batch_add(phase, (double)latency_ns, call->n_requests);
}

static void submit_and_reap(struct phase *phase, struct io_call *call)
{
    struct pump *pump = phase->pump;
    size_t n = 0;
    int result = pump->ops->submit(pump->io, &call, 1, &n, phase->err);
    if (result == 0 && n == 0)
        result = err_set(phase->err, -EAGAIN, "%s: the kernel takes no request although none is in flight",
                         pump->ops->name);
    if (result == 0)
        result = pump->ops->reap(pump->io, &call, 1, &n, phase->err);
    if (result < 0)
        phase_fail(phase, result);
}

/* One call from start to end on a queue that holds one. */
static inline void one_call(struct phase *phase, struct io_call *call)
{
    const struct pump *pump = phase->pump;
    if (pump->ops->transfer != NULL)
        pump->ops->transfer(pump->io, call, &call->offset_bytes, 1, NULL);
    else
        submit_and_reap(phase, call);
}

/* Number of requests between two stamps, where stamping each would distort them. */
static uint32_t count_unstamped(const struct phase *phase)
{
    const struct pump_end *end = phase->end;
    uint64_t n =
        (uint64_t)phase->pump->batch_requests * (end->batches_per_stamp > 0 ? end->batches_per_stamp : 1);
    if (end->max_bytes == 0)
        return (uint32_t)n;
    uint64_t left = end->max_bytes > phase->issued_bytes ? end->max_bytes - phase->issued_bytes : 0;
    uint64_t n_left = left / phase->pump->most_call_bytes;
    return (uint32_t)(n_left < n ? n_left : n);
}

/* Makes one of them by itself; false when it failed. */
static bool one_sampled(struct phase *phase, struct io_call *call)
{
    prepare(phase, call);
    one_call(phase, call);
    return phase->failed == 0 && count_bytes(phase, call);
}

/* Makes n of them in a row that differ in the offset only; returns how many succeeded. */
static uint32_t alike_calls(struct phase *phase, struct io_call *call, uint32_t n)
{
    struct pump *pump = phase->pump;
    uint64_t offsets_bytes[MOST_UNTIMED];
    offsets_fill(&pump->offsets, pump->only_kind, offsets_bytes, n);
    call->result = (int64_t)call->size_bytes;
    uint32_t done = (uint32_t)pump->ops->transfer(pump->io, call, offsets_bytes, n, phase->end->interrupted);
    phase->issued_requests += done;
    phase->issued_bytes += done * call->size_bytes;
    phase->stats->n_requests += done;
    phase->stats->bytes_read += done * call->size_bytes;
    if (call->result != (int64_t)call->size_bytes)
        report_failure(phase, call);
    return done;
}

/* Makes the n calls between two that are timed singly; returns how many succeeded. */
static uint32_t untimed_calls(struct phase *phase, struct io_call *call, uint32_t n)
{
    const struct pump *pump = phase->pump;
    bool reads = pump->only_kind == PATTERN_SEQ_READ || pump->only_kind == PATTERN_RAND_READ;
    uint32_t i = 0;
    if (reads && pump->ops->transfer != NULL)
        return alike_calls(phase, call, n);
    while (i < n && !is_interrupted(phase) && one_sampled(phase, call))
        i++;
    return i;
}

static bool timed_call(struct phase *phase, struct io_call *call)
{
    prepare(phase, call);
    uint64_t before_ns = clock_now_ns(phase->pump->clock);
    one_call(phase, call);
    if (phase->failed != 0 || !count_bytes(phase, call))
        return false;
    histogram_add(phase->stats->latency, clock_now_ns(phase->pump->clock) - before_ns, 1);
    phase->stats->n_sampled++;
    return true;
}

/* Makes `n` calls, of which now and then one is timed singly; returns how many succeeded. */
static uint32_t sampled_calls(struct phase *phase, uint32_t n, uint32_t *countdown)
{
    struct pump *pump = phase->pump;
    struct io_call *call = &pump->calls[0];
    uint32_t done = 0;
    while (done < n) {
        uint32_t n_untimed = *countdown - 1 < n - done ? *countdown - 1 : n - done;
        uint32_t n_done = untimed_calls(phase, call, n_untimed);
        done += n_done;
        *countdown -= n_done;
        if (n_done < n_untimed || done == n || is_interrupted(phase) || !timed_call(phase, call))
            break;
        done++;
        *countdown = 1 + (uint32_t)(rng_next(&pump->rng) % MOST_UNTIMED);
    }
    return done;
}

/* Batches between two stamps share the time equally. */
static uint64_t sampled_batches(struct phase *phase, uint64_t start_ns, uint32_t *countdown)
{
    struct pump_stats *stats = phase->stats;
    uint64_t bytes_before = stats->bytes_read + stats->bytes_written;
    uint32_t batch = phase->pump->batch_requests;
    uint32_t n = sampled_calls(phase, count_unstamped(phase), countdown);
    uint64_t now_ns = clock_now_ns(phase->pump->clock);
    if (n == 0)
        return now_ns;
    pump_windows_add(&stats->windows, now_ns - stats->start_ns,
                     stats->bytes_read + stats->bytes_written - bytes_before);
    stats->last_complete_ns = now_ns;
    double call_ns = (double)(now_ns - start_ns) / n;
    for (uint32_t left = n; left >= batch && !phase->stopping; left -= batch) {
        phase->batch_ns = call_ns * batch;
        batch_end(phase);
    }
    return now_ns;
}

/* Turns to sampling, because requests take less than PUMP_SAMPLED_NS on average. Latencies recorded one by
 * one so far are dropped, so that the histogram is a random sample of one kind. */
static void start_sampling(struct phase *phase)
{
    phase->stats->sampled = true;
    phase->stats->n_sampled = 0;
    histogram_init(phase->stats->latency);
}

static bool fast_enough_to_sample(const struct phase *phase)
{
    const struct batch_stats *batches = &phase->stats->batches;
    return phase->pump->speed == PUMP_SPEED_UNKNOWN && phase->pump->requests_per_call == 1 &&
           batches->n > 0 && batches->n <= SAMPLE_JUDGED_BATCHES &&
           batches->mean_ns < (double)PUMP_SAMPLED_NS * phase->pump->batch_requests;
}

/* Judges the speed by a whole phase: the first batches of the next one may find only what was read ahead. */
static void judge_speed(struct phase *phase)
{
    const struct pump_stats *stats = phase->stats;
    bool fast = stats->depth_area < (double)PUMP_SAMPLED_NS * (double)stats->n_requests;
    if (stats->n_requests >= phase->pump->batch_requests && phase->pump->requests_per_call == 1)
        phase->pump->speed = fast ? PUMP_SPEED_FAST : PUMP_SPEED_SLOW;
}

/* Runs a queue of depth 1. Stamps are chained: the end of one request is the start of the next. */
static void run_single(struct phase *phase)
{
    struct pump *pump = phase->pump;
    struct io_call *call = &pump->calls[0];
    uint64_t now_ns = phase->stats->first_submit_ns;
    uint32_t countdown = 1;
    if (pump->speed == PUMP_SPEED_FAST)
        start_sampling(phase);
    while (may_issue(phase, now_ns)) {
        if (phase->stats->sampled) {
            now_ns = sampled_batches(phase, now_ns, &countdown);
            continue;
        }
        prepare(phase, call);
        call->submitted_ns = now_ns;
        one_call(phase, call);
        if (phase->failed != 0)
            break;
        now_ns = clock_now_ns(pump->clock);
        complete(phase, call, now_ns);
        if (fast_enough_to_sample(phase))
            start_sampling(phase);
    }
    phase->stats->depth_area = (double)(phase->stats->last_complete_ns - phase->stats->first_submit_ns);
    judge_speed(phase);
}

static void integrate_depth(struct phase *phase, double depth, uint64_t now_ns)
{
    phase->stats->depth_area += depth * (double)(now_ns - phase->last_ns);
    phase->last_ns = now_ns;
}

/* Adds the depth during the last submitting call, known only after the reaping that followed: calls that came
 * back without any waiting were done one after another inside the submitting call; the others came into
 * flight one by one. */
static void integrate_submission(struct phase *phase, size_t n_done_at_once)
{
    struct submission *last = &phase->submission;
    size_t n_left = last->n_accepted > n_done_at_once ? last->n_accepted - n_done_at_once : 0;
    double depth = (double)last->n_in_flight + (double)last->n_accepted;
    if (phase->pump->works_in_submit && last->n_accepted > 0)
        depth = (double)last->n_in_flight + (double)n_left / 2 + (n_left < last->n_accepted ? 1 : 0.5);
    phase->stats->depth_area += depth * (double)last->duration_ns;
    *last = (struct submission){0};
}

/* Hands all prepared calls over; what is not accepted stays prepared. */
static void submit_ready(struct phase *phase, size_t in_flight)
{
    struct pump *pump = phase->pump;
    uint64_t start_ns = clock_now_ns(pump->clock);
    integrate_depth(phase, (double)in_flight, start_ns);
    for (size_t i = 0; i < phase->n_ready; i++)
        pump->ready[i]->submitted_ns = start_ns;
    size_t accepted = 0;
    int result = pump->ops->submit(pump->io, pump->ready, phase->n_ready, &accepted, phase->err);
    phase->last_ns = clock_now_ns(pump->clock);
    phase->submission = (struct submission){in_flight, accepted, phase->last_ns - start_ns};
    if (result == 0 && accepted == 0 && in_flight == 0)
        result = err_set(phase->err, -EAGAIN, "%s: the kernel takes no request although none is in flight",
                         pump->ops->name);
    if (result < 0)
        phase_fail(phase, result);
    phase->n_ready -= accepted;
    memmove(pump->ready, pump->ready + accepted, phase->n_ready * sizeof(struct io_call *));
}

/* Takes back the calls that were prepared but never accepted: nothing was done with them. */
static void forget_ready(struct phase *phase)
{
    struct pump *pump = phase->pump;
    while (phase->n_ready > 0) {
        struct io_call *call = pump->ready[--phase->n_ready];
        if (pump->verify != NULL)
            verify_abandon(pump->verify, call);
        pump->idle[phase->n_idle++] = call;
    }
}

/* Reaps. 0, or the failure of the API itself: a queue that cannot be reaped cannot be drained either, so its
 * close waits for it. */
static int reap_some(struct phase *phase, size_t in_flight)
{
    struct pump *pump = phase->pump;
    struct io_call **done = pump->idle + phase->n_idle;
    size_t n = 0;
    int result = pump->ops->reap(pump->io, done, in_flight, &n, phase->failed == 0 ? phase->err : NULL);
    uint64_t now_ns = clock_now_ns(pump->clock);
    integrate_submission(phase, now_ns - phase->last_ns < AT_ONCE_NS ? n : 0);
    integrate_depth(phase, (double)in_flight, now_ns);
    if (result < 0) {
        phase_fail(phase, result);
        return result;
    }
    for (size_t i = 0; i < n; i++)
        complete(phase, done[i], now_ns);
    phase->n_idle += n;
    return 0;
}

static void prepare_idle(struct phase *phase)
{
    struct pump *pump = phase->pump;
    while (phase->n_idle > 0 && may_issue(phase, phase->last_ns)) {
        struct io_call *call = pump->idle[--phase->n_idle];
        prepare(phase, call);
        pump->ready[phase->n_ready++] = call;
    }
    if (phase->failed != 0 || is_interrupted(phase))
        forget_ready(phase);
}

/* Runs a queue of depth above 1: the idle stack and the ready list hold every call that is not in flight. */
static void run_queue(struct phase *phase)
{
    struct pump *pump = phase->pump;
    for (uint32_t i = 0; i < pump->n_calls; i++)
        pump->idle[i] = &pump->calls[pump->n_calls - 1 - i];
    phase->n_idle = pump->n_calls;
    for (;;) {
        prepare_idle(phase);
        if (phase->n_ready > 0)
            submit_ready(phase, pump->n_calls - phase->n_idle - phase->n_ready);
        size_t in_flight = pump->n_calls - phase->n_idle - phase->n_ready;
        if (in_flight == 0)
            return;
        if (reap_some(phase, in_flight) < 0)
            return;
    }
}

int pump_phase(struct pump *pump, const struct pump_end *end, struct pump_stats *stats, struct err *err)
{
    struct histogram *latency = stats->latency;
    *stats = (struct pump_stats){.latency = latency};
    histogram_init(latency);
    batch_stats_init(&stats->batches);
    stats->windows.width_ns = end->duration_ns / (PUMP_N_WINDOWS / 2);
    if (stats->windows.width_ns < 1000000)
        stats->windows.width_ns = 1000000;
    struct phase phase = {.pump = pump, .end = end, .stats = stats, .err = err};
    stats->first_submit_ns = phase.last_ns = stats->last_complete_ns = clock_now_ns(pump->clock);
    stats->start_ns = end->start_ns != 0 ? end->start_ns : stats->first_submit_ns;
    if (pump->n_calls == 1)
        run_single(&phase);
    else
        run_queue(&phase);
    return phase.failed;
}
