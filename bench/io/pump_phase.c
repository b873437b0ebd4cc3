/* What all completions of a pump's phase pass through. */
#include "bench/io/pump_phase.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A slot's window, beside the time at which it opened. */
#define SLOT_WAITS  0
#define SLOT_CLOSED UINT64_MAX

void phase_fail(struct phase *phase, int code)
{
    if (phase->failed == 0)
        phase->failed = code;
    phase->stopping = true;
}

enum pattern_kind phase_draw_kind(struct pump *pump)
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
void phase_choose_file(const struct pump *pump, struct io_call *call)
{
    uint64_t unit = pump->most_call_bytes, at = call->offset_bytes;
    call->file = (uint32_t)(at / unit % pump->n_files);
    call->fd = pump->fds[call->file];
    call->offset_bytes = at / unit / pump->n_files * unit + at % unit + pump->shift_bytes;
}

/* A new word in the buffer of every write keeps a device from deduplicating; so do the stamps of verify. */
void phase_stamp_buffer(struct pump *pump, const struct io_call *call)
{
    unsigned char *buffer = call->buffer;
    if (pump->verify != NULL) {
        verify_begin(pump->verify, call);
        return;
    }
    if (buffer != NULL && !content_is_plain(&pump->content)) {
        content_stamp(&pump->content, buffer, call->size_bytes, &pump->rng);
        return;
    }
    for (uint32_t i = 0; buffer != NULL && i < call->n_requests; i++) {
        uint64_t word = rng_next(&pump->rng);
        memcpy(buffer + i * pump->request_size_bytes, &word, sizeof word);
    }
}

void phase_report_failure(struct phase *phase, const struct io_call *call)
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

bool phase_is_as_written(struct phase *phase, const struct io_call *call)
{
    struct err *err = phase->failed == 0 ? phase->err : NULL;
    int result = verify_end(phase->pump->verify, call, err);
    if (result == 0)
        return true;
    err_prefix(err, "%s", phase->pump->ops->name);
    phase_fail(phase, result);
    return false;
}

bool phase_is_interrupted(const struct phase *phase)
{
    const atomic_int *flag = phase->end->interrupted;
    return flag != NULL && atomic_load_explicit(flag, memory_order_relaxed) != 0;
}

/* Would so many more calls pass the cap on bytes? Closing with full queues takes about two turnovers, since
 * requests do not come back in the order in which they were sent. */
static bool reaches_cap(const struct phase *phase, uint64_t n_calls)
{
    uint64_t cap = phase->end->max_bytes;
    return cap != 0 && phase->issued_bytes + n_calls * phase->pump->most_call_bytes > cap;
}

static bool has_lasted(const struct phase *phase, uint64_t now_ns)
{
    return now_ns - phase->stats->start_ns >= phase->end->duration_ns &&
           phase->issued_requests >= phase->end->min_requests;
}

/* Have the slots of all pumps closed, and those of other machines as far as this one can tell? */
static bool all_have_closed(const struct pump_window *window, uint64_t now_ns)
{
    if (atomic_load_explicit(&window->n_to_close, memory_order_relaxed) != 0)
        return false;
    uint64_t closed_ns = atomic_load_explicit(&window->closed_ns, memory_order_relaxed);
    return window->close_ns == 0 || closed_ns < window->close_ns ||
           now_ns >= closed_ns + (closed_ns - window->close_ns);
}

/* Queues stay full until the slots of all pumps have closed, since the last requests would find a device with
 * less to do; but no longer than what closing may take. */
static bool is_over(const struct phase *phase, uint64_t now_ns)
{
    struct pump_window *window = phase->end->window;
    if (window == NULL)
        return has_lasted(phase, now_ns);
    if (atomic_load_explicit(&window->abandoned, memory_order_relaxed) != 0)
        return phase->closing_ns != 0 || has_lasted(phase, now_ns);
    return phase->closing_ns != 0 &&
           (all_have_closed(window, now_ns) || now_ns - phase->closing_ns > PUMP_CLOSING_NS);
}

static void note_stop(struct phase *phase, uint64_t now_ns)
{
    unsigned long long none = 0;
    phase->stopped_ns = now_ns;
    if (phase->end->window != NULL)
        atomic_compare_exchange_strong(&phase->end->window->stopped_ns, &none, now_ns);
}

bool phase_may_issue(struct phase *phase, uint64_t now_ns)
{
    if (!phase->stopping)
        phase->stopping = phase_is_interrupted(phase) || reaches_cap(phase, 1) || is_over(phase, now_ns);
    if (phase->stopping && phase->stopped_ns == 0)
        note_stop(phase, now_ns);
    return !phase->stopping;
}

static bool asks(const struct phase *phase, bool (*condition)(void *context, double batch_latency_ns))
{
    return condition != NULL && condition(phase->end->context, phase->batch_ns);
}

/* The warm-up's condition is asked for until it holds, then the condition to close. */
static void ask_about_window(struct phase *phase)
{
    if (!phase->warm)
        phase->warm = asks(phase, phase->end->is_warm);
    else if (asks(phase, phase->end->after_batch) && phase->closing_ns == 0)
        phase->closing_ns = phase->last_ns;
}

void phase_batch_end(struct phase *phase)
{
    batch_stats_add(&phase->stats->batches, phase->batch_ns);
    if (phase->end->window == NULL)
        phase->stopping |= asks(phase, phase->end->after_batch);
    else
        ask_about_window(phase);
    phase->batch_requests = 0;
    phase->batch_ns = 0;
}

static void batch_add(struct phase *phase, double latency_ns, uint32_t n_requests)
{
    for (uint32_t i = 0; i < n_requests; i++) {
        phase->batch_ns += latency_ns;
        if (++phase->batch_requests == phase->pump->batch_requests)
            phase_batch_end(phase);
    }
}

static bool is_warm(struct phase *phase, uint64_t now_ns)
{
    const struct pump_end *end = phase->end;
    const struct pump_count *outside = &phase->stats->outside;
    if (!phase->warm)
        phase->warm = now_ns - phase->stats->start_ns >= end->warmup_limit_ns ||
                      (end->warmup_max_bytes != 0 &&
                       outside->bytes_read + outside->bytes_written >= end->warmup_max_bytes);
    return phase->warm;
}

/* A pump that is held up after its look at the clock may come last with an earlier time than another's. */
static void note_open(struct pump_window *window, uint64_t now_ns)
{
    unsigned long long latest_ns = atomic_load(&window->latest_open_ns);
    while (latest_ns < now_ns && !atomic_compare_exchange_weak(&window->latest_open_ns, &latest_ns, now_ns)) {
    }
}

/* The run's window begins when the last slot of the last pump opens. */
static void open_slot(struct phase *phase, const struct io_call *call, uint64_t now_ns)
{
    struct pump_window *window = phase->end->window;
    struct pump_stats *stats = phase->stats;
    phase->pump->slots_opened_ns[call->slot] = now_ns;
    stats->warmup_slot_ns += (double)(now_ns - stats->start_ns);
    if (++phase->n_open < phase->pump->n_calls)
        return;
    phase->depth_from_ns = now_ns;
    phase->depth_area_before = phase->depth_area;
    stats->warmup_bytes = stats->outside.bytes_read + stats->outside.bytes_written + call->size_bytes;
    note_open(window, now_ns);
    if (atomic_fetch_sub(&window->n_to_open, phase->n_open) == phase->n_open)
        atomic_store(&window->opened_ns, atomic_load(&window->latest_open_ns));
}

static void look_for_pause(struct phase *phase, uint64_t now_ns)
{
    uint64_t before_ns = phase->stats->last_complete_ns, gap_ns = before_ns != 0 ? now_ns - before_ns : 0;
    phase->behind_pause = gap_ns >= PUMP_PAUSE_NS && gap_ns >= phase->longest_pause_ns / 2;
    if (phase->behind_pause && gap_ns > phase->longest_pause_ns)
        phase->longest_pause_ns = gap_ns;
}

/* Has what was waited for since *since_ns come, or is it not to be waited for any longer? */
static bool is_behind_pause(const struct phase *phase, uint64_t now_ns, uint64_t *since_ns)
{
    if (*since_ns == 0)
        *since_ns = now_ns;
    return phase->behind_pause || now_ns - *since_ns >= phase->end->pause_wait_ns;
}

static bool may_open(struct phase *phase, uint64_t now_ns)
{
    return phase->n_open > 0 ||
           (is_warm(phase, now_ns) && is_behind_pause(phase, now_ns, &phase->may_open_ns));
}

static bool window_has_lasted(const struct phase *phase, uint64_t now_ns)
{
    const struct pump *pump = phase->pump;
    uint64_t closing_requests = (uint64_t)pump->n_calls * pump->calls[0].n_requests;
    if (phase->end->window->close_ns != 0)
        return now_ns >= phase->end->window->close_ns;
    return now_ns >= phase->opened_ns + phase->end->duration_ns &&
           phase->stats->counted.n_requests + closing_requests >= phase->end->min_requests;
}

static bool may_close(struct phase *phase, uint64_t now_ns)
{
    const struct pump *pump = phase->pump;
    if (phase->closing_ns != 0 || phase->opened_ns == 0)
        return phase->closing_ns != 0;
    bool lasted = window_has_lasted(phase, now_ns);
    if (lasted && phase->longest_pause_ns != 0)
        lasted = is_behind_pause(phase, now_ns, &phase->may_close_ns);
    if (!lasted && !reaches_cap(phase, 2 * (uint64_t)pump->n_calls))
        return false;
    phase_add_to_windows(phase, now_ns, 0); /* they are as many as this pump's time has, whatever came back */
    phase->closing_ns = now_ns;
    return true;
}

static void close_slot(struct phase *phase, uint64_t *opened_ns, uint64_t now_ns)
{
    struct pump_stats *stats = phase->stats;
    stats->slot_ns += (double)(now_ns - *opened_ns);
    *opened_ns = SLOT_CLOSED;
    if (++phase->n_closed < phase->pump->n_calls)
        return;
    stats->depth_ns = (double)(now_ns - phase->depth_from_ns);
    stats->depth_area = phase->depth_area - phase->depth_area_before;
    stats->windowed = true;
    /* Pumps may come here at once, so that this is the latest up to a moment; but never 0 when none is left.
     */
    atomic_store(&phase->end->window->closed_ns, now_ns);
    atomic_fetch_sub(&phase->end->window->n_to_close, phase->n_closed);
}

static void look_for_opening(struct phase *phase)
{
    phase->opened_ns = atomic_load_explicit(&phase->end->window->opened_ns, memory_order_acquire);
    phase->stats->opened_ns = phase->opened_ns;
}

void phase_choose_count(struct phase *phase, const struct io_call *call)
{
    uint64_t opened_ns = phase->pump->slots_opened_ns[call->slot];
    bool all_count = phase->end->window == NULL && !pace_is_on(&phase->pace);
    bool outside = !all_count && (opened_ns == SLOT_WAITS || opened_ns == SLOT_CLOSED);
    phase->count = outside ? &phase->stats->outside : &phase->stats->counted;
}

void phase_advance_slot(struct phase *phase, const struct io_call *call, uint64_t now_ns)
{
    uint64_t *opened_ns = &phase->pump->slots_opened_ns[call->slot];
    phase_choose_count(phase, call);
    if (phase->end->window == NULL)
        return;
    if (phase->opened_ns == 0)
        look_for_opening(phase);
    if (phase->end->pause_wait_ns != 0)
        look_for_pause(phase, now_ns);
    if (*opened_ns == SLOT_WAITS && may_open(phase, now_ns))
        open_slot(phase, call, now_ns);
    else if (phase->count == &phase->stats->counted && may_close(phase, now_ns))
        close_slot(phase, opened_ns, now_ns);
}

void phase_add_to_windows(struct phase *phase, uint64_t now_ns, uint64_t bytes)
{
    const struct pump_end *end = phase->end;
    bool from_start = end->window == NULL || end->warmup_limit_ns == 0;
    uint64_t from_ns = from_start ? phase->stats->start_ns : phase->opened_ns;
    if (from_ns != 0 && now_ns >= from_ns && phase->closing_ns == 0)
        pump_windows_add(&phase->stats->windows, now_ns - from_ns, bytes);
}

void phase_complete(struct phase *phase, const struct io_call *call, uint64_t now_ns)
{
    if (!phase_count_bytes(phase, call))
        return;
    uint64_t latency_ns = (now_ns - call->submitted_ns) / call->n_rounds;
    histogram_add(phase->count->latency, latency_ns, call->n_requests);
    phase->count->n_sampled += call->n_requests;
    phase_add_to_windows(phase, now_ns, call->size_bytes);
    phase->stats->last_complete_ns = now_ns;
    batch_add(phase, (double)latency_ns, call->n_requests);
}
