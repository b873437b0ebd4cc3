/* tuner/search/tune: the search for one setting: explore, race, choose, confirm (interfaces, section 6).
 *
 * Points of the space have indices 0 .. space.n_points - 1; the baselines, where they lie outside it, follow.
 */
#pragma once

#include "models/search/belief.h"
#include "models/search/search.h"
#include "models/statistics/compare.h"
#include "models/surrogate/space.h"
#include "tuner/search/profiles.h"
#include "tuner/search/tune_length.h"
#include "tuner/search/tune_writes.h"
#include "tuner/session/candidates.h"
#include "tuner/session/samples.h"
#include "tuner/session/session.h"
#include "tuner/session/sustained.h"

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TUNE_NONE                SIZE_MAX
#define TUNE_CONFIRMING_LEAST    5   /* interleaved replays after the choice */
#define TUNE_FINAL_SHARE         0.2 /* of the budget is kept for them, as far as they need it */
#define TUNE_SPLIT_SHARE         0.1 /* of the budget for the best point of one size, with split sizes */
#define TUNE_GRID_REPLAYS        3   /* of every point of --method grid */
#define TUNE_COUNTERPART_REPLAYS 4   /* of the sequential counterpart, beside those after the choice */
#define TUNE_MIN_REPLAYS         3   /* before a point can be called best or equivalent */

enum tune_stop {
    TUNE_STOP_NOT_YET,
    TUNE_STOP_SEPARATED, /* the evidence settles it */
    TUNE_STOP_BUDGET,
    TUNE_STOP_PLAN_DONE, /* the search and its replays ended before the budget */
    TUNE_STOP_WRITES,    /* --max-write */
    TUNE_STOP_SPACE,     /* free space ran low: an error */
    TUNE_STOP_STALLED,   /* a run was not over when the time was */
    TUNE_STOP_INTERRUPTED
};

extern const char *const tune_stop_text[];

#define TUNE_MAX_WATCHED   3
#define TUNE_SENTINEL_RUNS 2

/* What a search is for, set by its caller: tune_policy_usual, or that of a night, which judges the current
 * settings (tuner/nightly/retune_measure). tuner/search/tune_writes changes the search's own copy. */
struct tune_policy {
    struct point watched[TUNE_MAX_WATCHED]; /* measured whatever the search finds, also after the choice */
    size_t n_watched;
    double final_share; /* of the budget, kept for the replays after the choice as far as they need it */
    size_t
        most_replays; /* after the choice, of each point, at least TUNE_CONFIRMING_LEAST; 0: tune_confirm's */
    size_t n_contenders;  /* with weighs_chances: points beside the baselines after the choice, at least */
    size_t sentinel_runs; /* of each point of prior_probes, because what is known from elsewhere may have
                             changed; 0: what is known is believed as far as it predicts */
    bool weighs_chances;  /* the race and the replays go on with what may not be written off yet */
    bool limits_writes;   /* bytes may be what the search spends, see tuner/search/tune_writes */
    bool baseline_first;  /* among what is replayed after the choice; else what was chosen */
    bool costs_alike;     /* all points are expected to cost the same after the choice */
    bool takes_start_off; /* see tuner/search/tune_transient */
    bool has_pilot;       /* see tuner/search/tune_length */
    bool has_counterpart; /* the sequential one is measured beside the replays after the choice */
    bool has_runner_up;   /* replayed too where nothing else is to be compared with the baseline */
    bool races_on;        /* into the time that the replays after the choice do not need */
    bool races_again;     /* where these unsettle what was settled */
    bool chooses_again;   /* where these disprove the choice; the new one gets replays of its own */
};

extern const struct tune_policy tune_policy_usual;

struct tune;

/* Who looks on while runs are made: NULL, or a function that returns soon. */
struct tune_observer {
    void (*run_begins)(struct tune *tune, size_t point, bool confirming);
};

/* When each part of the search has to be over, by tune_now_ns. */
struct tune_time {
    uint64_t explore_end_ns, search_end_ns, end_ns;
};

/* What runs cost, learnt from those that were made (tune_cost). */
struct tune_cost {
    double run_seconds;    /* of a run, on average */
    double around_seconds; /* of that: set-up, warm-up and settling, outside the span that is measured */
    double *point_seconds; /* by point of the space: what a run is expected to take */
};

/* What the race remembers of itself (tune_race). */
struct tune_race_state {
    size_t n_looks;   /* at its evidence, so far */
    bool beyond_plan; /* it used time behind time.search_end_ns */
};

struct tune {
    const struct tune_observer *observer; /* borrowed; NULL: nobody looks on */
    struct session *session;
    const struct settings *settings;
    struct candidates candidates;
    struct space space;
    struct belief belief;
    const struct search_ops *search;
    void *search_state;
    gsl_rng *rng;

    struct record *records; /* by point; n_records >= space.n_points, and place for the counterpart */
    size_t n_records;
    struct sustained sustained; /* all runs, in order */
    size_t baseline;            /* index of the baseline (--current, else the default) */
    size_t default_setting;     /* index of the default where --current is another point, else TUNE_NONE */
    bool baseline_is_default;
    struct tune_policy policy;
    size_t watched[TUNE_MAX_WATCHED]; /* indices of the policy's points that can be measured here */
    size_t n_watched;
    size_t counterpart; /* index, behind the others, of the chosen point with `sequential`; or TUNE_NONE */
    struct pattern sequential; /* the sequential counterpart of a random pattern */

    uint64_t duration_ns; /* of every run that is kept */
    struct tune_length length;
    bool writes_are_scarce;     /* bytes are what a night spends, see tuner/search/tune_writes */
    uint64_t search_from_bytes; /* written before the search */
    size_t unpaid; /* a point wanted among the replays after the choice, for which bytes are too few; or
                      TUNE_NONE */
    size_t n_cut;  /* runs that ended early because they were hopeless */
    double reference_log_bps; /* of the highest rate known, for the floor of low-latency */
    size_t n_standing;        /* notes of session->dropped that stood there before the first run */
    size_t n_unsupported;     /* points left out because their runs do not support the objective */
    double margin; /* of the tolerance, on the response's log scale; > 0, and narrow with --prefer fastest */
    struct tune_time time;
    struct tune_cost cost;
    struct tune_race_state race;

    enum verdict *verdicts; /* by point of the space; set by tune_choose */
    size_t best, chosen;    /* TUNE_NONE before tune_choose, or when nothing can be chosen */
    double
        lowest_p99_ns;  /* with --max-latency-p99: of the points, the mean over their replays; NaN: unknown */
    double probability; /* probability_within_tolerance */
    double shortfall_share; /* what is lost at most against the best of the whole space, with the confidence
                               asked for; NaN: not known */
    bool is_proved; /* the chosen point is within the tolerance of the best by its own replays, not on average
                     */
    bool conclusive;
    size_t split, unsplit;             /* best with two sizes, best with one; TUNE_NONE: there is none */
    struct objective_ratio split_gain; /* of the former over the latter, where both have replays enough */
    enum tune_stop stop;
    struct profiles profiles;
    struct err failure; /* of the last failed run */
};

/* Refuses before a byte is written: a latency objective over several sizes, --current that cannot be
 * measured, a grid longer than the budget. 0 or -EINVAL. */
int tune_check(struct session *session, const struct candidates *candidates, uint64_t file_bytes,
               struct err *err);

/* The point that --current names. */
struct point tune_current_point(const struct settings *settings);

/* Builds space, belief and search over a prepared session. tune_done accepts a zeroed tune. */
int tune_init(struct tune *tune, struct session *session, struct err *err);

/* Everything up to the verdict. 0, also when interrupted or out of budget; negative errno only when the
 * command cannot go on. */
int tune_run(struct tune *tune, struct err *err);

void tune_done(struct tune *tune);

/* Index of a point among the records; TUNE_NONE where it is not among them. */
size_t tune_find_point(const struct tune *tune, const struct point *point);

/* --- parts, used by tune_run --- */

/* Runs the listed points (an index may repeat) in random order, as far as `deadline_ns` allows. confirming:
 * they count as made after the choice. 0 or a negative errno that ends the command; tune->stop says when no
 * more runs can be made. */
int tune_measure(struct tune *tune, size_t *points, size_t n, bool confirming, uint64_t deadline_ns,
                 struct err *err);

/* What a finished run teaches about the cost of runs. */
void tune_learn_cost(struct tune *tune, size_t point, double seconds, const struct measure_result *measured);

/* Sets cost.point_seconds from all that is known, also for the belief. */
void tune_expect_costs(struct tune *tune);

/* Bytes per second of a point of the space, by its last run or else by the surrogate; infinite where nothing
 * is known. */
double tune_expected_bps(const struct tune *tune, size_t point);

/* The highest rate measured so far; 0 before the first run. */
double tune_fastest_bps(const struct tune *tune);

/* Whether a point that was never measured would take so long, even if it were much faster than all others,
 * that a first design goes without it: the search asks for it once it may be worth that. */
bool tune_is_dear(const struct tune *tune, size_t point);

/* Measures the baselines, then what the search asks for, until its time is over. */
int tune_explore(struct tune *tune, struct err *err);

/* Spends the time that is left on the points that could still be the best or the cheapest eligible. A night
 * shares it between them and the points that may still be better than the baseline, until there are none. */
int tune_race(struct tune *tune, struct err *err);

/* Whether the baseline was measured. Before that, nobody can say whether a point may be better than it. */
bool tune_not_ruled_out_known(const struct tune *tune);

/* Whether the upper bound of a point's response lies above the baseline by more than the margin. The bound
 * comes from the point's own runs where it has any, else from the surrogate. */
bool tune_chance(const struct tune *tune, size_t point);

/* Whether the upper bound of a point's response lies above what another, measured point is worth. */
bool tune_not_ruled_out_against(const struct tune *tune, size_t point, size_t other);

/* All points with a chance against the baseline, the highest upper bound first; at most room
 * (1..TUNE_MAX_NOT_RULED_OUT); their number. */
#define TUNE_MAX_NOT_RULED_OUT 8
size_t tune_not_ruled_out_list(const struct tune *tune, size_t *ret_points, size_t room);

/* True when the replays so far speak against --max-latency-p99 (false without that option or replays). */
bool tune_misses_p99(const struct tune *tune, size_t point);

/* Whether the replays of a point have requests enough for a p99; false without replays. */
bool tune_knows_p99(const struct tune *tune, size_t point);

/* What speaks against recommending a point, from its replays so far and from file and machine: warnings that
 * disqualify it and are not accepted. */
uint64_t tune_distrust(const struct tune *tune, size_t point);

/* Leaves out all points that something speaks against before they are measured. */
void tune_exclude_distrusted(struct tune *tune);

/* Leaves the point out for good once its replays speak against it. */
void tune_weigh_trust(struct tune *tune, size_t point);

/* The figures of a point, with what disqualifies it. As row_of. */
int tune_row(const struct tune *tune, size_t point, bool confirming, struct row *ret_row);

/* Adds one warning for each reason that points are left out for, with the number of these points. */
void tune_note_distrust(struct tune *tune);

/* Sets verdicts, best and chosen from all replays so far. */
void tune_choose(struct tune *tune);

/* Whether the sequential counterpart of the chosen point is worth measuring, and time and writes allow it
 * beside n_points others; then tune->counterpart is its index. */
bool tune_has_counterpart(struct tune *tune, size_t n_points, uint64_t deadline_ns);

/* Gives the chosen point a warning when it was faster than its sequential counterpart. */
void tune_weigh_counterpart(struct tune *tune);

/* True when the point was measured, did not fail, is trusted and is within the bound on latency. */
bool tune_is_eligible(struct tune *tune, size_t point);

/* What a measured point is worth when the best is looked for; on the response's log scale. */
double tune_worth(const struct tune *tune, size_t point);

/* Compares bytes in flight, then mean latency (equal within the tolerance), then the APIs' simplicity. */
bool tune_is_cheaper(const struct tune *tune, size_t a, size_t b);

/* With split sizes, after the race: when two sizes are ahead, spends at most TUNE_SPLIT_SHARE of the budget
 * on finding the best point of one size. 0 or a negative errno that ends the command. */
int tune_seek_unsplit(struct tune *tune, struct err *err);

/* Sets split and unsplit after tune_choose: of each kind the cheapest point that is proved to be as good as
 * the best, else the best of its kind. TUNE_NONE without split sizes, or where nothing of the kind can be
 * chosen. */
void tune_pair_split(struct tune *tune);

/* After the replays: two sizes stay the choice only where they are proved to be faster than one, and the gain
 * is noted. */
void tune_weigh_split(struct tune *tune);

/* E[max(0, x)] of a normal x. */
double tune_expected_shortfall(double mean, double variance);

/* Points with less in flight than the chosen one that may do instead and have too few runs to tell, the
 * cheapest first; at most room (1..TUNE_MAX_NOT_RULED_OUT); their number. After tune_choose. */
size_t tune_list_cheaper(const struct tune *tune, size_t *ret_points, size_t room);

/* Makes the interleaved replays after the choice. */
int tune_confirm(struct tune *tune, struct err *err);

/* Until when a race that knows a best point may go on: while the time left still holds the replays of that
 * point and of what it is compared with, and at least as long as planned. A search that has to judge more
 * (nights, profiles, two sizes), or whose race begins late, keeps to the plan. */
uint64_t tune_race_end_ns(const struct tune *tune);

/* Sets probability from everything known. */
int tune_judge(struct tune *tune);

/* After tune_run: makes a measured point the answer in place of the chosen one, for reasons of the caller's.
 * probability is NaN, and conclusive false, where the point is outside the space. 0 or -ENOMEM. */
int tune_adopt(struct tune *tune, size_t point);

/* True when the response is the log of throughput. */
bool tune_is_of_throughput(const struct tune *tune);

/* Response of a replay; see objective_response. */
double tune_response(const struct tune *tune, const struct sample *sample);

/* Tells the belief of a replay of a point of the space; or leaves the point out where its replays do not
 * support the objective. */
int tune_tell(struct tune *tune, size_t point, const struct sample *sample);

/* Lists at most `most` points that were hardly measured and may be isolated fast ones, the most likely by the
 * second of a run first. Lists none where the choice is uncertain mostly because of other points, or where a
 * few runs would settle too little. 0 or -ENOMEM. */
int tune_list_lone_peaks(struct tune *tune, size_t most, size_t *ret_points, size_t *ret_n);

/* Tells the belief anew of all that the records hold. 0 or -ENOMEM. */
int tune_tell_again(struct tune *tune);

uint64_t tune_now_ns(const struct tune *tune);

/* Puts a point into the list of n points unless it is TUNE_NONE or stands there already; the new number. */
size_t tune_list_once(size_t *points, size_t n, size_t point);

/* Puts a point into a list of at most `room` (>= 1) points that stands in descending order of their bounds;
 * the lowest makes place where it is full. The new number. */
size_t tune_list_highest(size_t *points, double *bounds, size_t n, size_t room, size_t point, double bound);

/* True when n_runs more runs of average cost end before the deadline. */
bool tune_has_time(const struct tune *tune, uint64_t deadline_ns, size_t n_runs);
