/* The second part of a search: what is left of the time goes to the points that could still change the
 * answer. */
#include "tuner/search/tune.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A block is so many points, each once, in random order; its results steer the next block. */
#define BLOCK_POINTS 6
/* Weight of a vote for the cheapest point within the margin, relative to a vote for the best point. It is
 * small because no point can be shown to be as good as the best before the best is known. */
#define ANSWER_VOTE   0.3
#define N_DRAWS       128 /* joint draws of the response per block */
#define MAX_PROMISING 256
#define JUDGE_DRAWS   2048
#define REFIT_BLOCKS  3

/* With a bound on p99 that some measured point seems to meet, replays must prove it; a point never measured
 * can no longer be proved. */
static bool meets_p99(const struct tune *tune)
{
    for (size_t i = 0; i < tune->space.n_points && tune->settings->search.max_latency_p99_ns != 0; i++) {
        if (tune->belief.moments[i].n > 0 && !tune->belief.excluded[i] && !tune_misses_p99(tune, i))
            return true;
    }
    return false;
}

/* Points whose response could reach the margin below the best; at most MAX_PROMISING, most promising first.
 */
static size_t promising_points(const struct tune *tune, size_t *ret_points)
{
    const struct belief *belief = &tune->belief;
    size_t n_points = tune->space.n_points, n = 0;
    bool only_measured = meets_p99(tune);
    double *upper = calloc(n_points, sizeof *upper), highest = -INFINITY;
    size_t *order = malloc(n_points * sizeof *order);
    if (upper != NULL && order != NULL) {
        for (size_t i = 0; i < n_points; i++) {
            double sd = sqrt(belief->variance[i]);
            bool out = belief->excluded[i] || tune_misses_p99(tune, i) ||
                       (only_measured && belief->moments[i].n == 0);
            upper[i] = out ? -INFINITY : belief->mean[i] + 2.5 * sd;
            highest = out ? highest : fmax(highest, belief->mean[i] - 2.5 * sd);
        }
        gsl_sort_index(order, upper, 1, n_points);
        for (size_t k = n_points; k-- > 0 && n < MAX_PROMISING && isfinite(upper[order[k]]) &&
                                  upper[order[k]] >= highest - tune->margin;)
            ret_points[n++] = order[k];
    }
    free(upper);
    free(order);
    return n;
}

/* Is a cheaper than b, by what is known for sure? Ties go to the higher response: equal bytes in flight at a
 * higher rate mean less latency. */
static bool cheaper(const struct tune *tune, size_t a, double response_a, size_t b, double response_b)
{
    uint64_t bytes_a = factors_bytes_in_flight(&tune->records[a].point);
    uint64_t bytes_b = factors_bytes_in_flight(&tune->records[b].point);
    return bytes_a != bytes_b ? bytes_a < bytes_b : response_a > response_b;
}

/* If this draw were the truth: which point would be the best, and which the cheapest within the margin? Both
 * get a vote. */
static void vote(const struct tune *tune, const size_t *points, size_t n, const double *draw, double *votes)
{
    size_t best = 0, answer = TUNE_NONE;
    for (size_t i = 1; i < n; i++)
        best = draw[i] > draw[best] ? i : best;
    for (size_t i = 0; i < n; i++) {
        if (draw[i] < draw[best] - tune->margin)
            continue;
        if (answer == TUNE_NONE || cheaper(tune, points[i], draw[i], points[answer], draw[answer]))
            answer = i;
    }
    votes[best] += 1;
    votes[answer] += ANSWER_VOTE;
}

/* A vote counts as far as one more replay would sharpen what is known of the point, and the less the longer
 * the replay takes: the cost stands under a root as in the optimal allocation over unlike costs. */
static void weigh_votes(const struct tune *tune, const size_t *points, size_t n, double *votes)
{
    for (size_t i = 0; i < n; i++) {
        double df, variance = tune->belief.variance[points[i]];
        double run = belief_run_variance(&tune->belief, points[i], &df);
        votes[i] *= variance / sqrt((variance + run) * tune->cost.point_seconds[points[i]]);
    }
}

static int draw_votes(struct tune *tune, const size_t *points, size_t n, double *votes)
{
    double *draws = malloc(n * N_DRAWS * sizeof *draws);
    const struct belief *belief = &tune->belief;
    if (draws == NULL)
        return -ENOMEM;
    int result = belief_sample(belief, points, n, N_DRAWS, tune->rng, draws);
    for (size_t k = 0; k < N_DRAWS && result == 0; k++)
        vote(tune, points, n, draws + k * n, votes);
    free(draws);
    if (result == 0)
        weigh_votes(tune, points, n, votes);
    return result;
}

/* Points of the next block. */
static int choose_block(struct tune *tune, size_t *ret_runs, size_t *ret_n)
{
    size_t points[MAX_PROMISING], order[MAX_PROMISING], n_runs = 0;
    double votes[MAX_PROMISING] = {0};
    size_t n = promising_points(tune, points);
    *ret_n = 0;
    if (n == 0)
        return 0;
    int result = draw_votes(tune, points, n, votes);
    if (result < 0)
        return result;
    gsl_sort_index(order, votes, 1, n);
    for (size_t k = n; k-- > 0 && n - k <= BLOCK_POINTS && votes[order[k]] > 0;)
        ret_runs[n_runs++] = points[order[k]];
    *ret_n = n_runs;
    return 0;
}

/* Each look spends a part of the error probability, so that stopping early does not raise the whole of it. */
static bool settled(struct tune *tune, size_t look)
{
    tune_choose(tune);
    if (tune->chosen == TUNE_NONE || tune->verdicts[tune->chosen] != VERDICT_EQUIVALENT ||
        record_count(&tune->records[tune->chosen], false) < TUNE_CONFIRMING_LEAST)
        return false;
    double alpha = compare_spend(1 - tune->settings->runs.confidence_share, look), probability = 0;
    if (belief_probability_within(&tune->belief, tune->chosen, tune->margin, JUDGE_DRAWS, tune->rng,
                                  &probability) < 0)
        return false;
    /* Prior knowledge steers the search, but only what was measured may end it: the next look decides. */
    bool prior = tune->belief.prior.offset != NULL;
    if (probability >= 1 - alpha)
        belief_prior_drop(&tune->belief);
    return probability >= 1 - alpha && !prior;
}

/* Lists all points of a space too small for a surrogate. Of a larger space it lists none: a surrogate is
 * missing there because too many points failed. */
static size_t take_all(const struct tune *tune, size_t *ret_runs)
{
    size_t n = 0;
    for (size_t i = 0; i < tune->space.n_points && tune->space.n_points <= BLOCK_POINTS; i++) {
        if (!tune->belief.excluded[i])
            ret_runs[n++] = i;
    }
    return n;
}

/* Points of the next block: isolated fast points where these are the larger risk, else those that the draws
 * of the surrogate vote for. */
static int choose_day_block(struct tune *tune, size_t *ret_runs, size_t *ret_n)
{
    int result = tune_list_lone_peaks(tune, BLOCK_POINTS, ret_runs, ret_n);
    return result < 0 || *ret_n > 0 ? result : choose_block(tune, ret_runs, ret_n);
}

/* Whether the baseline was not measured yet and can be: nothing can be compared with it before. */
static bool lacks_measure(const struct tune *tune)
{
    const struct record *record = &tune->records[tune->baseline];
    return record->n == 0 && record->failed == 0 && !tune_not_ruled_out_known(tune);
}

/* Points of the next block of a night. Odd looks take those that the surrogate votes for; the others take
 * those that may be better than the baseline, together with it. ret_n 0: no such point is left. */
static int choose_night_block(struct tune *tune, size_t look, size_t *ret_runs, size_t *ret_n)
{
    size_t chances[BLOCK_POINTS], n = tune_not_ruled_out_list(tune, chances, BLOCK_POINTS - 1);
    *ret_n = 0;
    if (lacks_measure(tune)) {
        ret_runs[0] = tune->baseline;
        *ret_n = 1;
        return 0;
    }
    if (n == 0)
        return 0;
    if (look % 2 == 1 && tune->belief.chosen != NULL) {
        int result = choose_block(tune, ret_runs, ret_n);
        if (result < 0 || *ret_n > 0)
            return result;
    }
    chances[n++] = tune->baseline;
    memcpy(ret_runs, chances, n * sizeof *ret_runs);
    *ret_n = n;
    return 0;
}

/* Points of the next block. Where the evidence settles the choice, those that may do for less; where there
 * are none either, the race is over. */
static int choose_next(struct tune *tune, size_t look, bool night, size_t *ret_runs, size_t *ret_n)
{
    int result = 0;
    bool is_settled = !night && settled(tune, look);
    if (night)
        result = choose_night_block(tune, look, ret_runs, ret_n);
    else if (is_settled)
        *ret_n = tune_list_cheaper(tune, ret_runs, BLOCK_POINTS);
    else if (tune->belief.chosen == NULL)
        *ret_n = take_all(tune, ret_runs);
    else
        result = choose_day_block(tune, ret_runs, ret_n);
    if (result == 0 && *ret_n == 0 && (night || is_settled))
        tune->stop = TUNE_STOP_SEPARATED;
    return result;
}

int tune_race(struct tune *tune, struct err *err)
{
    size_t runs[BLOCK_POINTS], n = 0;
    int result = 0;
    while (result == 0 && tune->stop == TUNE_STOP_NOT_YET) {
        /* Where the baseline cannot be measured, a night searches as any other search does. */
        bool night = tune->policy.weighs_chances && (tune_not_ruled_out_known(tune) || lacks_measure(tune));
        if (!tune_has_time(tune, tune_race_end_ns(tune), 1))
            break;
        size_t look = ++tune->race.n_looks;
        result = belief_update(&tune->belief, look % REFIT_BLOCKS == 1, tune->rng);
        if (result == -ENODATA || result == -EDOM)
            result = 0; /* no surrogate: only their own runs tell of points */
        tune_expect_costs(tune);
        if (result == 0)
            result = choose_next(tune, look, night, runs, &n);
        if (result < 0)
            return err_sys(err, result, "the race cannot go on");
        if (n == 0)
            return 0; /* no replay would teach anything more */
        uint64_t runs_before = tune->session->n_runs;
        tune_writes_reserve(tune);
        uint64_t end_ns = tune_race_end_ns(tune);
        result = tune_measure(tune, runs, n, false, end_ns, err);
        tune->race.beyond_plan |=
            end_ns > tune->time.search_end_ns && tune_now_ns(tune) > tune->time.search_end_ns;
        if (tune->session->n_runs == runs_before)
            return result; /* none of them fits into the time that is left */
    }
    return result;
}
