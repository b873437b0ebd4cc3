/* tuner/search/tune: the search for one setting. models/engine decides what to run and what the answer is;
 * here its runs are made, and what they show is told to it (interfaces, section 6).
 *
 * Points of the space have indices 0 .. space.n_points - 1; the baselines, where they lie outside it, follow.
 */
#pragma once

#include "models/engine/effects.h"
#include "models/engine/engine.h"
#include "models/surrogate/space.h"
#include "tuner/search/objective.h"
#include "tuner/search/profiles.h"
#include "tuner/search/tune_length.h"
#include "tuner/search/tune_writes.h"
#include "tuner/session/candidates.h"
#include "tuner/session/samples.h"
#include "tuner/session/session.h"
#include "tuner/session/sustained.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TUNE_FINAL_SHARE   0.2 /* of the budget is kept for the replays after the choice */
#define TUNE_SPLIT_SHARE   0.1 /* of the budget for the best point of one size, with split sizes */
#define TUNE_SENTINEL_RUNS 2
#define TUNE_MOST_OUTSIDE                                                                                    \
    (3 + ENGINE_MAX_WATCHED) /* points outside the space, the counterpart among them                         \
                              */

extern const char *const tune_stop_text[]; /* by enum engine_stop */

/* What a search is for, set by its caller: tune_policy_usual, or that of a night, which judges the current
 * settings (tuner/nightly/retune_measure). */
struct tune_policy {
    struct engine_policy judges;
    struct point watched[ENGINE_MAX_WATCHED]; /* measured whatever the search finds, also after the choice */
    size_t n_watched;
    bool limits_writes;   /* bytes may be what the search spends, see tuner/search/tune_writes */
    bool takes_start_off; /* see tuner/search/tune_transient */
    bool has_pilot;       /* see tuner/search/tune_length */
    bool has_counterpart; /* the sequential one is measured beside the replays after the choice */
};

extern const struct tune_policy tune_policy_usual;

struct tune;

/* Who looks on while runs are made: NULL, or a function that returns soon. */
struct tune_observer {
    void (*run_begins)(struct tune *tune, size_t point, bool confirming);
};

struct tune {
    const struct tune_observer *observer; /* borrowed; NULL: nobody looks on */
    struct session *session;
    const struct settings *settings;
    struct candidates candidates;
    struct space space;
    struct engine engine;
    struct effects effects; /* the cost to neighbours, where it has a limit; else zeroed */

    struct record *records; /* by point; n_records >= space.n_points, and place for the counterpart */
    size_t n_records;
    struct sustained sustained; /* all runs, in order */
    struct histogram *latency;  /* of the run that is made */
    bool baseline_is_default;   /* the baseline (--current, else the default) is the default */
    struct tune_policy policy;
    struct pattern sequential; /* the sequential counterpart of a random pattern */

    uint64_t duration_ns; /* of every run that is kept */
    struct tune_length length;
    bool writes_are_scarce;     /* bytes are what a night spends, see tuner/search/tune_writes */
    uint64_t search_from_bytes; /* written before the search */
    size_t n_cut;               /* runs that ended early because they were hopeless */
    size_t n_aged;              /* as the engine's, of the records */
    double reference_log_bps;   /* of the highest rate known, for the floor of low-latency */
    size_t n_standing;          /* notes of session->dropped that stood there before the first run */
    size_t n_unsupported;       /* points left out because their runs do not support the objective */

    size_t split, unsplit;             /* best with two sizes, best with one; ENGINE_NONE: there is none */
    struct objective_ratio split_gain; /* of the former over the latter, where both have replays enough */
    struct profiles profiles;
    struct err failure; /* of the last failed run */
};

/* Refuses before a byte is written: a latency objective over several sizes, --current that cannot be
 * measured, a grid longer than the budget. 0 or -EINVAL. */
int tune_check(struct session *session, const struct candidates *candidates, uint64_t file_bytes,
               struct err *err);

/* The point that --current names. */
struct point tune_current_point(const struct settings *settings);

/* Builds space and engine over a prepared session. tune_done accepts a zeroed tune. */
int tune_init(struct tune *tune, struct session *session, struct err *err);

/* Everything up to the verdict. 0, also when interrupted or out of budget; negative errno only when the
 * command cannot go on. */
int tune_run(struct tune *tune, struct err *err);

void tune_done(struct tune *tune);

/* Index of a point among the records; ENGINE_NONE where it is not among them. */
size_t tune_find_point(const struct tune *tune, const struct point *point);

/* --- the answer --- */

/* What is lost at most against the best of the whole space, with the confidence asked for; NaN: not known. */
double tune_shortfall_share(const struct tune *tune);

/* With --max-latency-p99: of the trusted points, the lowest mean of p99 over their replays; NaN: unknown. */
double tune_lowest_p99_ns(const struct tune *tune);

/* What speaks against recommending a point, from its replays so far and from file and machine: warnings that
 * disqualify it and are not accepted. */
uint64_t tune_distrust(const struct tune *tune, size_t point);

/* The figures of a point, with what disqualifies it. As row_of. */
int tune_row(const struct tune *tune, size_t point, bool confirming, struct row *ret_row);

/* Adds one warning for each reason that points are left out for, with the number of these points. */
void tune_note_distrust(struct tune *tune);

/* --- parts, used by tune_run --- */

/* Runs the listed points (an index may repeat) in random order, as far as the deadline allows. 0 or a
 * negative errno that ends the command; engine.stop says when no more runs can be made. */
int tune_measure(struct tune *tune, const size_t *points, size_t n, double deadline_seconds, struct err *err);

/* What a run of the point is to do. */
struct measure_plan tune_plan_of(struct tune *tune, const struct engine_run *run);

/* One run, of which the engine is told. The same. */
int tune_one_run(struct tune *tune, const struct engine_run *run, struct err *err);

/* Copies to the engine what speaks against points. tune_exclude_distrusted: those that something speaks
 * against before they are measured are left out. tune_weigh_trust: a point is left out for good once its
 * replays speak against it. */
void tune_tell_trust(struct tune *tune);
void tune_exclude_distrusted(struct tune *tune);
void tune_weigh_trust(struct tune *tune, size_t point);

/* Whether the sequential counterpart of the chosen point is worth measuring beside the replays after the
 * choice, and time and writes allow it; then it is the engine's counterpart. */
void tune_set_counterpart(struct tune *tune);

/* Gives the chosen point a warning when it was faster than its sequential counterpart. */
void tune_weigh_counterpart(struct tune *tune);

/* With split sizes, after the race: when two sizes are ahead, spends at most TUNE_SPLIT_SHARE of the budget
 * on finding the best point of one size. 0 or a negative errno that ends the command. */
int tune_seek_unsplit(struct tune *tune, struct err *err);

/* Sets split and unsplit after the choice: of each kind the cheapest point that is proved to be as good as
 * the best, else the best of its kind. ENGINE_NONE without split sizes, or where nothing of the kind can be
 * chosen. */
void tune_pair_split(struct tune *tune);

/* After the replays: two sizes stay the choice only where they are proved to be faster than one, and the gain
 * is noted. */
void tune_weigh_split(struct tune *tune);

/* True when the response is the log of throughput. */
bool tune_is_of_throughput(const struct tune *tune);

/* Response of a replay; see objective_response. */
double tune_response(const struct tune *tune, const struct sample *sample);

/* Tells the engine of a replay; or leaves the point out where its replays do not support the objective. 0 or
 * -ENOMEM. */
int tune_tell(struct tune *tune, size_t point, const struct sample *sample);

/* Tells the engine anew of all that the records hold. 0 or -ENOMEM. */
int tune_tell_again(struct tune *tune);

/* Drops the point's runs from its record; tune_forget: and from what the engine knows. */
void tune_discard(struct tune *tune, size_t point);
void tune_forget(struct tune *tune, size_t point);

/* Sets what the engine must know of a point: what it costs and how simple it is. */
void tune_set_point(struct tune *tune, size_t point);

/* Time by the session's clock, and since its start; and whether n_runs more average runs end in time. */
uint64_t tune_now_ns(const struct tune *tune);
double tune_now(const struct tune *tune);
bool tune_has_time(const struct tune *tune, double deadline_seconds, size_t n_runs);
