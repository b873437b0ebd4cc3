/* models/engine/engine: decides which point to run next, and which one is the answer (ask and tell).
 *
 * It only calculates: the caller makes the runs, and says with each call how many seconds have passed since
 * the search began. Points of the space have indices 0 .. space->n_points - 1; points outside it that are
 * measured too (what is in force now) follow, and are never chosen. The response is "higher is better" and
 * additive in its errors, as in models/search/belief.
 *
 * The way: what is to be compared with, what is known from elsewhere, exploration (models/search/search), the
 * race, the choice, interleaved replays of it, the verdict. engine_ask hands out one run after the other, and
 * stops between these parts, so that the caller can add runs of its own. */
#pragma once

#include "models/search/belief.h"
#include "models/search/search.h"
#include "models/statistics/compare.h"
#include "models/statistics/student.h"
#include "models/surrogate/space.h"

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_NONE                SIZE_MAX
#define ENGINE_CONFIRMING_LEAST    5   /* replays after the choice */
#define ENGINE_LIKELY              0.5 /* a point rather keeps the limits than not */
#define ENGINE_MIN_REPLAYS         3   /* before a point can be called best or equivalent */
#define ENGINE_GRID_REPLAYS        3   /* of every point, where every point is asked for */
#define ENGINE_COUNTERPART_REPLAYS 4   /* of the run beside those after the choice */
#define ENGINE_MAX_WATCHED         3
#define ENGINE_MAX_LISTED          16 /* points that one list of rivals holds */
#define ENGINE_MAX_JUDGED          20 /* points among the replays after the choice */
#define ENGINE_MAX_QUEUED          256

enum engine_stop {
    ENGINE_STOP_NOT_YET,
    ENGINE_STOP_SEPARATED, /* the evidence settles it */
    ENGINE_STOP_BUDGET,
    ENGINE_STOP_PLAN_DONE, /* the search and its replays ended before the budget */
    /* Set by the caller: */
    ENGINE_STOP_WRITES, /* what may be written is used up */
    ENGINE_STOP_SPACE,
    ENGINE_STOP_STALLED, /* a run was not over when the time was */
    ENGINE_STOP_INTERRUPTED
};

/* How a search judges; see tuner/search/tune.h for that of a usual search and of a night. */
struct engine_policy {
    double final_share;   /* of the budget, kept for the replays after the choice as far as they need it */
    double split_share;   /* of the budget, kept for the caller's own runs before the choice */
    size_t most_replays;  /* after the choice, of each point, at least ENGINE_CONFIRMING_LEAST; 0: as many as
                             the scatter asks for */
    size_t n_contenders;  /* with weighs_chances: points beside the baselines after the choice, at least */
    size_t sentinel_runs; /* of each point that shows what has changed since the prior knowledge was measured;
                             0: what is known is believed as far as it predicts */
    bool weighs_chances;  /* the race and the replays go on with what may not be written off yet */
    bool baseline_first;  /* among what is replayed after the choice; else what was chosen */
    bool costs_alike;     /* all points are expected to cost the same after the choice */
    bool has_runner_up;   /* replayed too where nothing else is to be compared with the baseline */
    bool races_on;        /* into the time that the replays after the choice do not need */
    bool races_again;     /* where these unsettle what was settled */
    bool chooses_again;   /* where these disprove the choice; the new one gets replays of its own */
};

/* What is known of a point besides what the belief holds. */
struct engine_point {
    /* Set by the caller. */
    double in_flight_bytes;                       /* the price: less is cheaper */
    double least_bytes;                           /* that a run moves at least */
    double most_bps;                              /* that a known limit lets it last at; 0: none does */
    double simplicity;                            /* lower is simpler; decides between equals */
    double wait_seconds, confirming_wait_seconds; /* a run takes longer by so much, before and after the
                                                     choice */
    double write_bytes;                           /* of a run, out of engine->writes_left_bytes */
    bool distrusted;                              /* something speaks against recommending it */
    bool failed;                                  /* a run failed: it is out */
    /* Told. */
    size_t n_runs;
    bool is_cut;                   /* its only run was ended early */
    struct moments confirming;     /* responses of the runs after the choice */
    double last_bps, last_seconds; /* of the last run; 0 before */
    struct moments response;       /* of points outside the space, which the belief does not know */
    struct moments latency;        /* logarithms of the runs' mean latencies */
    struct {
        double n_timed, n_over, over_squares; /* see engine_limit */
    } limit;
};

/* What one run showed. */
struct engine_result {
    double response;              /* NaN: the run does not support one, and its point is left out */
    double bps;                   /* bytes per second */
    double latency_ns;            /* mean; NaN: unknown */
    double p99_ns;                /* NaN: too few requests */
    double seconds;               /* that counted */
    double at_seconds;            /* of the search, when the run was over; 0: unknown */
    double n_timed, n_over_limit; /* requests timed, and those that took longer than limit_ns */
    bool cut; /* it was ended early, as hopeless: it stands for its point only until a whole run is told */
};

struct engine_run {
    size_t point;
    bool confirming; /* it is made after the choice */
};

/* Points to be run, in order. */
struct engine_queue {
    size_t points[ENGINE_MAX_QUEUED], n, next;
    size_t n_handed;  /* out, and not refused */
    size_t n_refused; /* by the caller */
    bool confirming;
    double deadline_seconds;
};

enum engine_phase {
    ENGINE_BEFORE, /* the caller's own first runs */
    ENGINE_FIRST,
    ENGINE_KNOWN,
    ENGINE_SENTINELS,
    ENGINE_EXPLORE,
    ENGINE_RACE,
    ENGINE_CHOICE,
    ENGINE_PLAN,
    ENGINE_CONFIRM,
    ENGINE_WEIGH,
    ENGINE_VERDICT,
    ENGINE_END
};

/* What engine_ask returns where it is no negative errno. */
enum engine_asked {
    ENGINE_DONE,
    ENGINE_RUN,
    ENGINE_TURN /* engine->phase begins: ENGINE_RACE, _CHOICE, _PLAN, _WEIGH or _VERDICT */
};

struct engine {
    /* Set by the caller before engine_init. */
    const struct space *space; /* borrowed */
    const struct search_ops *search;
    struct engine_policy policy;
    double margin;    /* within which points are as good, on the response's scale; > 0 */
    double tolerance; /* of the claim, on that scale */
    double confidence_share;
    double budget_seconds;   /* all of it */
    double end_seconds;      /* when it is over */
    double grace_seconds;    /* the first replays after the choice may pass the end by so much */
    double run_seconds;      /* guess of what a run costs */
    double duration_seconds; /* of each run; may change */
    double design_share;     /* how much of a first design is needed, (0, 1] */
    bool prefers_fastest;
    double growth;    /* share by which a block makes the runs more, about; 0: by no more than decides best */
    bool is_of_rates; /* the response is the logarithm of bytes per second */
    double limit_ns;  /* a hundredth of the requests may take longer; 0: there is no limit */
    bool has_counterpart;  /* time for a run beside those after the choice is kept */
    size_t n_outside_most; /* points outside the space */

    /* Set by the caller before the first ask, or whenever they change. */
    struct engine_point *points;      /* owned; space->n_points + n_outside_most, zeroed by engine_init */
    size_t baseline, default_setting; /* ENGINE_NONE: there is none */
    size_t watched[ENGINE_MAX_WATCHED], n_watched; /* measured whatever is found, also after the choice */
    double writes_left_bytes; /* for the replays after the choice; INFINITY: they cost nothing */
    enum engine_stop stop;
    size_t counterpart; /* run ENGINE_COUNTERPART_REPLAYS times beside the replays after the choice */
    /* Borrowed, by point of the space: probability that it keeps other limits, of which only the caller
     * knows; NULL, also at engine_init: there are none. */
    const double *kept;

    /* What the engine knows and decides; to be read. */
    struct belief belief;
    void *search_state;
    gsl_rng *rng;
    double around_seconds; /* of a run, outside the span that is measured */
    double *seconds;       /* by point of the space: what a run is expected to take */
    enum engine_phase phase;
    struct engine_queue queue;
    double explore_end_seconds, search_end_seconds;
    size_t n_handed;            /* runs, of all queues */
    size_t n_rounds, n_looks;   /* of exploration; at the race's evidence */
    bool was_design, has_raced; /* the queue is of a first design; of the race */
    bool beyond_plan;           /* the race used time behind search_end_seconds */
    size_t n_aged;              /* how often runs after a choice became ordinary ones, for another choice */
    bool is_again;              /* the choice is one made again after its replays */
    size_t n_proofs;            /* rounds of runs before the choice that were to show who keeps the limits */
    bool has_tried_unmeasured;  /* a point without a run, before the choice */
    struct moments tails;       /* logarithms of p99 by mean latency, of the runs that have both */
    double *feasible;           /* by point of the space: probability that it keeps the limit; NULL: all do */
    struct {
        size_t points[ENGINE_MAX_JUDGED], n; /* the most wanted first; the caller may add to it */
        size_t seldom, replay, replays;
        double deadline_seconds;
        enum engine_stop stop; /* of the race */
        size_t unpaid;         /* a point wanted, for which bytes are too few; or ENGINE_NONE */
    } confirm;

    enum verdict *verdicts; /* by point of the space */
    size_t best, chosen;    /* ENGINE_NONE: nothing can be chosen */
    bool chosen_at_ceiling; /* chosen as the cheapest of those that seem to reach the known ceiling */
    size_t surpassed;       /* in whose place the chosen one was taken at the end; ENGINE_NONE */
    bool keeps_choice;      /* set by the caller: no such place is taken */
    double probability;     /* that nothing is better than the chosen point by more than the tolerance */
    double shortfall; /* what is lost at most, on the response's scale, with the confidence; NaN: unknown */
    double
        expected_shortfall; /* by what is believed of the best and the chosen point; 0 where both are one */
    struct {
        size_t *points;
        struct contender *contenders;
        enum verdict *verdicts;
    } scratch;      /* of engine_choose, which so never lacks memory; owned, by point of the space */
    bool is_proved; /* within the margin of the best by its own replays, not on average */
    bool conclusive;
};

/* seed: of all that is drawn. 0, -ENOMEM. engine_done takes a zeroed engine. */
int engine_init(struct engine *engine, double now_seconds, uint64_t seed);
void engine_done(struct engine *engine);

/* The next run, a turn, or the end. -ENOMEM, or what a model's fit returns. */
int engine_ask(struct engine *engine, double now_seconds, struct engine_run *ret_run);

/* --- the caller's own runs: before the first ask and where engine_ask returned ENGINE_TURN --- */

/* Replaces the queue by these points in random order; at most ENGINE_MAX_QUEUED. An index may repeat. */
void engine_queue(struct engine *engine, const size_t *points, size_t n, bool confirming,
                  double deadline_seconds);

/* The next run of the queue that fits its deadline; false: there is none. */
bool engine_next(struct engine *engine, double now_seconds, struct engine_run *ret_run);

/* --- after a run; exactly one of these --- */

/* 0, -ENOMEM. Of a point outside the space the belief is told nothing. */
int engine_tell(struct engine *engine, const struct engine_run *run, const struct engine_result *result);
/* A run of the point failed: it is never asked for again. */
void engine_fail(struct engine *engine, size_t point);
/* The run was not made, because it might write more than is left. */
void engine_refuse(struct engine *engine);

/* What the run cost in all, and of that the seconds that it spent before and in the span that counts. */
void engine_tell_cost(struct engine *engine, size_t point, double seconds, double warmup_seconds,
                      double span_seconds, double bps);

/* As if the point had never been run. */
void engine_forget(struct engine *engine, size_t point);

/* Sets engine->seconds from all that is known, also for the belief. */
void engine_expect_costs(struct engine *engine);

/* Whether n_runs more runs of average cost end before the deadline. */
bool engine_has_time(const struct engine *engine, double now_seconds, double deadline_seconds, size_t n_runs);

/* Bytes per second of a point of the space, by its last run or else by the surrogate; infinite where nothing
 * is known. And the highest of all last runs; 0 before the first. */
double engine_expected_bps(const struct engine *engine, size_t point);
double engine_fastest_bps(const struct engine *engine);

/* Points without a run that prior knowledge says are the best or nearly so, a few of each source; at most
 * `room`. */
size_t engine_known_points(const struct engine *engine, size_t *ret_points, size_t room);

/* Response below which a first run of the point may be cut short: it lies so far below the best so far that a
 * point as good as that would not fall there by chance. -INFINITY: no run is cut. */
double engine_hopeless(const struct engine *engine, const struct engine_run *run);

/* --- what is known of a point --- */

/* Whether there is a limit on latency, or another one of the caller's. */
bool engine_is_limited(const struct engine *engine);

/* Probability that no more than a hundredth of its requests take longer than the limit, and that it keeps the
 * caller's own; 1 without a limit. */
double engine_feasible(const struct engine *engine, size_t point);

/* Whether its runs prove that with the confidence asked for; or speak against it. */
bool engine_keeps_limit(const struct engine *engine, size_t point);
bool engine_misses_limit(const struct engine *engine, size_t point);

/* It was measured, did not fail, is trusted, and keeps the limit on latency. */
bool engine_is_eligible(const struct engine *engine, size_t point);

/* Whether a point that was chosen may stay so: no run of it failed, it is trusted, and does not miss a limit.
 */
bool engine_can_be_chosen(const struct engine *engine, size_t point);

/* What a measured point is worth when the best is looked for; on the response's scale. */
double engine_worth(const struct engine *engine, size_t point);

/* Compares bytes in flight, then mean latency (equal within the margin, or where it is unknown), then
 * simplicity. */
bool engine_is_cheaper(const struct engine *engine, size_t a, size_t b);

/* Puts a point into the list of n points unless it is ENGINE_NONE or stands there already; the new number. */
size_t engine_list_once(size_t *points, size_t n, size_t point);

/* Puts a point into a list of at most `room` (>= 1) points that stands in descending order of their bounds;
 * the lowest makes place where it is full. The new number. */
size_t engine_list_highest(size_t *points, double *bounds, size_t n, size_t room, size_t point, double bound);

/* E[max(0, x)] of a normal x. */
double engine_expected_shortfall(double mean, double variance);

/* --- the decision; also by itself --- */

/* Sets verdicts, best and chosen from all that was told. */
void engine_choose(struct engine *engine);

/* What would be lost at most after `times` the time: the part of the shortfall that is not expected shrinks
 * as standard errors do. On the response's scale; NaN: unknown. */
double engine_shortfall_after(const struct engine *engine, double times);

/* How many times the time may make the answer conclusive, at least 1; INFINITY: more time hardly would, NaN:
 * unknown. */
double engine_times_to_settle(const struct engine *engine);

/* Makes a measured point the answer in place of the chosen one, for reasons of the caller's. probability and
 * shortfall are NaN, and conclusive false, where the point is outside the space. 0 or -ENOMEM. */
int engine_adopt(struct engine *engine, size_t point);

/* Adds a point to those that get replays after the choice, once; ENGINE_NONE is passed over. */
void engine_accompany(struct engine *engine, size_t point);
