/* From replays to an answer: best, equivalents, the cheapest of them, and how sure that is. */
#include "models/engine/engine_internal.h"

#include <errno.h>
#include <math.h>

#define JUDGE_DRAWS 2048
#define CAUTIOUS_SD 1.645
/* How much more may be in flight for an answer that is proved. */
#define SURE_TIMES 4

bool engine_is_eligible(const struct engine *engine, size_t point)
{
    return engine->belief.moments[point].n > 0 && !engine->belief.excluded[point] &&
           !engine->points[point].distrusted && engine_keeps_limit(engine, point);
}

bool engine_can_be_chosen(const struct engine *engine, size_t point)
{
    return !engine->points[point].failed && !engine->points[point].distrusted &&
           !engine_misses_limit(engine, point);
}

/* The posterior mean (the sample mean without a surrogate), or with fewer than ENGINE_MIN_REPLAYS its lower
 * bound, so that one lucky run does not win but a far better point does. */
double engine_worth(const struct engine *engine, size_t point)
{
    const struct belief *belief = &engine->belief;
    double df, variance = belief_run_variance(belief, point, &df) / (double)belief->moments[point].n;
    double mean = belief->moments[point].mean;
    if (belief->chosen != NULL) {
        mean = belief->mean[point];
        variance = belief->variance[point];
    }
    return belief->moments[point].n >= ENGINE_MIN_REPLAYS ? mean : mean - CAUTIOUS_SD * sqrt(variance);
}

bool engine_is_cheaper(const struct engine *engine, size_t a, size_t b)
{
    const struct engine_point *pa = &engine->points[a], *pb = &engine->points[b];
    if (pa->in_flight_bytes != pb->in_flight_bytes)
        return pa->in_flight_bytes < pb->in_flight_bytes;
    bool known = pa->latency.n > 0 && pb->latency.n > 0;
    double log_ratio = known ? pa->latency.mean - pb->latency.mean : 0;
    if (fabs(log_ratio) > engine->margin || pa->simplicity == pb->simplicity)
        return log_ratio < 0;
    return pa->simplicity < pb->simplicity;
}

/* The points that may be chosen, and which of them is the best: its place, or ENGINE_NONE. */
static size_t list_eligible(const struct engine *engine, size_t *ret_points, size_t *ret_n)
{
    size_t best = ENGINE_NONE, n = 0;
    double highest = -INFINITY;
    for (size_t i = 0; i < engine->space->n_points; i++) {
        if (!engine_is_eligible(engine, i))
            continue;
        double worth = engine_worth(engine, i);
        if (worth > highest) {
            highest = worth;
            best = n;
        }
        ret_points[n++] = i;
    }
    *ret_n = n;
    return best;
}

static void set_verdicts(struct engine *engine, const size_t *points, size_t n, size_t best)
{
    struct contender *contenders = engine->scratch.contenders;
    for (size_t i = 0; i < engine->space->n_points; i++)
        engine->verdicts[i] = VERDICT_WORSE;
    for (size_t i = 0; i < n; i++) {
        contenders[i].moments = engine->belief.moments[points[i]];
        contenders[i].run_variance = belief_run_variance(&engine->belief, points[i], &contenders[i].run_df);
    }
    compare_all(contenders, n, best, engine->margin, engine->confidence_share, ENGINE_MIN_REPLAYS,
                engine->scratch.verdicts);
    for (size_t i = 0; i < n; i++)
        engine->verdicts[points[i]] = engine->scratch.verdicts[i];
}

/* What is lost on average by taking the point instead of the best-looking one, as a difference of logs, by
 * what their replays tell. */
static double expected_shortfall(const struct engine *engine, size_t best, size_t point)
{
    const struct moments *of_best = &engine->belief.moments[best], *own = &engine->belief.moments[point];
    double df, variance = belief_run_variance(&engine->belief, best, &df) / (double)of_best->n +
                          belief_run_variance(&engine->belief, point, &df) / (double)own->n;
    return engine_expected_shortfall(of_best->mean - own->mean, variance);
}

/* The same of a point with too few replays, by what the surrogate makes of them: one lucky run does not tell.
 */
static double believed_shortfall(const struct engine *engine, size_t best, size_t point)
{
    const struct belief *belief = &engine->belief;
    return engine_expected_shortfall(belief->mean[best] - belief->mean[point],
                                     belief->variance[best] + belief->variance[point]);
}

static bool is_proved(const struct engine *engine, size_t best, size_t point)
{
    return point == best || engine->verdicts[point] == VERDICT_EQUIVALENT;
}

/* Under noise, waiting for the proof would leave the choice to whatever looked best. */
bool engine_is_good_enough(const struct engine *engine, size_t best, size_t point)
{
    if (is_proved(engine, best, point) || engine_is_at_ceiling(engine, point))
        return true;
    if (engine->verdicts[point] != VERDICT_UNDECIDED)
        return false;
    if (engine->points[point].n_runs >= ENGINE_MIN_REPLAYS)
        return expected_shortfall(engine, best, point) <= engine->margin;
    return engine->belief.chosen != NULL && believed_shortfall(engine, best, point) <= engine->margin;
}

/* Whether its replays and the surrogate both say so, which also knows what its neighbours showed. */
static bool is_agreed(const struct engine *engine, size_t best, size_t point)
{
    return engine_is_good_enough(engine, best, point) &&
           (engine->belief.chosen == NULL || believed_shortfall(engine, best, point) <= engine->margin);
}

/* Nothing is better than these. */
static bool is_at_ceiling(const struct engine *engine, size_t best, size_t point)
{
    (void)best;
    return engine_seems_at_ceiling(engine, point);
}

/* The cheapest of the points that fit and have at most `most_bytes` in flight, or ENGINE_NONE. */
static size_t cheapest(const struct engine *engine, const size_t *points, size_t n, size_t best,
                       bool (*fits)(const struct engine *engine, size_t best, size_t point),
                       double most_bytes)
{
    size_t found = ENGINE_NONE;
    for (size_t i = 0; i < n; i++) {
        if (engine->points[points[i]].in_flight_bytes <= most_bytes && fits(engine, best, points[i]) &&
            (found == ENGINE_NONE || engine_is_cheaper(engine, points[i], found)))
            found = points[i];
    }
    return found;
}

/* A cheap point that loses just about the margin can be proved by no number of replays, and of many such
 * points the cheapest one that looks good enough was lucky. Where a little more in flight makes the answer
 * surer, that is worth it. */
static size_t choose_among(const struct engine *engine, const size_t *points, size_t n, size_t best)
{
    size_t reached = cheapest(engine, points, n, best, is_at_ceiling, INFINITY);
    if (reached != ENGINE_NONE)
        return reached;
    size_t expected = cheapest(engine, points, n, best, engine_is_good_enough, INFINITY);
    if (engine->phase == ENGINE_RACE)
        return expected;
    bool (*const surer[])(const struct engine *engine, size_t best, size_t point) = {is_proved, is_agreed};
    double most_bytes = SURE_TIMES * engine->points[expected].in_flight_bytes;
    size_t chosen = ENGINE_NONE;
    for (size_t i = 0; i < sizeof surer / sizeof surer[0] && chosen == ENGINE_NONE; i++)
        chosen = cheapest(engine, points, n, best, surer[i], most_bytes);
    return chosen != ENGINE_NONE ? chosen : expected;
}

void engine_choose(struct engine *engine)
{
    size_t *points = engine->scratch.points, n = 0, best = list_eligible(engine, points, &n);
    engine->best = engine->chosen = ENGINE_NONE;
    engine->chosen_at_ceiling = false;
    if (best != ENGINE_NONE) {
        set_verdicts(engine, points, n, best);
        engine->best = engine->chosen = points[best];
        if (!engine->prefers_fastest) {
            engine->chosen = choose_among(engine, points, n, points[best]);
            engine->chosen_at_ceiling = engine_seems_at_ceiling(engine, engine->chosen);
        }
    }
}

/* By the belief where there is one, else by the replays. */
static double expected_loss(const struct engine *engine)
{
    size_t best = engine->best, chosen = engine->chosen;
    const struct belief *belief = &engine->belief;
    if (best == ENGINE_NONE || best == chosen)
        return 0;
    double lost = belief->chosen != NULL ? belief->mean[best] - belief->mean[chosen]
                                         : belief->moments[best].mean - belief->moments[chosen].mean;
    return fmax(0, lost);
}

/* Adds a normal density of this mean and precision to a level. */
static void combine(struct belief_level *level, double mean, double precision)
{
    double sum = 1 / level->variance + precision;
    level->mean += precision / sum * (mean - level->mean);
    level->variance = 1 / sum;
}

/* The best-looking point is the luckiest of many in the runs that it was chosen by: they lie too high by
 * about their own standard error, so that their squared error is twice their variance. The runs after the
 * choice and what the other points say are free of that. False before there are such runs, and where the
 * chosen point is another one. */
static bool level_after_choice(const struct engine *engine, struct belief_level *ret_level)
{
    const struct belief *belief = &engine->belief;
    const struct moments *all = &belief->moments[engine->chosen];
    size_t n = engine->points[engine->chosen].confirming.n;
    if (engine->chosen != engine->best || n < ENGINE_CONFIRMING_LEAST || all->n < n)
        return false;
    const struct moments after = belief_latest(belief, engine->chosen, n);
    double df, mean, variance, n_after = (double)n, n_before = (double)all->n - n_after;
    double of_run = fmax(belief_run_variance(belief, engine->chosen, &df), after.std * after.std);
    *ret_level = (struct belief_level){.mean = after.mean, .variance = of_run / n_after};
    if (n_before > 0)
        combine(ret_level, after.mean + (all->mean - after.mean) * (double)all->n / n_before,
                n_before / (2 * of_run));
    if (belief->chosen != NULL && belief_leave_out(belief, engine->chosen, &mean, &variance))
        combine(ret_level, mean, 1 / variance);
    return true;
}

/* What is claimed of the chosen point, which lies in the space. 0 or -ENOMEM. */
static int claim(struct engine *engine)
{
    struct belief_claim claimed;
    size_t chosen = engine->chosen;
    struct belief_level after;
    bool has_after = level_after_choice(engine, &after);
    if (belief_claim(&engine->belief, chosen, has_after ? &after : NULL, engine->tolerance,
                     engine->confidence_share, JUDGE_DRAWS, engine->rng, &claimed) < 0)
        return -ENOMEM;
    engine->probability = claimed.probability_within;
    engine->shortfall = claimed.shortfall;
    engine->expected_shortfall = expected_loss(engine);
    engine->is_proved = is_proved(engine, engine->best, chosen) || engine_is_at_ceiling(engine, chosen);
    engine->conclusive = claimed.shortfall <= engine->tolerance &&
                         engine->points[chosen].confirming.n >= ENGINE_CONFIRMING_LEAST;
    return 0;
}

double engine_shortfall_after(const struct engine *engine, double times)
{
    double expected = fmin(engine->expected_shortfall, engine->shortfall);
    return expected + (engine->shortfall - expected) / sqrt(times);
}

double engine_times_to_settle(const struct engine *engine)
{
    double room = engine->tolerance - engine->expected_shortfall;
    if (!isfinite(engine->shortfall))
        return NAN;
    if (engine->shortfall <= engine->tolerance)
        return 1;
    return room > 0 ? pow((engine->shortfall - engine->expected_shortfall) / room, 2) : INFINITY;
}

/* The verdicts are told with everything known, against the best that is named; the choice stays. */
static void compare_with_best(struct engine *engine)
{
    size_t *points = engine->scratch.points, n = 0, best = list_eligible(engine, points, &n);
    for (size_t i = 0; i < n; i++)
        best = points[i] == engine->best ? i : best;
    if (best != ENGINE_NONE)
        set_verdicts(engine, points, n, best);
}

static bool looks_no_worse(const struct engine *engine, size_t point, size_t n_runs)
{
    return engine_is_eligible(engine, point) && engine->points[point].n_runs >= n_runs &&
           engine_worth(engine, point) >= engine_worth(engine, engine->chosen);
}

/* The best of the points with enough runs, if the chosen one loses more than the margin against it: the
 * replays after the choice disproved that one. Else ENGINE_NONE, and in a night, which recommends nothing
 * without replays after the choice. */
static size_t find_disproving(const struct engine *engine)
{
    size_t best = engine->chosen;
    if (engine->policy.most_replays > 0)
        return ENGINE_NONE;
    for (size_t i = 0; i < engine->space->n_points; i++) {
        if (looks_no_worse(engine, i, ENGINE_MIN_REPLAYS) &&
            engine_worth(engine, i) > engine_worth(engine, best))
            best = i;
    }
    return engine_worth(engine, best) - engine_worth(engine, engine->chosen) > engine->margin ? best
                                                                                              : ENGINE_NONE;
}

/* The cheapest point that looks no worse than the chosen one: with less in flight, or, where that one is
 * disproved, good enough against the best, which is named for that. ENGINE_NONE: there is none. */
static size_t find_surpassing(struct engine *engine)
{
    size_t found = ENGINE_NONE, chosen = engine->chosen, best = find_disproving(engine);
    if (best != ENGINE_NONE) {
        engine->best = best;
        compare_with_best(engine);
    }
    for (size_t i = 0; i < engine->space->n_points; i++) {
        bool fits =
            best != ENGINE_NONE
                ? looks_no_worse(engine, i, ENGINE_MIN_REPLAYS) && engine_is_good_enough(engine, best, i)
                : looks_no_worse(engine, i, ENGINE_CONFIRMING_LEAST) &&
                      engine->points[i].in_flight_bytes < engine->points[chosen].in_flight_bytes;
        if (fits && (found == ENGINE_NONE || engine_is_cheaper(engine, i, found)))
            found = i;
    }
    return found != chosen ? found : ENGINE_NONE;
}

/* Where there is no time to choose again, and nothing is settled that would be lost, such a point is taken
 * without replays after the choice, if no more can be lost by it. 0 or -ENOMEM. */
static int take_surpassing(struct engine *engine)
{
    size_t chosen = engine->chosen, best = engine->best;
    double shortfall = engine->shortfall;
    bool wanted = engine->policy.chooses_again && !engine->conclusive && !engine->prefers_fastest &&
                  !engine->keeps_choice;
    engine->surpassed = ENGINE_NONE;
    if (!wanted)
        return 0;
    size_t other = find_surpassing(engine);
    if (other != ENGINE_NONE) {
        engine->chosen = other;
        engine->best = engine->best == chosen ? other : engine->best;
        engine->surpassed = chosen;
        compare_with_best(engine);
        int result = claim(engine);
        if (result < 0 || engine->shortfall <= shortfall)
            return result;
    }
    engine->surpassed = ENGINE_NONE;
    engine->chosen = chosen;
    engine->best = best;
    compare_with_best(engine);
    return other != ENGINE_NONE ? claim(engine) : 0;
}

/* Names the best point by everything known: after the replays it may be another one than at the choice. Who
 * asked for the fastest has it as the choice. */
static void name_best(struct engine *engine)
{
    size_t *points = engine->scratch.points, n = 0, best = list_eligible(engine, points, &n);
    if (engine->prefers_fastest || best == ENGINE_NONE || points[best] == engine->best)
        return;
    engine->best = points[best];
    compare_with_best(engine);
    engine->expected_shortfall = expected_loss(engine);
    engine->is_proved =
        is_proved(engine, engine->best, engine->chosen) || engine_is_at_ceiling(engine, engine->chosen);
}

int engine_judge(struct engine *engine)
{
    int result = belief_update(&engine->belief, true, engine->rng);
    engine->probability = 0;
    if (result == -ENOMEM)
        return result;
    size_t chosen = engine->chosen;
    /* The replays after the choice may have brought something to light. */
    if (chosen == ENGINE_NONE || !engine_can_be_chosen(engine, chosen)) {
        engine->best = engine->chosen = ENGINE_NONE;
        return 0;
    }
    bool is_best = engine->points[engine->best].distrusted || engine->points[engine->best].failed ||
                   engine_worth(engine, chosen) >= engine_worth(engine, engine->best);
    if (is_best)
        engine->best = chosen;
    compare_with_best(engine);
    /* Nothing is fitted any more: what misses the limit on latency, or is not trusted, is no rival. */
    engine_limit_expect(engine);
    for (size_t i = 0; i < engine->space->n_points; i++) {
        if (i != chosen && (engine_is_hopeless(engine, i) || engine->points[i].distrusted))
            belief_exclude(&engine->belief, i);
    }
    result = claim(engine);
    if (result == 0)
        result = take_surpassing(engine);
    if (result == 0)
        name_best(engine);
    return result;
}

int engine_adopt(struct engine *engine, size_t point)
{
    engine->chosen = point;
    if (engine->best == ENGINE_NONE)
        engine->best = point;
    engine->probability = engine->shortfall = NAN;
    engine->conclusive = engine->is_proved = false;
    return point < engine->space->n_points ? claim(engine) : 0;
}
