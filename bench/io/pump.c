/* Keeps one queue full and records what comes back. */
#include "bench/io/pump_phase.h"

#include <errno.h>
#include <string.h>

/* A reaping that took less time than this did not wait. */
#define AT_ONCE_NS 3000

static void integrate_depth(struct phase *phase, double depth, uint64_t now_ns)
{
    phase->depth_area += depth * (double)(now_ns - phase->last_ns);
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
    phase->depth_area += depth * (double)last->duration_ns;
    *last = (struct submission){0};
}

/* Hands all prepared calls over; what is not accepted stays prepared. */
static void submit_ready(struct phase *phase, size_t in_flight)
{
    struct pump *pump = phase->pump;
    uint64_t start_ns = clock_now_ns(pump->clock);
    integrate_depth(phase, (double)in_flight, start_ns);
    for (size_t i = 0; i < phase->n_ready && !pace_is_on(&phase->pace); i++)
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
    int result = pump->ops->reap(pump->io, done, in_flight, phase_pace_until_ns(phase), &n,
                                 phase->failed == 0 ? phase->err : NULL);
    uint64_t now_ns = clock_now_ns(pump->clock);
    integrate_submission(phase, now_ns - phase->last_ns < AT_ONCE_NS ? n : 0);
    integrate_depth(phase, (double)in_flight, now_ns);
    if (result < 0) {
        phase_fail(phase, result);
        return result;
    }
    for (size_t i = 0; i < n; i++) {
        phase_advance_slot(phase, done[i], now_ns);
        phase_complete(phase, done[i], now_ns);
    }
    phase->n_idle += n;
    return 0;
}

static void prepare_idle(struct phase *phase)
{
    struct pump *pump = phase->pump;
    while (phase->n_idle > 0 && phase_may_issue(phase, phase->last_ns)) {
        bool paced = pace_is_on(&phase->pace);
        if (paced && phase->last_ns < pace_due_ns(&phase->pace))
            break;
        struct io_call *call = pump->idle[--phase->n_idle];
        phase_prepare(phase, call);
        if (paced)
            phase_pace_prepare(phase, call);
        pump->ready[phase->n_ready++] = call;
    }
    if (phase->failed != 0 || phase_is_interrupted(phase))
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
        if (in_flight == 0 && (phase->stopping || !pace_is_on(&phase->pace)))
            return;
        if (in_flight == 0)
            phase_pace_wait(phase);
        else if (reap_some(phase, in_flight) < 0)
            return;
    }
}

static void run_queue_to_its_end(struct phase *phase)
{
    struct pump_stats *stats = phase->stats;
    run_queue(phase);
    if (pace_is_on(&phase->pace))
        phase_pace_end(phase);
    if (stats->windowed)
        return;
    stats->depth_area = phase->depth_area;
    stats->depth_ns = (double)(stats->last_complete_ns - stats->first_submit_ns);
}

static void reset_stats(struct pump_stats *stats, const struct pump_end *end)
{
    struct histogram *counted = stats->counted.latency, *outside = stats->outside.latency;
    *stats = (struct pump_stats){.counted.latency = counted, .outside.latency = outside};
    histogram_init(counted);
    if (outside != NULL)
        histogram_init(outside);
    batch_stats_init(&stats->batches);
    stats->windows.width_ns = end->duration_ns / (PUMP_N_WINDOWS / 2);
    if (stats->windows.width_ns < 1000000)
        stats->windows.width_ns = 1000000;
}

int pump_phase(struct pump *pump, const struct pump_end *end, struct pump_stats *stats, struct err *err)
{
    struct phase phase = {.pump = pump, .end = end, .stats = stats, .err = err, .count = &stats->counted};
    reset_stats(stats, end);
    memset(pump->slots_opened_ns, 0, pump->n_calls * sizeof *pump->slots_opened_ns);
    stats->first_submit_ns = phase.last_ns = stats->last_complete_ns = clock_now_ns(pump->clock);
    stats->start_ns = end->start_ns != 0 ? end->start_ns : stats->first_submit_ns;
    stats->opened_ns = end->window == NULL && end->pace == NULL ? stats->start_ns : 0;
    if (end->pace != NULL)
        phase.pace = *end->pace;
    if (pump->n_calls == 1 && end->pace == NULL)
        phase_run_single(&phase);
    else
        run_queue_to_its_end(&phase);
    if (end->window != NULL && !stats->windowed)
        atomic_store(&end->window->abandoned, 1);
    return phase.failed;
}
