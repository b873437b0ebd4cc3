/* tests/bench/io/pump_rig: a scripted way of doing I/O on a virtual clock, with faults on demand, and a pump
 * on top of it. The script keeps the books: what was asked, when, and how often it was handed back. */
#pragma once

#include "bench/io/pump.h"
#include "tests/test.h"

#include <errno.h>

#define US          1000ULL
#define MS          1000000ULL
#define FOR_EVER    UINT64_MAX
#define SCRIPT_LOG  16384 /* calls remembered; later ones are only counted */
#define SCRIPT_SLOT 64

enum fault { FAULT_NONE, FAULT_CALL, FAULT_SHORT, FAULT_REFUSE, FAULT_SUBMIT, FAULT_REAP };

struct record {
    uint64_t offset_bytes, size_bytes;
    uint64_t entered_ns; /* when submit was called */
    uint64_t stamp_ns;   /* what the pump had written into the call then */
    uint64_t done_ns;
    bool is_write;
    uint32_t n_reaped;
};

struct script {
    uint64_t now_ns;
    uint64_t (*latency_ns)(struct script *script, uint64_t index); /* of the index-th call accepted */
    uint64_t submit_cost_ns; /* time that one submit takes, whatever it accepts */
    bool works_inside;       /* submit works the calls off one after another before it returns */
    size_t accept_max;       /* calls taken per submit; 0: all */
    size_t reap_max;         /* calls handed out per reap; 0: all that are due */
    struct rng rng;          /* for latencies */

    enum fault fault;
    int code;            /* negative errno of the fault */
    uint64_t nth, times; /* it hits the nth event (from 0) of its kind and the following ones */
    uint64_t n_submits, n_reaps;
    uint64_t interrupt_at; /* accepting the call of this number raises the flag; 0: never */
    atomic_int interrupted;

    uint64_t n_accepted, n_reaped, n_after_interrupt, n_repeated_words;
    size_t n_flying, most_flying;
    struct {
        struct io_call *call;
        uint64_t done_ns, index;
    } flying[SCRIPT_SLOT];
    bool slot_flies[SCRIPT_SLOT];
    uint64_t last_words[SCRIPT_SLOT][16];
    struct record log[SCRIPT_LOG];
};

static inline bool script_hits(const struct script *script, enum fault fault, uint64_t event)
{
    return script->fault == fault && event >= script->nth && event - script->nth < script->times;
}

/* Every request of a write must carry another first word than the last time. */
static inline void script_look_at_words(struct script *script, const struct io_call *call)
{
    if (!call->is_write || call->buffer == NULL)
        return;
    uint64_t request_bytes = call->size_bytes / call->n_requests;
    for (uint32_t i = 0; i < call->n_requests && i < 16; i++) {
        uint64_t word;
        memcpy(&word, (unsigned char *)call->buffer + i * request_bytes, sizeof(word));
        if (word == script->last_words[call->slot][i])
            script->n_repeated_words++;
        script->last_words[call->slot][i] = word;
    }
}

static inline void script_accept(struct script *script, struct io_call *call, uint64_t entered_ns)
{
    uint64_t index = script->n_accepted++;
    assert_true(call->slot < SCRIPT_SLOT);
    assert_false(script->slot_flies[call->slot]);
    script->slot_flies[call->slot] = true;
    script_look_at_words(script, call);
    if (atomic_load(&script->interrupted) != 0)
        script->n_after_interrupt++;
    if (script->interrupt_at != 0 && index + 1 == script->interrupt_at)
        atomic_store(&script->interrupted, 1);
    uint64_t latency_ns = script->latency_ns(script, index);
    uint64_t done_ns = (script->works_inside ? script->now_ns : entered_ns) + latency_ns;
    if (script->works_inside)
        script->now_ns = done_ns;
    script->flying[script->n_flying].call = call;
    script->flying[script->n_flying].done_ns = done_ns;
    script->flying[script->n_flying++].index = index;
    if (script->n_flying > script->most_flying)
        script->most_flying = script->n_flying;
    if (index < SCRIPT_LOG)
        script->log[index] = (struct record){.offset_bytes = call->offset_bytes,
                                             .size_bytes = call->size_bytes,
                                             .entered_ns = entered_ns,
                                             .stamp_ns = call->submitted_ns,
                                             .done_ns = done_ns,
                                             .is_write = call->is_write};
}

static inline int script_submit(void *state, struct io_call *const *calls, size_t n, size_t *ret_n,
                                struct err *err)
{
    struct script *script = state;
    uint64_t event = script->n_submits++, entered_ns = script->now_ns;
    assert_true(n > 0);
    if (script_hits(script, FAULT_SUBMIT, event))
        return err_set(err, script->code, "script: submit is broken");
    size_t n_taken = script->accept_max != 0 && script->accept_max < n ? script->accept_max : n;
    if (script_hits(script, FAULT_REFUSE, event))
        n_taken = 0;
    script->now_ns += script->submit_cost_ns;
    for (size_t i = 0; i < n_taken; i++)
        script_accept(script, calls[i], entered_ns);
    *ret_n = n_taken;
    return 0;
}

static inline struct io_call *script_complete(struct script *script, size_t i)
{
    struct io_call *call = script->flying[i].call;
    uint64_t index = script->flying[i].index;
    call->result = (int64_t)call->size_bytes;
    if (script_hits(script, FAULT_CALL, index))
        call->result = script->code;
    if (script_hits(script, FAULT_SHORT, index))
        call->result = (int64_t)call->size_bytes / 2;
    if (index < SCRIPT_LOG)
        script->log[index].n_reaped++;
    script->slot_flies[call->slot] = false;
    script->flying[i] = script->flying[--script->n_flying];
    script->n_reaped++;
    return call;
}

/* The one that is due first; of equals the latest accepted, so that order is never the order of submission.
 */
static inline size_t script_next(const struct script *script)
{
    size_t next = 0;
    for (size_t i = 1; i < script->n_flying; i++) {
        uint64_t done_ns = script->flying[i].done_ns, best_ns = script->flying[next].done_ns;
        if (done_ns < best_ns || (done_ns == best_ns && script->flying[i].index > script->flying[next].index))
            next = i;
    }
    return next;
}

static inline int script_reap(void *state, struct io_call **calls, size_t max, uint64_t until_ns,
                              size_t *ret_n, struct err *err)
{
    struct script *script = state;
    uint64_t event = script->n_reaps++;
    assert_true(script->n_flying > 0);
    assert_true(max > 0);
    if (script_hits(script, FAULT_REAP, event))
        return err_set(err, script->code, "script: reap is broken");
    if (script->reap_max != 0 && script->reap_max < max)
        max = script->reap_max;
    size_t n = 0;
    while (n < max && script->n_flying > 0) {
        size_t next = script_next(script);
        if (script->flying[next].done_ns > script->now_ns && n > 0)
            break;
        if (script->flying[next].done_ns > until_ns) {
            script->now_ns = until_ns > script->now_ns ? until_ns : script->now_ns;
            break;
        }
        if (script->flying[next].done_ns > script->now_ns)
            script->now_ns = script->flying[next].done_ns;
        calls[n++] = script_complete(script, next);
    }
    *ret_n = n;
    return 0;
}

/* What a pump calls of a way of doing I/O. */
static const struct ioapi_ops script_ops = {
    .name = "script", .api = API_N, .submit = script_submit, .reap = script_reap};

struct pump_rig {
    struct script script;
    struct clock clock;
    struct pump_config config;
    struct pump pump;
    struct pump_end end;
    struct pump_stats stats;
    struct histogram latency;
    struct err err;
    unsigned char *buffers;
};

/* How long the call of this index takes. */
#define LATENCY(name, of_index)                                                                              \
    static inline uint64_t name(struct script *script, uint64_t index)                                       \
    {                                                                                                        \
        (void)script, (void)index;                                                                           \
        return of_index;                                                                                     \
    }

/* What most tests have. */
LATENCY(latency_15us, 15 * US)

/* So fast that depth 1 is sampled. */
LATENCY(latency_1us, 1 * US)

/* The original's random latencies: mean 30 us, standard deviation 21.6 us. */
static inline uint64_t latency_random(struct script *script, uint64_t index)
{
    static const uint64_t values[] = {10, 20, 60};
    (void)index;
    return values[rng_next(&script->rng) % 3] * US;
}

/* A pump of `depth` calls of 4096 bytes on 1024 of them, for 10 ms, that take so long each. What else differs
 * a test changes before rig_start. */
static inline struct pump_rig *rig_alloc(const char *pattern, uint32_t depth,
                                         uint64_t (*latency_ns)(struct script *, uint64_t))
{
    struct pump_rig *rig = calloc(1, sizeof(*rig));
    assert_non_null(rig);
    rig->clock = clock_virtual(&rig->script.now_ns);
    rig->script.now_ns = 5 * MS; /* no time is ever 0 by luck */
    rig->script.latency_ns = latency_ns;
    rig->script.times = 1;
    rng_init(&rig->script.rng, 99);
    rig->config = (struct pump_config){.clock = &rig->clock,
                                       .ops = &script_ops,
                                       .region_bytes = 1024 * 4096,
                                       .n_calls = depth,
                                       .request_size_bytes = 4096,
                                       .requests_per_call = 1,
                                       .rounds_per_call = 1,
                                       .batch_requests = WARMUP_BATCH_DEFAULT,
                                       .seed = 7};
    assert_int_equal(pattern_parse(pattern, &rig->config.pattern, NULL), 0);
    rig->end = (struct pump_end){.duration_ns = 10 * MS, .interrupted = &rig->script.interrupted};
    rig->stats.counted.latency = &rig->latency;
    return rig;
}

static inline void rig_start(struct pump_rig *rig)
{
    assert_int_equal(pump_init(&rig->pump, &rig->config, &rig->err), 0);
    rig->pump.io = &rig->script;
}

static inline int rig_phase(struct pump_rig *rig)
{
    return pump_phase(&rig->pump, &rig->end, &rig->stats, &rig->err);
}

/* A phase that goes well, after the start where there was none yet. */
static inline void rig_run(struct pump_rig *rig)
{
    if (rig->pump.io == NULL)
        rig_start(rig);
    assert_int_equal(rig_phase(rig), 0);
}

static inline void rig_free(struct pump_rig **rig)
{
    pump_done(&(*rig)->pump);
    free((*rig)->buffers);
    free(*rig);
}

static inline uint64_t rig_bytes(const struct pump_rig *rig)
{
    return rig->stats.counted.bytes_read + rig->stats.counted.bytes_written;
}

/* What must hold after any phase that the API survived: nothing in flight, every call handed back once. */
static inline void rig_check_drained(const struct pump_rig *rig)
{
    assert_int_equal(rig->script.n_flying, 0);
    assert_int_equal(rig->script.n_accepted, rig->script.n_reaped);
    for (uint64_t i = 0; i < rig->script.n_accepted && i < SCRIPT_LOG; i++)
        assert_int_equal(rig->script.log[i].n_reaped, 1);
}

/* Sum over the windows, which must be the bytes counted. */
static inline uint64_t rig_window_bytes(const struct pump_rig *rig)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < PUMP_N_WINDOWS; i++)
        sum += rig->stats.windows.bytes[i];
    return sum;
}
