/* An open loop: calls begin when they are due, whatever has come back. */
#include "bench/io/pump_phase.h"

/* A thread that waits looks so often whether it is to end. */
#define SLICE_NS (CLOCK_NS_PER_S / 200)
/* The kernel wakes a sleeper late, by up to about so much: the rest of the way the thread stays awake. */
#define WAKE_NS 100000U

/* What begins from here on counts. Where requests begin in time, the time that is counted goes from due to
 * due; where they are late, from when this one could begin. */
static void become_warm(struct phase *phase, uint64_t due_ns)
{
    const struct pump_end *end = phase->end;
    bool moved = end->warmup_max_bytes != 0 && phase->issued_bytes >= end->warmup_max_bytes;
    if (phase->warm || (phase->last_ns - phase->stats->start_ns < end->warmup_limit_ns && !moved))
        return;
    bool in_time = (double)(phase->last_ns - due_ns) < phase->pace.interval_ns;
    phase->warm = true;
    phase->stats->opened_ns = phase->depth_from_ns = in_time ? due_ns : phase->last_ns;
    phase->depth_area_before = phase->depth_area;
}

void phase_pace_prepare(struct phase *phase, struct io_call *call)
{
    uint64_t due_ns = pace_due_ns(&phase->pace);
    become_warm(phase, due_ns);
    phase->pump->slots_opened_ns[call->slot] = phase->warm ? due_ns : 0;
    call->submitted_ns = due_ns;
    pace_step(&phase->pace);
}

uint64_t phase_pace_until_ns(const struct phase *phase)
{
    if (!pace_is_on(&phase->pace) || phase->stopping || phase->n_idle == 0)
        return IOAPI_NO_END;
    uint64_t due_ns = pace_due_ns(&phase->pace),
             early_ns = phase->pump->clock->virtual_ns == NULL ? WAKE_NS : 0;
    return due_ns > early_ns ? due_ns - early_ns : 0;
}

void phase_pace_wait(struct phase *phase)
{
    const struct clock *clock = phase->pump->clock;
    uint64_t until_ns = phase_pace_until_ns(phase), slice_ns = phase->last_ns + SLICE_NS;
    if (until_ns > phase->last_ns)
        clock_sleep_until_ns(clock, until_ns < slice_ns ? until_ns : slice_ns);
    phase->last_ns = clock_now_ns(clock);
}

/* The time that is counted ends where the request would be due that was not made: so many as were made belong
 * to it. Where they came back too late, it ends with the last of them. */
void phase_pace_end(struct phase *phase)
{
    struct pump_stats *stats = phase->stats;
    uint64_t end_ns = pace_due_ns(&phase->pace), n_calls = phase->pump->n_calls;
    stats->n_late = pace_count_late(&phase->pace, phase->stopped_ns, phase->pump->requests_per_call,
                                    stats->counted.latency);
    if (end_ns < phase->stopped_ns)
        end_ns = stats->last_complete_ns;
    if (!phase->warm || end_ns <= stats->opened_ns)
        return;
    stats->windowed = true;
    stats->slot_ns = (double)(end_ns - stats->opened_ns) * (double)n_calls;
    /* What is in flight at the end is, until it has come back. */
    if (end_ns < stats->last_complete_ns)
        end_ns = stats->last_complete_ns;
    stats->depth_ns = (double)(end_ns - stats->opened_ns);
    stats->depth_area = phase->depth_area - phase->depth_area_before;
    stats->warmup_bytes = stats->outside.bytes_read + stats->outside.bytes_written;
    stats->warmup_slot_ns = (double)(stats->opened_ns - stats->start_ns) * (double)n_calls;
}
