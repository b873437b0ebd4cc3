/* The way of a search: its parts, one after the other, and where the caller has its turn. */
#include "models/engine/engine_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define FALLBACK_STD     0.1  /* of log throughput from run to run, before replays tell */
#define EXPLORE_SHARE    0.65 /* of the time before the confirmation */
#define DESIGN_SHARE     0.5  /* of the time of exploration, for a first design at most */
#define DESIGN_BY_DIM    8.0  /* points of it for each dimension that varies, at most ... */
#define DESIGN_OF_NIGHT  3.0  /* ... and where runs are rather for what is in force and its rivals */
#define FIRST_DESIGN_MIN 4
#define KNOWN_MAX        16
#define PROBES_MAX       48 /* points that show what has changed since the prior knowledge */
#define UNUSED_SHARE     0.25
#define LEAST_RACE_RUNS  12 /* fewer would settle nothing */
#define PROOF_POINTS     4  /* that may keep the limits on effects get a run more before the choice ... */
#define MOST_PROOFS      2  /* ... so many times */

static void plan_time(struct engine *engine, double now_seconds)
{
    double kept = engine->policy.final_share + engine->policy.split_share;
    engine->search_end_seconds = fmax(engine->end_seconds * (1 - kept), now_seconds);
    double share = engine->search == &search_grid ? 1 : EXPLORE_SHARE;
    engine->explore_end_seconds = now_seconds + (engine->search_end_seconds - now_seconds) * share;
}

/* With a few points only, a surrogate is sure of what it never saw, and a second optimum far from the first
 * stays hidden. Ten points a dimension are usual for computer experiments (Loeppky, Sacks and Welch 2009). */
static size_t first_design_size(const struct engine *engine, double now_seconds)
{
    double affordable = (engine->explore_end_seconds - now_seconds) / engine->run_seconds, wanted = 0;
    double by_dim = engine->policy.weighs_chances ? DESIGN_OF_NIGHT : DESIGN_BY_DIM;
    for (size_t dim = 0; dim < engine->space->n_dims; dim++)
        wanted += engine->space->n_levels[dim] > 1 ? by_dim : 0;
    double n = fmin(affordable * DESIGN_SHARE, wanted) * engine->design_share;
    return n < FIRST_DESIGN_MIN ? FIRST_DESIGN_MIN : (size_t)n;
}

static int allocate(struct engine *engine)
{
    size_t n = engine->space->n_points;
    engine->points = calloc(n + engine->n_outside_most, sizeof *engine->points);
    engine->verdicts = calloc(n, sizeof *engine->verdicts);
    engine->seconds = calloc(n, sizeof *engine->seconds);
    engine->scratch.points = calloc(n, sizeof *engine->scratch.points);
    engine->scratch.contenders = calloc(n, sizeof *engine->scratch.contenders);
    engine->scratch.verdicts = calloc(n, sizeof *engine->scratch.verdicts);
    engine->feasible = engine_is_limited(engine) ? calloc(n, sizeof *engine->feasible) : NULL;
    engine->search_state = calloc(1, engine->search->state_size);
    engine->rng = gsl_rng_alloc(gsl_rng_mt19937);
    return engine->points == NULL || engine->verdicts == NULL || engine->seconds == NULL ||
                   (engine_is_limited(engine) && engine->feasible == NULL) || engine->search_state == NULL ||
                   engine->rng == NULL || engine->scratch.points == NULL ||
                   engine->scratch.contenders == NULL || engine->scratch.verdicts == NULL
               ? -ENOMEM
               : 0;
}

int engine_init(struct engine *engine, double now_seconds, uint64_t seed)
{
    engine->best = engine->chosen = engine->surpassed = ENGINE_NONE;
    engine->baseline = engine->default_setting = ENGINE_NONE;
    engine->counterpart = engine->confirm.unpaid = ENGINE_NONE;
    engine->shortfall = NAN;
    engine->writes_left_bytes = INFINITY;
    engine->around_seconds = fmax(0, engine->run_seconds - engine->duration_seconds);
    plan_time(engine, now_seconds);
    int result = allocate(engine);
    if (result == 0) {
        gsl_rng_set(engine->rng, (unsigned long)seed);
        result = belief_init(&engine->belief, engine->space, engine->search->surrogate, FALLBACK_STD);
    }
    /* What a few runs find late can no longer be shown to keep a limit. */
    engine->belief.ignores_lone_peaks = engine_is_limited(engine);
    return result < 0 ? result
                      : engine->search->init(engine->search_state, engine->space,
                                             first_design_size(engine, now_seconds), engine->rng);
}

void engine_done(struct engine *engine)
{
    if (engine->search != NULL && engine->search_state != NULL)
        engine->search->done(engine->search_state);
    free(engine->search_state);
    free(engine->points);
    free(engine->verdicts);
    free(engine->seconds);
    free(engine->feasible);
    free(engine->scratch.points);
    free(engine->scratch.contenders);
    free(engine->scratch.verdicts);
    if (engine->rng != NULL)
        gsl_rng_free(engine->rng);
    belief_done(&engine->belief);
}

static int turn(struct engine *engine, enum engine_phase phase)
{
    engine->phase = phase;
    engine->has_raced = false;
    return ENGINE_TURN;
}

static int go_on(struct engine *engine, enum engine_phase phase)
{
    engine->phase = phase;
    return ENGINE_RUN;
}

/* The runs after a choice become ordinary ones, because another choice is made with them. */
static void age(struct engine *engine)
{
    engine->n_aged++;
    for (size_t i = 0; i < engine->space->n_points + engine->n_outside_most; i++)
        engine->points[i].confirming = (struct moments){0};
}

/* Called when no other choice can be made: a choice that was not run after the first one is given up for the
 * best point of then, which was. */
static void keep_confirmed(struct engine *engine, size_t best)
{
    size_t chosen = engine->chosen;
    if (chosen != ENGINE_NONE && engine->points[chosen].confirming.n < ENGINE_MIN_REPLAYS &&
        engine_is_eligible(engine, best))
        engine->best = engine->chosen = best;
}

/* --- the parts; each returns what engine_ask does, ENGINE_RUN to go on --- */

static int begin(struct engine *engine, double now_seconds)
{
    size_t first[2 + ENGINE_MAX_WATCHED], n = 0;
    (void)now_seconds;
    if (engine->baseline != ENGINE_NONE)
        first[n++] = engine->baseline;
    if (engine->default_setting != ENGINE_NONE)
        first[n++] = engine->default_setting;
    for (size_t i = 0; i < engine->n_watched; i++)
        first[n++] = engine->watched[i];
    engine_queue(engine, first, n, false, engine->end_seconds);
    return go_on(engine, ENGINE_KNOWN);
}

/* Points that knowledge from elsewhere says are worth a first look. */
static int look_at_known(struct engine *engine, double now_seconds)
{
    size_t points[KNOWN_MAX];
    (void)now_seconds;
    engine_queue(engine, points, engine_known_points(engine, points, KNOWN_MAX), false,
                 engine->explore_end_seconds);
    return go_on(engine, ENGINE_SENTINELS);
}

static int look_at_sentinels(struct engine *engine, double now_seconds)
{
    size_t points[PROBES_MAX], runs[ENGINE_MAX_QUEUED], n_runs = 0;
    size_t n = engine->policy.sentinel_runs > 0 ? engine_known_probes(engine, points, PROBES_MAX) : 0;
    (void)now_seconds;
    for (size_t i = 0; i < n * engine->policy.sentinel_runs && n_runs < ENGINE_MAX_QUEUED; i++)
        runs[n_runs++] = points[i % n];
    engine_queue(engine, runs, n_runs, false, engine->explore_end_seconds);
    return go_on(engine, ENGINE_EXPLORE);
}

static int explore(struct engine *engine, double now_seconds)
{
    bool over = false;
    if (engine->n_rounds == 0 && engine->policy.sentinel_runs > 0)
        belief_prior_drop(&engine->belief);
    int result = engine_explore(engine, now_seconds, &over);
    if (result < 0)
        return result;
    return over ? turn(engine, ENGINE_RACE) : ENGINE_RUN;
}

static int race(struct engine *engine, double now_seconds)
{
    bool over = false;
    int result = engine_race(engine, now_seconds, &over);
    if (result < 0)
        return result;
    return over ? turn(engine, ENGINE_CHOICE) : ENGINE_RUN;
}

static int list_or_judge(struct engine *engine, double now_seconds)
{
    if (engine->chosen == ENGINE_NONE)
        return turn(engine, ENGINE_VERDICT);
    engine_confirm_list(engine, now_seconds);
    return turn(engine, ENGINE_PLAN);
}

/* A point that was measured once or twice may be the best that keeps the limits on effects, without having
 * shown it: it gets the chance before the choice. False: there is none. */
static bool prove_limits(struct engine *engine)
{
    size_t points[PROOF_POINTS], n = engine->n_proofs < MOST_PROOFS && engine->stop == ENGINE_STOP_NOT_YET
                                         ? engine_list_unproved(engine, points, PROOF_POINTS)
                                         : 0;
    if (n == 0)
        return false;
    engine->n_proofs++;
    engine_queue(engine, points, n, false, engine_confirm_begin_seconds(engine));
    return true;
}

/* The point without a run that is believed to gain most over the best one, by the second of its run, gets a
 * run before the choice, once: where runs are dear, the surrogate sees further than what was measured. A
 * night looks for what it can prove, or saves its writes. False: there is none. */
static bool try_unmeasured(struct engine *engine)
{
    const struct belief *belief = &engine->belief;
    size_t found = ENGINE_NONE;
    double most = 0;
    if (engine->has_tried_unmeasured || belief->chosen == NULL || engine->best == ENGINE_NONE ||
        engine->stop != ENGINE_STOP_NOT_YET || engine->policy.weighs_chances ||
        isfinite(engine->writes_left_bytes))
        return false;
    for (size_t i = 0; i < engine->space->n_points; i++) {
        double gain = (belief->mean[i] - belief->mean[engine->best]) / engine->seconds[i];
        bool out = belief->moments[i].n > 0 || belief->excluded[i] || engine_is_hopeless(engine, i);
        if (!out && gain > most) {
            most = gain;
            found = i;
        }
    }
    engine->has_tried_unmeasured = true;
    engine_queue(engine, &found, found != ENGINE_NONE ? 1 : 0, false, engine_confirm_begin_seconds(engine));
    return found != ENGINE_NONE;
}

static int choose(struct engine *engine, double now_seconds)
{
    /* Results of other hosts steered the search; the choice uses only what was measured here. */
    belief_prior_drop(&engine->belief);
    int result = belief_update(&engine->belief, true, engine->rng);
    if (result == -ENOMEM)
        return result;
    engine_choose(engine);
    return prove_limits(engine) || try_unmeasured(engine) ? go_on(engine, ENGINE_CHOICE)
                                                          : list_or_judge(engine, now_seconds);
}

static int plan(struct engine *engine, double now_seconds)
{
    engine_confirm_plan(engine, now_seconds);
    return go_on(engine, ENGINE_CONFIRM);
}

static int confirm(struct engine *engine, double now_seconds)
{
    (void)now_seconds;
    return engine_confirm_next(engine) ? ENGINE_RUN : turn(engine, ENGINE_WEIGH);
}

/* Whether the chosen point misses the known ceiling by its replays, and another point seems to reach it. */
static bool fell_from_ceiling(const struct engine *engine, size_t chosen)
{
    return engine->chosen != ENGINE_NONE && engine_seems_at_ceiling(engine, engine->chosen) &&
           !engine_seems_at_ceiling(engine, chosen);
}

/* Whether what would be chosen now is cheaper, and looks no worse. */
static bool is_surpassed(const struct engine *engine, size_t chosen)
{
    return engine->chosen != ENGINE_NONE && engine->chosen != chosen && !engine->prefers_fastest &&
           engine_is_cheaper(engine, engine->chosen, chosen) &&
           engine_worth(engine, engine->chosen) >= engine_worth(engine, chosen);
}

/* When the runs after the choice show that the chosen point is not good enough, the choice is made again,
 * once; at a known ceiling, which one point after the other may miss, as often as there is time. One that is
 * only doubted stays where another cannot be replayed. */
static int weigh(struct engine *engine, double now_seconds)
{
    size_t best = engine->best, chosen = engine->chosen;
    if (belief_update(&engine->belief, true, engine->rng) == -ENOMEM)
        return -ENOMEM;
    engine_choose(engine);
    bool can_confirm = engine_can_confirm(engine, now_seconds);
    bool fell = can_confirm && fell_from_ceiling(engine, chosen);
    bool good = chosen == engine->best || engine_is_good_enough(engine, engine->best, chosen) ||
                (engine->verdicts[chosen] != VERDICT_WORSE && !can_confirm);
    bool can_be = engine_can_be_chosen(engine, chosen);
    bool surpassed = engine->policy.chooses_again && can_confirm && is_surpassed(engine, chosen);
    if (!fell && can_be && (engine->is_again || (good && !surpassed))) {
        engine->best = best;
        engine->chosen = chosen;
        return turn(engine, ENGINE_VERDICT);
    }
    /* A night compares all points that were run after the choice, whichever was chosen. */
    if (!engine->policy.chooses_again || !can_confirm || (engine->is_again && !fell)) {
        keep_confirmed(engine, best);
        return turn(engine, ENGINE_VERDICT);
    }
    age(engine);
    engine->is_again = true;
    return list_or_judge(engine, now_seconds);
}

/* Whether the runs after the choice made a choice doubtful that had been settled. */
static bool is_doubted(const struct engine *engine)
{
    return engine->policy.races_again && engine->stop == ENGINE_STOP_SEPARATED && !engine->conclusive;
}

/* Whether time is left to settle it again. With a limit, points were excluded for good by now, and another
 * race would not bring them back. */
static bool is_worth_another_race(const struct engine *engine, double now_seconds)
{
    return is_doubted(engine) && engine->chosen != ENGINE_NONE && !engine_is_limited(engine) &&
           engine_has_time(engine, now_seconds, engine_race_end_seconds(engine), LEAST_RACE_RUNS);
}

static int judge(struct engine *engine, double now_seconds)
{
    int result = engine_judge(engine);
    if (result < 0)
        return result;
    if (is_worth_another_race(engine, now_seconds)) {
        age(engine);
        engine->is_again = false;
        engine->stop = ENGINE_STOP_NOT_YET;
        return turn(engine, ENGINE_RACE);
    }
    /* So much time may be left that nobody would say it was used up. */
    bool unused = engine->end_seconds - now_seconds > UNUSED_SHARE * engine->budget_seconds;
    if (engine->stop == ENGINE_STOP_NOT_YET || is_doubted(engine))
        engine->stop = unused ? ENGINE_STOP_PLAN_DONE : ENGINE_STOP_BUDGET;
    engine->phase = ENGINE_END;
    return ENGINE_DONE;
}

int engine_ask(struct engine *engine, double now_seconds, struct engine_run *ret_run)
{
    static int (*const parts[])(struct engine * engine, double now_seconds) = {
        [ENGINE_FIRST] = begin,     [ENGINE_KNOWN] = look_at_known, [ENGINE_SENTINELS] = look_at_sentinels,
        [ENGINE_EXPLORE] = explore, [ENGINE_RACE] = race,           [ENGINE_CHOICE] = choose,
        [ENGINE_PLAN] = plan,       [ENGINE_CONFIRM] = confirm,     [ENGINE_WEIGH] = weigh,
        [ENGINE_VERDICT] = judge,
    };
    int result = ENGINE_RUN;
    if (engine->phase == ENGINE_END)
        return ENGINE_DONE;
    if (engine->phase == ENGINE_BEFORE)
        engine->phase = ENGINE_FIRST;
    while (result == ENGINE_RUN) {
        if (engine_next(engine, now_seconds, ret_run))
            return ENGINE_RUN;
        result = parts[engine->phase](engine, now_seconds);
    }
    return result;
}
