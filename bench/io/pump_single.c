/* A queue of depth 1. Fast requests are timed by chance only: stamping each would cost what can be seen. */
#include "bench/io/pump_phase.h"

#include <errno.h>

/* A sampled phase times one request in SAMPLE_EVERY on average; the gap is random so that no period of the
 * device is met. */
#define SAMPLE_EVERY 32
#define MOST_UNTIMED (2 * SAMPLE_EVERY - 1)
/* A phase turns to sampling within its first batches or not at all: what it recorded before is lost. */
#define SAMPLE_JUDGED_BATCHES 16

static void submit_and_reap(struct phase *phase, struct io_call *call)
{
    struct pump *pump = phase->pump;
    size_t n = 0;
    int result = pump->ops->submit(pump->io, &call, 1, &n, phase->err);
    if (result == 0 && n == 0)
        result = err_set(phase->err, -EAGAIN, "%s: the kernel takes no request although none is in flight",
                         pump->ops->name);
    if (result == 0)
        result = pump->ops->reap(pump->io, &call, 1, IOAPI_NO_END, &n, phase->err);
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
    bool stamps_seldom = end->batches_per_stamp > 0 && (phase->warm || end->window == NULL);
    uint64_t n = (uint64_t)phase->pump->batch_requests * (stamps_seldom ? end->batches_per_stamp : 1);
    if (end->max_bytes == 0)
        return (uint32_t)n;
    uint64_t left = end->max_bytes > phase->issued_bytes ? end->max_bytes - phase->issued_bytes : 0;
    uint64_t n_left = left / phase->pump->most_call_bytes;
    return (uint32_t)(n_left < n ? n_left : n);
}

/* Makes one of them by itself; false when it failed. */
static bool one_sampled(struct phase *phase, struct io_call *call)
{
    phase_prepare(phase, call);
    one_call(phase, call);
    return phase->failed == 0 && phase_count_bytes(phase, call);
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
    phase->count->n_requests += done;
    phase->count->bytes_read += done * call->size_bytes;
    if (call->result != (int64_t)call->size_bytes)
        phase_report_failure(phase, call);
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
    while (i < n && !phase_is_interrupted(phase) && one_sampled(phase, call))
        i++;
    return i;
}

static bool timed_call(struct phase *phase, struct io_call *call)
{
    phase_prepare(phase, call);
    uint64_t before_ns = clock_now_ns(phase->pump->clock);
    one_call(phase, call);
    if (phase->failed != 0 || !phase_count_bytes(phase, call))
        return false;
    histogram_add(phase->count->latency, clock_now_ns(phase->pump->clock) - before_ns, 1);
    phase->count->n_sampled++;
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
        if (n_done < n_untimed || done == n || phase_is_interrupted(phase) || !timed_call(phase, call))
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
    uint32_t batch = phase->pump->batch_requests;
    phase_choose_count(phase, &phase->pump->calls[0]);
    uint64_t bytes_before = phase->count->bytes_read + phase->count->bytes_written;
    uint32_t n = sampled_calls(phase, count_unstamped(phase), countdown);
    uint64_t now_ns = clock_now_ns(phase->pump->clock);
    if (n == 0)
        return now_ns;
    phase_add_to_windows(phase, now_ns,
                         phase->count->bytes_read + phase->count->bytes_written - bytes_before);
    stats->last_complete_ns = phase->last_ns = now_ns;
    double call_ns = (double)(now_ns - start_ns) / n;
    for (uint32_t left = n; left >= batch && !phase->stopping; left -= batch) {
        phase->batch_ns = call_ns * batch;
        phase_batch_end(phase);
    }
    phase_advance_slot(phase, &phase->pump->calls[0], now_ns);
    return now_ns;
}

/* Turns to sampling, because requests take less than PUMP_SAMPLED_NS on average. Latencies recorded one by
 * one so far are dropped, so that the histogram is a random sample of one kind. */
static void start_sampling(struct phase *phase)
{
    struct pump_count *const counts[] = {&phase->stats->counted, &phase->stats->outside};
    phase->stats->sampled = true;
    for (size_t i = 0; i < 2; i++) {
        counts[i]->n_sampled = 0;
        if (counts[i]->latency != NULL)
            histogram_init(counts[i]->latency);
    }
}

static bool fast_enough_to_sample(const struct phase *phase)
{
    const struct batch_stats *batches = &phase->stats->batches;
    return phase->pump->speed == PUMP_SPEED_UNKNOWN && phase->pump->requests_per_call == 1 &&
           batches->n > 0 && batches->n <= SAMPLE_JUDGED_BATCHES &&
           batches->mean_ns < (double)PUMP_SAMPLED_NS * phase->pump->batch_requests;
}

/* Judges the speed by a whole warm-up or phase: the first batches may find only what was read ahead. */
static void judge_speed(struct pump *pump, uint64_t seen_ns, uint64_t n_requests)
{
    bool fast = seen_ns < PUMP_SAMPLED_NS * n_requests;
    if (n_requests >= pump->batch_requests && pump->requests_per_call == 1)
        pump->speed = fast ? PUMP_SPEED_FAST : PUMP_SPEED_SLOW;
}

/* The warm-up is over: what follows is sampled, or not, from its first request on. */
static void judge_warmup(struct phase *phase, uint64_t now_ns)
{
    judge_speed(phase->pump, now_ns - phase->stats->start_ns, phase->stats->outside.n_requests);
    if (phase->pump->speed == PUMP_SPEED_FAST && !phase->stats->sampled)
        start_sampling(phase);
}

static uint64_t stamped_call(struct phase *phase, struct io_call *call, uint64_t start_ns)
{
    struct pump *pump = phase->pump;
    phase_prepare(phase, call);
    call->submitted_ns = start_ns;
    one_call(phase, call);
    if (phase->failed != 0)
        return start_ns;
    uint64_t now_ns = phase->last_ns = clock_now_ns(pump->clock);
    phase_advance_slot(phase, call, now_ns);
    phase_complete(phase, call, now_ns);
    return now_ns;
}

/* Stamps are chained: the end of one request is the start of the next. */
void phase_run_single(struct phase *phase)
{
    struct pump *pump = phase->pump;
    struct pump_stats *stats = phase->stats;
    uint64_t now_ns = stats->first_submit_ns;
    uint32_t countdown = 1;
    bool opened = phase->end->window == NULL;
    if (pump->speed == PUMP_SPEED_FAST)
        start_sampling(phase);
    while (phase->failed == 0 && phase_may_issue(phase, now_ns)) {
        if (stats->sampled)
            now_ns = sampled_batches(phase, now_ns, &countdown);
        else
            now_ns = stamped_call(phase, &pump->calls[0], now_ns);
        if (!opened && phase->n_open > 0) {
            opened = true;
            judge_warmup(phase, now_ns);
        } else if (!stats->sampled && fast_enough_to_sample(phase)) {
            start_sampling(phase);
        }
    }
    stats->depth_ns =
        stats->windowed ? stats->slot_ns : (double)(stats->last_complete_ns - stats->first_submit_ns);
    stats->depth_area = stats->depth_ns;
    if (phase->end->window == NULL)
        judge_speed(pump, (uint64_t)stats->depth_ns, stats->counted.n_requests);
}
