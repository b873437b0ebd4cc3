/* bench/io/pump_phase: what the loops of a pump share: issuing a call, counting it, and the windows of slots.
 * For pump.c, pump_single.c and pump_phase.c only. */
#pragma once

#include "bench/io/pump.h"

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
    uint64_t stopped_ns;      /* when it turned on */
    struct pump_count *count; /* where the next completion counts */
    bool warm;
    bool behind_pause;                  /* the completion that is looked at now ended a pause */
    uint64_t longest_pause_ns;          /* so far; 0: there was none */
    uint64_t may_open_ns, may_close_ns; /* since when only a pause is waited for; 0: not yet */
    uint64_t opened_ns;                 /* the run's window, once this pump knows of it; 0: not yet */
    uint64_t closing_ns;                /* from here on slots close with their next completion; 0: not yet */
    uint32_t n_open;                    /* slots that have opened, closed ones included */
    uint32_t n_closed;
    uint64_t issued_requests, issued_bytes;
    struct pace pace; /* of an open loop; else off */
    size_t n_idle;
    size_t n_ready;
    uint64_t last_ns;             /* up to here the depth has been integrated ... */
    struct submission submission; /* ... but for this call */
    double depth_area;            /* as in pump_stats, since the phase began */
    double depth_area_before;     /* the last slot opened, at ... */
    uint64_t depth_from_ns;
    uint32_t batch_requests;
    double batch_ns;
};

void phase_fail(struct phase *phase, int code);

/* A call of a mix: its kind is drawn, its size and file set; a write's buffer gets a new word. */
enum pattern_kind phase_draw_kind(struct pump *pump);
void phase_choose_file(const struct pump *pump, struct io_call *call);
void phase_stamp_buffer(struct pump *pump, const struct io_call *call);

/* Says what was wrong with a call that failed. */
void phase_report_failure(struct phase *phase, const struct io_call *call);

/* False when a read found something else than was written; then the request has failed. */
bool phase_is_as_written(struct phase *phase, const struct io_call *call);

bool phase_is_interrupted(const struct phase *phase);

/* May another call be issued? Turns `stopping` on when not. */
bool phase_may_issue(struct phase *phase, uint64_t now_ns);

void phase_batch_end(struct phase *phase);

/* Chooses where completions of the call's slot count now. */
void phase_choose_count(struct phase *phase, const struct io_call *call);

/* The same for the completion at now_ns, which may open or close the slot's window: the one that opens it
 * does not count, the one that closes it does. */
void phase_advance_slot(struct phase *phase, const struct io_call *call, uint64_t now_ns);

/* Counts a completed call with its latency. */
void phase_complete(struct phase *phase, const struct io_call *call, uint64_t now_ns);

/* Adds bytes to the windows of time, where they belong to any. */
void phase_add_to_windows(struct phase *phase, uint64_t now_ns, uint64_t bytes);

/* bench/io/pump_paced: what an open loop does in another way: a prepared call is due; until when to wait for
 * completions; the waiting where none is in flight; what counts at the end. */
void phase_pace_prepare(struct phase *phase, struct io_call *call);
uint64_t phase_pace_until_ns(const struct phase *phase);
void phase_pace_wait(struct phase *phase);
void phase_pace_end(struct phase *phase);

/* bench/io/pump_single: a queue that holds one call. */
void phase_run_single(struct phase *phase);

/* Inline, like all that a fast request at depth 1 passes through: calls and returns cost most there. */
static inline void phase_prepare(struct phase *phase, struct io_call *call)
{
    struct pump *pump = phase->pump;
    bool plain = pump->only_kind < PATTERN_N_KINDS;
    enum pattern_kind kind = plain ? pump->only_kind : phase_draw_kind(pump);
    if (!plain) {
        call->is_write = kind == PATTERN_SEQ_WRITE || kind == PATTERN_RAND_WRITE;
        call->size_bytes = pump->call_bytes[call->is_write];
    }
    call->offset_bytes = offsets_next(&pump->offsets, kind);
    if (!plain && pump->n_files > 1)
        phase_choose_file(pump, call);
    if (call->is_write || (!plain && pump->verify != NULL))
        phase_stamp_buffer(pump, call);
    phase->issued_requests += call->n_requests;
    phase->issued_bytes += call->size_bytes;
}

/* Counts a call's bytes; false when it failed. */
static inline bool phase_count_bytes(struct phase *phase, const struct io_call *call)
{
    if (call->result != (int64_t)call->size_bytes) {
        phase_report_failure(phase, call);
        return false;
    }
    if (phase->pump->verify != NULL && !phase_is_as_written(phase, call))
        return false;
    phase->count->n_requests += call->n_requests;
    *(call->is_write ? &phase->count->bytes_written : &phase->count->bytes_read) += call->size_bytes;
    return true;
}
