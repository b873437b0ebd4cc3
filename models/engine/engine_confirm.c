/* The last part of a search: new runs of the chosen point and of what it is compared with. It looks better
 * than it is in the runs that it was chosen by. */
#include "models/engine/engine_internal.h"

#include <math.h>

#define MAX_REPLAYS 30
/* Most replays of a point where the race went on beyond its plan and still did not settle the choice. */
#define RACED_ON_REPLAYS 15
/* Expected times are multiplied by these: while the race lasts, and when the points to be run are known. */
#define SLACK      1.2
#define LESS_SLACK 1.08
/* A night runs the default in one of so many rounds, unless it is also a point to be judged. */
#define SELDOM       3
#define MOST_OF_KEPT 0.5

static bool is_listed(const struct engine *engine, size_t point)
{
    for (size_t i = 0; i < engine->confirm.n; i++) {
        if (engine->confirm.points[i] == point)
            return true;
    }
    return false;
}

void engine_accompany(struct engine *engine, size_t point)
{
    if (engine->confirm.n < ENGINE_MAX_JUDGED)
        engine->confirm.n = engine_list_once(engine->confirm.points, engine->confirm.n, point);
}

/* Replays that make the interval of the recommendation narrower than half the margin to either side, by the
 * scatter seen in the search (the first stage of Stein 1945). Of a known ceiling, the margin is smaller. */
static double enough(const struct engine *engine)
{
    double df, variance = belief_run_variance(&engine->belief, engine->chosen, &df);
    double t = student_quantile((1 + engine->confidence_share) / 2, df);
    bool at_ceiling = engine_seems_at_ceiling(engine, engine->chosen);
    return variance * pow(2 * t / (at_ceiling ? engine_ceiling_margin(engine) : engine->margin), 2);
}

/* Most rounds of a night leave the default out: its figures are only shown and used for the scatter between
 * nights. */
static bool is_left_out(const struct engine *engine, size_t point, size_t replay)
{
    return point == engine->confirm.seldom && replay >= ENGINE_CONFIRMING_LEAST && replay % SELDOM != 0;
}

static size_t most_replays(const struct engine *engine)
{
    if (engine->policy.most_replays > 0)
        return engine->policy.most_replays;
    return engine->beyond_plan && engine->confirm.stop != ENGINE_STOP_SEPARATED ? RACED_ON_REPLAYS
                                                                                : MAX_REPLAYS;
}

/* Seconds of one run after the choice. The last run of a point also shows a flush inside the measured span,
 * which the expected cost does not hold. All points of a night are assumed to take the average time. */
static double seconds_of(const struct engine *engine, size_t point)
{
    const struct engine_point *of = &engine->points[point];
    if (engine->policy.costs_alike || of->n_runs == 0 || point >= engine->space->n_points)
        return engine->run_seconds + of->confirming_wait_seconds;
    double expected = engine->seconds[point] - of->wait_seconds;
    return fmax(expected, engine->around_seconds + of->last_seconds) + of->confirming_wait_seconds;
}

/* Seconds of one round over the points, by what their runs have cost so far. */
static double block_seconds(const struct engine *engine, const size_t *points, size_t n, size_t replay)
{
    double seconds = 0;
    for (size_t i = 0; i < n; i++)
        seconds += is_left_out(engine, points[i], replay) ? 0 : seconds_of(engine, points[i]);
    return seconds;
}

static double counterpart_seconds(const struct engine *engine)
{
    return engine->run_seconds + engine->points[engine->chosen].confirming_wait_seconds;
}

/* Whether so many replays of each of the first n points can be written. */
static bool writes_allow(const struct engine *engine, size_t n, size_t replays)
{
    double bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += engine->points[engine->confirm.points[i]].write_bytes;
    return !(engine->writes_left_bytes < (double)replays * bytes);
}

/* Keeps those of the points, the most wanted first, that can all be replayed ENGINE_CONFIRMING_LEAST times by
 * what may still be written. */
static void fit_writes(struct engine *engine)
{
    size_t n = 0;
    for (size_t i = 0; i < engine->confirm.n; i++) {
        size_t point = engine->confirm.points[i];
        engine->confirm.points[n] = point;
        if (writes_allow(engine, n + 1, ENGINE_CONFIRMING_LEAST))
            n++;
        else if (engine->confirm.unpaid == ENGINE_NONE)
            engine->confirm.unpaid = point;
    }
    engine->confirm.n = n;
}

/* How many replays of each point are worth making and fit the time that was kept; fixed beforehand, so that
 * results cannot steer it. */
static size_t affordable(const struct engine *engine, double now_seconds)
{
    size_t replays = 0, most = most_replays(engine);
    double wanted = enough(engine), left = engine->confirm.deadline_seconds - now_seconds;
    while (replays < ENGINE_CONFIRMING_LEAST || (replays < most && (double)replays < wanted)) {
        bool beside = engine->counterpart != ENGINE_NONE && replays < ENGINE_COUNTERPART_REPLAYS;
        left -= (block_seconds(engine, engine->confirm.points, engine->confirm.n, replays) +
                 (beside ? counterpart_seconds(engine) : 0)) *
                LESS_SLACK;
        if (replays >= ENGINE_CONFIRMING_LEAST &&
            (left < 0 || !writes_allow(engine, engine->confirm.n, replays + 1)))
            break;
        replays++;
    }
    return replays;
}

/* Whether replays of a point that is not the choice, such as the fastest one, which may have a thousand times
 * as much in flight, would take most of the time that is kept for all. */
static bool is_dear_to_confirm(const struct engine *engine, size_t point)
{
    return point != engine->chosen && ENGINE_CONFIRMING_LEAST * seconds_of(engine, point) >
                                          MOST_OF_KEPT * engine->policy.final_share * engine->budget_seconds;
}

double engine_race_end_seconds(const struct engine *engine)
{
    size_t points[4], n = 0;
    if (!engine->policy.races_on || engine->chosen == ENGINE_NONE)
        return engine->search_end_seconds;
    n = engine_list_once(points, n, engine->chosen);
    if (!is_dear_to_confirm(engine, engine->best))
        n = engine_list_once(points, n, engine->best);
    n = engine_list_once(points, n, engine->baseline);
    n = engine_list_once(points, n, engine->default_setting);
    double block = block_seconds(engine, points, n, 0), beside = 0;
    if (engine->has_counterpart)
        beside = ENGINE_COUNTERPART_REPLAYS * counterpart_seconds(engine);
    double end =
        fmax(engine->end_seconds - (RACED_ON_REPLAYS * block + beside) * SLACK, engine->search_end_seconds);
    double latest = engine->end_seconds + engine->grace_seconds;
    return fmin(end, latest - (ENGINE_CONFIRMING_LEAST * block + beside) * SLACK);
}

/* The best measured point that is neither listed nor, with_chance, sure not to be better than the baseline.
 */
static size_t best_unlisted(const struct engine *engine, bool with_chance)
{
    size_t found = ENGINE_NONE;
    for (size_t i = 0; i < engine->space->n_points; i++) {
        if (!is_listed(engine, i) && i != engine->baseline && engine_is_eligible(engine, i) &&
            (!with_chance || engine_has_chance(engine, i)) &&
            (found == ENGINE_NONE || engine_worth(engine, i) > engine_worth(engine, found)))
            found = i;
    }
    return found;
}

/* After few runs the second best may look like the best, so points that may be as good as the leader are run,
 * too, as many as the night asks for. The first of the list is the baseline. */
static void add_rivals(struct engine *engine)
{
    size_t leader = engine->confirm.n > 1 ? engine->best : ENGINE_NONE;
    while (engine->policy.weighs_chances && engine->confirm.n < 1 + engine->policy.n_contenders) {
        size_t rival = best_unlisted(engine, true);
        if (rival == ENGINE_NONE || (leader != ENGINE_NONE && !engine_may_beat(engine, rival, leader)))
            break;
        leader = leader == ENGINE_NONE ? rival : leader;
        engine_accompany(engine, rival);
    }
}

bool engine_can_confirm(const struct engine *engine, double now_seconds)
{
    size_t chosen = engine->chosen;
    bool stopped = engine->stop >= ENGINE_STOP_WRITES;
    return chosen != ENGINE_NONE && !stopped &&
           now_seconds + ENGINE_CONFIRMING_LEAST * seconds_of(engine, chosen) <= engine->end_seconds &&
           !(ENGINE_CONFIRMING_LEAST * engine->points[chosen].write_bytes > engine->writes_left_bytes);
}

double engine_confirm_begin_seconds(const struct engine *engine)
{
    double least = engine->chosen != ENGINE_NONE ? seconds_of(engine, engine->chosen) : engine->run_seconds;
    return engine->end_seconds - ENGINE_CONFIRMING_LEAST * least;
}

/* The most wanted first, for where not all can be paid for. What a night has to judge comes before what the
 * search found tonight. */
void engine_confirm_list(struct engine *engine, double now_seconds)
{
    engine->confirm.n = 0;
    engine_accompany(engine, engine->policy.baseline_first ? engine->baseline : engine->chosen);
    if (engine->n_watched > 0)
        engine_accompany(engine, engine->watched[0]);
    engine_accompany(engine, engine->chosen);
    if (engine->policy.weighs_chances || !is_dear_to_confirm(engine, engine->best))
        engine_accompany(engine, engine->best);
    engine_accompany(engine, engine->baseline);
    /* With few runs, a better point may look worse than the baseline by chance: the next best is run, too. */
    if (engine->policy.has_runner_up && engine->confirm.n == 1)
        engine_accompany(engine, best_unlisted(engine, false));
    for (size_t i = 1; i < engine->n_watched; i++)
        engine_accompany(engine, engine->watched[i]);
    add_rivals(engine);
    size_t n_judged = engine->confirm.n;
    engine_accompany(engine, engine->default_setting);
    bool seldom = engine->confirm.n > n_judged && engine->policy.weighs_chances;
    engine->confirm.seldom = seldom ? engine->default_setting : ENGINE_NONE;
    /* A night uses all the time that is left for these runs. */
    double kept_end = now_seconds + engine->budget_seconds * engine->policy.final_share;
    engine->confirm.deadline_seconds =
        engine->policy.weighs_chances ? engine->end_seconds : fmin(kept_end, engine->end_seconds);
}

void engine_confirm_plan(struct engine *engine, double now_seconds)
{
    enum engine_stop stop = engine->stop;
    engine->confirm.stop = stop;
    engine->confirm.replay = engine->confirm.replays = 0;
    fit_writes(engine);
    if (stop == ENGINE_STOP_INTERRUPTED || stop == ENGINE_STOP_STALLED)
        return;
    engine->stop = ENGINE_STOP_NOT_YET;
    engine->confirm.replays = affordable(engine, now_seconds);
}

bool engine_confirm_next(struct engine *engine)
{
    size_t block[ENGINE_MAX_JUDGED + 1], n = 0, replay = engine->confirm.replay++;
    if (replay >= engine->confirm.replays || engine->stop != ENGINE_STOP_NOT_YET) {
        if (engine->stop == ENGINE_STOP_NOT_YET)
            engine->stop = engine->confirm.stop;
        return false;
    }
    for (size_t i = 0; i < engine->confirm.n; i++) {
        if (!is_left_out(engine, engine->confirm.points[i], replay))
            block[n++] = engine->confirm.points[i];
    }
    if (engine->counterpart != ENGINE_NONE && replay < ENGINE_COUNTERPART_REPLAYS)
        block[n++] = engine->counterpart;
    /* The budget may be passed by some seconds rather than miss the first replays. */
    double grace = replay < ENGINE_CONFIRMING_LEAST ? engine->grace_seconds : 0;
    engine_queue(engine, block, n, true, engine->end_seconds + grace);
    return true;
}
