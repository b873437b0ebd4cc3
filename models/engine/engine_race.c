/* The second part of a search: what is left of the time goes to the points that could still change the
 * answer. */
#include "models/engine/engine_internal.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weight of a vote for the cheapest point within the margin, relative to a vote for the best point. It is
 * small because no point can be shown to be as good as the best before the best is known. */
#define ANSWER_VOTE    0.3
#define CEILING_POINTS 3   /* of a block that seeks less in flight at a known ceiling */
#define N_DRAWS        128 /* joint draws of the response per block */
#define MAX_PROMISING  256
#define LEAST_SPENT    0.02 /* of the error, by each look: a belief's tails beyond are not to be trusted */
#define REFIT_BLOCKS   3

/* Where there are more points than room, the chosen one takes the last place: it is known best, and so
 * promises little more than its mean. */
static void keep_chosen(const struct engine *engine, size_t *points, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (points[i] == engine->chosen)
            return;
    }
    if (engine->chosen != ENGINE_NONE)
        points[n - 1] = engine->chosen;
}

/* Points whose response could reach the margin below the best; at most MAX_PROMISING, most promising first.
 * 0 or -ENOMEM. */
static int promising_points(const struct engine *engine, size_t *ret_points, size_t *ret_n)
{
    const struct belief *belief = &engine->belief;
    size_t n_points = engine->space->n_points, n = 0;
    double *upper = calloc(n_points, sizeof *upper), highest = -INFINITY;
    size_t *order = malloc(n_points * sizeof *order);
    int result = upper != NULL && order != NULL ? 0 : -ENOMEM;
    if (result == 0) {
        for (size_t i = 0; i < n_points; i++) {
            double sd = sqrt(belief->variance[i]);
            bool out = belief->excluded[i] || engine_is_hopeless(engine, i);
            upper[i] = out ? -INFINITY : belief->mean[i] + 2.5 * sd;
            if (!out && engine_feasible(engine, i) > ENGINE_LIKELY)
                highest = fmax(highest, belief->mean[i] - 2.5 * sd);
        }
        gsl_sort_index(order, upper, 1, n_points);
        for (size_t k = n_points; k-- > 0 && n < MAX_PROMISING && isfinite(upper[order[k]]) &&
                                  upper[order[k]] >= highest - engine->margin;)
            ret_points[n++] = order[k];
        if (n == MAX_PROMISING)
            keep_chosen(engine, ret_points, n);
    }
    free(upper);
    free(order);
    *ret_n = n;
    return result;
}

/* Is a cheaper than b, by what is known for sure? Ties go to the higher response: equal bytes in flight at a
 * higher rate mean less latency. */
static bool cheaper(const struct engine *engine, size_t a, double response_a, size_t b, double response_b)
{
    double bytes_a = engine->points[a].in_flight_bytes, bytes_b = engine->points[b].in_flight_bytes;
    return bytes_a != bytes_b ? bytes_a < bytes_b : response_a > response_b;
}

/* A point that does not keep the limit in this draw is none of it. */
static void draw_limit(struct engine *engine, const size_t *points, size_t n, double *draw)
{
    for (size_t i = 0; i < n && engine_is_limited(engine); i++) {
        if (gsl_rng_uniform(engine->rng) >= engine_feasible(engine, points[i]))
            draw[i] = -INFINITY;
    }
}

/* If this draw were the truth: which point would be the best, and which the cheapest within the margin? Both
 * get a vote. Of several that reach a known ceiling the cheapest is the best. */
static void vote(const struct engine *engine, const size_t *points, size_t n, const double *draw,
                 double *votes)
{
    size_t best = 0, answer = ENGINE_NONE;
    for (size_t i = 1; i < n; i++) {
        bool alike = !(draw[i] > draw[best] || draw[i] < draw[best]);
        if (draw[i] > draw[best] || (alike && cheaper(engine, points[i], 0, points[best], 0)))
            best = i;
    }
    if (!isfinite(draw[best]))
        return;
    for (size_t i = 0; i < n; i++) {
        if (draw[i] < draw[best] - engine->margin)
            continue;
        if (answer == ENGINE_NONE || cheaper(engine, points[i], draw[i], points[answer], draw[answer]))
            answer = i;
    }
    votes[best] += 1;
    votes[answer] += ANSWER_VOTE;
}

/* A vote counts as far as one more replay would sharpen what is known of the point, and the less the longer
 * the replay takes: the cost stands under a root as in the optimal allocation over unlike costs. */
static void weigh_votes(const struct engine *engine, const size_t *points, size_t n, double *votes)
{
    for (size_t i = 0; i < n; i++) {
        double df, variance = engine->belief.variance[points[i]];
        double run = belief_run_variance(&engine->belief, points[i], &df);
        double sharper = variance / sqrt(variance + run) + engine_limit_open(engine, points[i]);
        votes[i] *= sharper / sqrt(engine->seconds[points[i]]);
    }
}

/* If this draw were the truth: does the chosen point lose more than the margin, or not keep the limit? One
 * that is not among the points lies below them all. */
static bool disproves(const struct engine *engine, const size_t *points, size_t n, const double *draw)
{
    double highest = -INFINITY, chosen = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        highest = fmax(highest, draw[i]);
        chosen = points[i] == engine->chosen ? draw[i] : chosen;
    }
    return !(chosen >= highest - engine->margin);
}

/* ret_risk: the share of the draws in which the chosen point loses more than the margin. */
static int draw_votes(struct engine *engine, const size_t *points, size_t n, double *votes, double *ret_risk)
{
    double *draws = malloc(n * N_DRAWS * sizeof *draws);
    if (draws == NULL)
        return -ENOMEM;
    int result = belief_sample(&engine->belief, points, n, N_DRAWS, engine->rng, draws);
    for (size_t k = 0; k < N_DRAWS && result == 0; k++) {
        draw_limit(engine, points, n, draws + k * n);
        vote(engine, points, n, draws + k * n, votes);
        *ret_risk += disproves(engine, points, n, draws + k * n) ? 1.0 / N_DRAWS : 0;
    }
    free(draws);
    if (result == 0)
        weigh_votes(engine, points, n, votes);
    return result;
}

/* Points of the next block, and how likely the surrogate makes it that the chosen point loses too much. */
static int choose_block(struct engine *engine, size_t *ret_runs, size_t *ret_n, double *ret_risk)
{
    size_t points[MAX_PROMISING], order[MAX_PROMISING], n_runs = 0, n = 0;
    double votes[MAX_PROMISING] = {0};
    int result = promising_points(engine, points, &n);
    *ret_n = 0;
    *ret_risk = 0;
    if (result < 0 || n == 0)
        return result;
    result = draw_votes(engine, points, n, votes, ret_risk);
    if (result < 0)
        return result;
    gsl_sort_index(order, votes, 1, n);
    for (size_t k = n; k-- > 0 && n - k <= ENGINE_BLOCK_POINTS && votes[order[k]] > 0;)
        ret_runs[n_runs++] = points[order[k]];
    *ret_n = n_runs;
    return 0;
}

/* Each look spends a part of the error probability, so that stopping early hardly raises the whole of it:
 * with the least that each one spends, 50 looks spend at most twice the whole. What is claimed in the end is
 * asked anew. 0 or -ENOMEM. */
static int look(struct engine *engine, bool *ret_settled)
{
    engine_choose(engine);
    *ret_settled = engine->chosen != ENGINE_NONE && engine_is_at_ceiling(engine, engine->chosen);
    if (*ret_settled)
        return 0;
    if (engine->chosen == ENGINE_NONE || engine->verdicts[engine->chosen] != VERDICT_EQUIVALENT ||
        engine->points[engine->chosen].n_runs < ENGINE_CONFIRMING_LEAST)
        return 0;
    double error = 1 - engine->confidence_share;
    double alpha = fmax(compare_spend(error, engine->n_looks), LEAST_SPENT * error);
    bool within = false;
    int result = belief_is_within(&engine->belief, engine->chosen, engine->margin, 1 - alpha, &within);
    if (result < 0)
        return result;
    /* Prior knowledge steers the search, but only what was measured may end it: the next look decides. */
    bool prior = engine->belief.prior.offset != NULL;
    if (within)
        belief_prior_drop(&engine->belief);
    *ret_settled = within && !prior;
    return 0;
}

/* Lists all points of a space too small for a surrogate. Of a larger space it lists none: a surrogate is
 * missing there because too many points failed. */
static size_t take_all(const struct engine *engine, size_t *ret_runs)
{
    size_t n = 0;
    for (size_t i = 0; i < engine->space->n_points && engine->space->n_points <= ENGINE_BLOCK_POINTS; i++) {
        if (!engine->belief.excluded[i])
            ret_runs[n++] = i;
    }
    return n;
}

/* Points of the next block: those that the draws of the surrogate vote for, or isolated fast points where
 * these are the larger risk. */
static int choose_day_block(struct engine *engine, size_t *ret_runs, size_t *ret_n)
{
    /* Few runs tell whether a point is one: a longer block looks at more of them, though not at so many that
     * fits take long. */
    size_t most = ENGINE_BLOCK_POINTS * engine_replays(engine, ENGINE_BLOCK_POINTS);
    size_t peaks[ENGINE_MAX_LISTED];
    double risk;
    int result = choose_block(engine, ret_runs, ret_n, &risk);
    if (result < 0)
        return result;
    size_t n =
        engine_list_lone_peaks(engine, risk, most < ENGINE_MAX_LISTED ? most : ENGINE_MAX_LISTED, peaks);
    if (n > 0) {
        memcpy(ret_runs, peaks, n * sizeof *ret_runs);
        *ret_n = n;
    }
    return 0;
}

/* Whether the baseline was not measured yet and can be: nothing can be compared with it before. */
static bool lacks_measure(const struct engine *engine)
{
    const struct engine_point *baseline = &engine->points[engine->baseline];
    return baseline->n_runs == 0 && !baseline->failed && !engine_knows_baseline(engine);
}

/* Points of the next block of a night. Odd looks take those that the surrogate votes for; the others take
 * those that may be better than the baseline, together with it. ret_n 0: no such point is left. */
static int choose_night_block(struct engine *engine, size_t *ret_runs, size_t *ret_n)
{
    size_t chances[ENGINE_BLOCK_POINTS], n = engine_list_chances(engine, chances, ENGINE_BLOCK_POINTS - 1);
    *ret_n = 0;
    if (lacks_measure(engine)) {
        ret_runs[0] = engine->baseline;
        *ret_n = 1;
        return 0;
    }
    if (n == 0)
        return 0;
    if (engine->n_looks % 2 == 1 && engine->belief.chosen != NULL) {
        double risk;
        int result = choose_block(engine, ret_runs, ret_n, &risk);
        if (result < 0 || *ret_n > 0)
            return result;
    }
    chances[n++] = engine->baseline;
    memcpy(ret_runs, chances, n * sizeof *ret_runs);
    *ret_n = n;
    return 0;
}

/* Points with less in flight that may do, and those that may do at a known ceiling. */
static size_t list_for_less(const struct engine *engine, bool settled, size_t *ret_runs)
{
    if (engine->best != ENGINE_NONE && !engine->prefers_fastest && engine_nears_ceiling(engine))
        return engine_list_at_ceiling(engine, ret_runs, CEILING_POINTS);
    return settled ? engine_list_cheaper(engine, ret_runs, ENGINE_BLOCK_POINTS) : 0;
}

/* Points of the next block. Where the evidence settles the choice, those that may do for less; where there
 * are none either, the race is over. */
static int choose_next(struct engine *engine, size_t *ret_runs, size_t *ret_n)
{
    /* Where the baseline cannot be measured, a night searches as any other search does. */
    bool night = engine->policy.weighs_chances && (engine_knows_baseline(engine) || lacks_measure(engine));
    bool settled = false;
    int result = night ? choose_night_block(engine, ret_runs, ret_n) : look(engine, &settled);
    if (result < 0)
        return result;
    if (!night)
        *ret_n = list_for_less(engine, settled, ret_runs);
    if (*ret_n == 0 && (night || settled))
        engine->stop = ENGINE_STOP_SEPARATED;
    if (*ret_n > 0 || engine->stop != ENGINE_STOP_NOT_YET)
        return 0;
    if (engine->belief.chosen != NULL)
        return choose_day_block(engine, ret_runs, ret_n);
    *ret_n = take_all(engine, ret_runs);
    return 0;
}

/* How long the block is with its points repeated. */
static size_t repeat(const struct engine *engine, size_t *runs, size_t n)
{
    size_t n_runs = n * engine_replays(engine, n);
    for (size_t i = n; i < n_runs; i++)
        runs[i] = runs[i - n];
    return n_runs;
}

int engine_race(struct engine *engine, double now_seconds, bool *ret_over)
{
    size_t runs[ENGINE_MAX_QUEUED], n = 0;
    *ret_over = true;
    if (engine->has_raced) {
        engine->beyond_plan |= engine->queue.deadline_seconds > engine->search_end_seconds &&
                               now_seconds > engine->search_end_seconds;
        if (engine->queue.n_handed == 0)
            return 0; /* none of them fits into the time that is left */
    }
    if (engine->stop != ENGINE_STOP_NOT_YET ||
        !engine_has_time(engine, now_seconds, engine_race_end_seconds(engine), 1))
        return 0;
    engine->n_looks++;
    int result = belief_update(&engine->belief, engine->n_looks % REFIT_BLOCKS == 1, engine->rng);
    if (result == -ENOMEM)
        return result; /* without a surrogate only their own runs tell of points */
    engine_expect_costs(engine);
    engine_limit_expect(engine);
    result = choose_next(engine, runs, &n);
    if (result < 0 || n == 0)
        return result; /* no replay would teach anything more */
    engine_queue(engine, runs, repeat(engine, runs, n), false, engine_race_end_seconds(engine));
    engine->has_raced = true;
    *ret_over = false;
    return 0;
}
