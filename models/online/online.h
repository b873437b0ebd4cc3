/* models/online/online: a setting for each kind of load, chosen while the load goes on.
 *
 * The caller cuts its work into slices of time, tells each when it is over, and is told the setting of the
 * next one. A trial is one slice between two of the running setting, and what counts is its rate over
 * theirs, so that what changes slowly falls out. The settings to try come from libfstune. Another setting
 * runs only after its confirming trials have shown it to be faster, and is compared with the first one again
 * and again afterwards.
 *
 * A setting whose p99 latency is shown to be beyond that of the first one, by more than the buckets blur, is
 * neither tried again nor taken, and given up where it runs.
 *
 * Trials of a kind are paid for by what is served of that kind: what they lose against the running setting,
 * the time that switching takes included, by a share of the bytes, and the slow requests that they make by a
 * share of the requests. Before one begins, both must be saved up, as if it served nothing; no more than one
 * trial is. Nothing is tried across two kinds of load, nor where the next kind is foreseen to come before the
 * trial would be over, and no slice counts whose writes were not flushed within it: such writes are paid for
 * later. */
#pragma once

#include "models/library/fstune.h"
#include "models/online/kind.h"
#include "models/online/phases.h"
#include "models/online/waits.h"
#include "models/statistics/student.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ONLINE_FACTORS FST_MAX_FACTORS /* at most */

/* Values behind those of the factors in use are 0. */
struct online_setting {
    double values[ONLINE_FACTORS];
};

static inline bool online_is_same(const struct online_setting *a, const struct online_setting *b)
{
    bool same = true;
    for (size_t i = 0; i < ONLINE_FACTORS; i++)
        same = same && a->values[i] >= b->values[i] && a->values[i] <= b->values[i];
    return same;
}

struct online_options {
    double regret_share; /* 0 .. 1 */
    bool dry_run;        /* kinds are told apart, and nothing is tried */
    bool is_timed;       /* slices have latencies */
    size_t n_factors;    /* of the spaces below, 1 .. ONLINE_FACTORS */
    uint64_t seed;
    struct online_setting first; /* what runs until something else is shown to be faster */
    /* The settings for a kind, to be freed by online; NULL: there is no choice. */
    struct fst_space *(*space)(void *context, unsigned kind);
    /* Whether the setting can be taken now; it may become false for good while the program runs. */
    bool (*may_use)(void *context, const struct online_setting *setting);
    void *context;
};

struct online_slice {
    unsigned kind;
    struct online_setting setting; /* that it ran with */
    uint64_t n_bytes;
    double seconds;        /* while requests were under way */
    double switch_seconds; /* before it began, while requests waited for a switch */
    double end_seconds;    /* of a clock that never goes back */
    bool is_whole;         /* one setting from its beginning to its end, and its writes are flushed */
    struct latency_counts latencies; /* of all its requests, flushes too, where they are timed */
    /* Of those that began in an earlier slice and have ended since the slice before: with the tried setting
     * of a trial, and others. */
    struct latency_counts late_tried, late_others;
    uint32_t n_tried_under_way; /* begun with the tried setting of a trial, and not over yet */
};

/* What libfstune needs time for: it is taken away, thought through without anybody waiting, and given back.
 */
struct online_thought {
    unsigned kind;
    uint64_t generation;
    struct fst_search *search;
    struct fst_run run; /* the one whose result is told, then the next one */
    bool has_result, is_failed;
    double value, seconds; /* the result */
    double trial_seconds;
    int asked; /* 1: run is the next one; else the search is over */
    int answered;
    struct fst_answer answer; /* where answered is 0 */
};

struct online_price {
    double bytes, slow_requests;
};

/* What the trials of a kind may cost, and what a bad one of late has cost. */
struct online_credit {
    struct online_price saved; /* negative: owed */
    double worst_slices;       /* so many slices of the running setting's were lost by one trial */
    double worst_slow_share;   /* of a slice's requests were slow in one trial */
    double slice_bytes, slice_seconds, slice_requests; /* of a slice of the running setting, of late */
};

/* What is known of a kind. */
struct online_mind {
    struct online_credit credit;
    struct fst_search *search; /* NULL: none is under way, or it is away in a thought */
    struct online_thought thought;
    bool is_due, is_away; /* there is something to think, and somebody does */
    bool is_settled;      /* a search was made to its end, or remembered */
    struct online_setting best;
    double gain; /* best's rate over the first setting's, when it was chosen; 1: it is the first setting */
    size_t n_trials;
    uint64_t n_slices;
    double trial_seconds;
    struct moments *ratios; /* by the search's number of a setting: logs of confirming trials; owned */
    struct waits *waits;    /* by the same: of all trials; owned */
    struct fst_run run;     /* asked for and not yet told, while has_run */
    bool has_run;
    uint64_t next_check;       /* in slices: when best is compared with the first setting again */
    struct moments check;      /* logs of the first setting's rate over best's */
    struct waits check_waits;  /* best's, beside the first setting's */
    struct latency_pool usual; /* of the first setting */
    bool has_slow;
    struct online_setting slow; /* ran, and was given up for its latency: it is not tried again */
};

enum online_step { ONLINE_IDLE, ONLINE_TRYING, ONLINE_AFTER };

struct online {
    struct online_options options;
    struct online_mind mind[KIND_N];
    unsigned kind; /* of the load that goes on; KIND_NONE: not known yet */
    unsigned n_other;
    enum online_step step;
    bool is_check;
    struct online_setting tried;
    double before_bps, before_seconds, tried_bps;
    /* The last trial: its kind, whether it is of a setting that did not run, whether it was dropped and its
     * setting runs on, and how many requests it has made slow until now. */
    unsigned tried_kind;
    bool is_other_tried, goes_back;
    double n_charged;
    struct latency_limits limits;
    struct latency_share before_share, beside_share, tried_share; /* beside: the slices before and after */
    unsigned n_late;     /* slices since the trial was asked for that did not have its setting */
    uint64_t generation; /* of all that was learnt */
    bool is_frozen;
    bool is_pinned;
    struct online_setting pinned;
    double worst_switch_seconds; /* the longest switch of late */
    double served_bytes, regret_bytes;
    uint64_t n_trials, n_dropped, n_switches;
    uint64_t n_refused; /* settings, for their latency */
    struct phases phases;
    double now_seconds;       /* the end of the last slice */
    double kind_seconds;      /* and of the last one of the kind that goes on */
    double last_wall_seconds; /* how long the last slice took, with what was no slice before it */
};

void online_init(struct online *online, const struct online_options *options);
void online_done(struct online *online);

/* A slice is over: the setting for the next one. */
struct online_setting online_next(struct online *online, const struct online_slice *slice);

/* Between slices: true where there is something to think; it is online_think's for as long as that takes, and
 * must be given back. online_think may run beside all other functions. */
bool online_thought_take(struct online *online, struct online_thought *ret_thought);
void online_think(struct online_thought *thought);
/* True: the kind is settled now. */
bool online_thought_give(struct online *online, const struct online_thought *thought);

/* Whether a slice that goes on so badly is to end before its time. */
bool online_should_end(const struct online *online, uint64_t n_requests, uint64_t n_bytes, double seconds);

/* A request that takes so long in a trial is slow: online_waits_too_long is worth a call. UINT64_MAX: no
 * request is. */
uint64_t online_slow_ns(const struct online *online);
/* Whether the slice that goes on is to end before its time, for the latencies that it has had. */
bool online_waits_too_long(const struct online *online, const struct latency_counts *latencies);

/* The setting for the kind of load that goes on, without any trial. */
struct online_setting online_running(const struct online *online);

/* Nothing is tried any more, and what runs stays. */
void online_freeze(struct online *online);
void online_thaw(struct online *online);
/* This setting runs, whatever the load; NULL: no longer. */
void online_pin(struct online *online, const struct online_setting *setting);
/* All that was learnt. */
void online_forget(struct online *online);

/* What an earlier session has found for a kind. It runs at once, and is compared with the first setting soon.
 */
void online_remember(struct online *online, unsigned kind, const struct online_setting *best, double gain);
