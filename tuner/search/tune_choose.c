/* From replays to an answer: best, equivalents, the cheapest of them, and how sure that is. */
#include "tuner/search/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define JUDGE_DRAWS 4096
#define CAUTIOUS_SD 1.645

/* Mean p99 of the replays; NaN without replays, or where one had too few requests. */
static double p99_mean_ns(const struct record *record)
{
    double sum = 0;
    for (size_t i = 0; i < record->n; i++)
        sum += record->samples[i].latency_p99_ns;
    return sum / (double)record->n;
}

/* Upper one-sided bound of the mean p99 over the replays; infinite where it cannot be said. */
static double p99_upper_ns(const struct tune *tune, const struct record *record)
{
    double mean = p99_mean_ns(record), squares = 0, count = (double)record->n;
    if (record->n < TUNE_MIN_REPLAYS || !isfinite(mean))
        return INFINITY;
    for (size_t i = 0; i < record->n; i++)
        squares += pow(record->samples[i].latency_p99_ns - mean, 2);
    double std = sqrt(squares / (count - 1));
    return mean + student_quantile(tune->settings->runs.confidence_share, count - 1) * std / sqrt(count);
}

bool tune_misses_p99(const struct tune *tune, size_t point)
{
    /* NaN counts as a miss: a point whose runs have too few requests cannot be shown to meet the bound. */
    const struct settings *settings = tune->settings;
    return settings->search.max_latency_p99_ns != 0 && tune->records[point].n > 0 &&
           !(p99_mean_ns(&tune->records[point]) <= (double)settings->search.max_latency_p99_ns);
}

bool tune_knows_p99(const struct tune *tune, size_t point)
{
    return isfinite(p99_mean_ns(&tune->records[point]));
}

static bool feasible(struct tune *tune, size_t point)
{
    uint64_t limit_ns = tune->settings->search.max_latency_p99_ns;
    if (tune_distrust(tune, point) != 0)
        return false;
    if (limit_ns == 0)
        return true;
    tune->lowest_p99_ns = fmin(tune->lowest_p99_ns, p99_mean_ns(&tune->records[point]));
    return p99_upper_ns(tune, &tune->records[point]) <= (double)limit_ns;
}

bool tune_is_eligible(struct tune *tune, size_t point)
{
    return tune->belief.moments[point].n > 0 && !tune->belief.excluded[point] && feasible(tune, point);
}

/* Points that may be chosen. Writes their indices. */
static size_t eligible_points(struct tune *tune, size_t *ret_points)
{
    size_t n = 0;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (tune_is_eligible(tune, i))
            ret_points[n++] = i;
    }
    return n;
}

/* What a point is worth when the best is looked for: its posterior mean (the sample mean without a
 * surrogate), or with fewer than TUNE_MIN_REPLAYS its lower bound, so that one lucky run does not win but a
 * far better point does. */
double tune_worth(const struct tune *tune, size_t point)
{
    const struct belief *belief = &tune->belief;
    double df, variance = belief_run_variance(belief, point, &df) / (double)belief->moments[point].n;
    double mean = belief->moments[point].mean;
    if (belief->chosen != NULL) {
        mean = belief->mean[point];
        variance = belief->variance[point];
    }
    return belief->moments[point].n >= TUNE_MIN_REPLAYS ? mean : mean - CAUTIOUS_SD * sqrt(variance);
}

static size_t best_position(const struct tune *tune, const size_t *points, size_t n)
{
    size_t best = TUNE_NONE;
    double highest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double worth = tune_worth(tune, points[i]);
        if (worth > highest) {
            highest = worth;
            best = i;
        }
    }
    return best;
}

bool tune_is_cheaper(const struct tune *tune, size_t a, size_t b)
{
    const struct point *pa = &tune->records[a].point, *pb = &tune->records[b].point;
    uint64_t bytes_a = factors_bytes_in_flight(pa), bytes_b = factors_bytes_in_flight(pb);
    if (bytes_a != bytes_b)
        return bytes_a < bytes_b;
    struct row row_a, row_b;
    if (row_of(&tune->records[a], false, tune->settings->runs.confidence_share, &row_a) < 0 ||
        row_of(&tune->records[b], false, tune->settings->runs.confidence_share, &row_b) < 0)
        return false;
    double ratio = row_a.latency_ns.mean / row_b.latency_ns.mean;
    if (fabs(log(ratio)) > tune->margin)
        return ratio < 1;
    return pa->api != pb->api ? pa->api < pb->api : ratio < 1;
}

static void set_verdicts(struct tune *tune, const size_t *points, size_t n, size_t best)
{
    struct contender *contenders = calloc(n, sizeof *contenders);
    enum verdict *verdicts = calloc(n, sizeof *verdicts);
    for (size_t i = 0; i < tune->space.n_points; i++)
        tune->verdicts[i] = VERDICT_WORSE;
    if (contenders != NULL && verdicts != NULL) {
        for (size_t i = 0; i < n; i++) {
            contenders[i].moments = tune->belief.moments[points[i]];
            contenders[i].run_variance = belief_run_variance(&tune->belief, points[i], &contenders[i].run_df);
        }
        compare_all(contenders, n, best, tune->margin, tune->settings->runs.confidence_share,
                    TUNE_MIN_REPLAYS, verdicts);
        for (size_t i = 0; i < n; i++)
            tune->verdicts[points[i]] = verdicts[i];
    }
    free(contenders);
    free(verdicts);
}

/* What is lost on average by taking the point instead of the best-looking one, as a difference of logs, by
 * what their replays tell. */
static double expected_shortfall(const struct tune *tune, size_t best, size_t point)
{
    const struct moments *of_best = &tune->belief.moments[best], *own = &tune->belief.moments[point];
    double df, variance = belief_run_variance(&tune->belief, best, &df) / (double)of_best->n +
                          belief_run_variance(&tune->belief, point, &df) / (double)own->n;
    return tune_expected_shortfall(of_best->mean - own->mean, variance);
}

/* A point that is proved to be as good, or of which no more than the tolerance is expected to be lost: under
 * noise, waiting for the proof would leave the choice to whatever looked best. */
static bool is_good_enough(const struct tune *tune, size_t best, size_t point)
{
    if (tune->verdicts[point] == VERDICT_EQUIVALENT)
        return true;
    return tune->verdicts[point] == VERDICT_UNDECIDED &&
           record_count(&tune->records[point], false) >= TUNE_MIN_REPLAYS &&
           expected_shortfall(tune, best, point) <= tune->margin;
}

void tune_choose(struct tune *tune)
{
    size_t *points = malloc(tune->space.n_points * sizeof *points);
    tune->best = tune->chosen = TUNE_NONE;
    tune->lowest_p99_ns = NAN;
    if (points == NULL || profiles_leave_out_steep(tune) < 0) {
        free(points);
        return;
    }
    size_t n = eligible_points(tune, points);
    size_t best = best_position(tune, points, n);
    if (best != TUNE_NONE) {
        set_verdicts(tune, points, n, best);
        tune->best = tune->chosen = points[best];
        bool cheapest = tune->settings->search.prefers == PREFERS_CHEAPEST;
        for (size_t i = 0; i < n && cheapest; i++) {
            if (is_good_enough(tune, points[best], points[i]) &&
                tune_is_cheaper(tune, points[i], tune->chosen))
                tune->chosen = points[i];
        }
    }
    free(points);
}

/* What is claimed of the chosen point, which lies in the space. 0 or -ENOMEM. */
static int claim(struct tune *tune)
{
    struct belief_claim claimed;
    size_t chosen = tune->chosen;
    double tolerance = objective_margin(tune->settings);
    if (belief_claim(&tune->belief, chosen, tolerance, tune->settings->runs.confidence_share, JUDGE_DRAWS,
                     tune->rng, &claimed) < 0)
        return -ENOMEM;
    tune->probability = claimed.probability_within;
    tune->shortfall_share =
        isfinite(claimed.shortfall) ? objective_share(tune->settings, claimed.shortfall) : NAN;
    tune->is_proved = chosen == tune->best || tune->verdicts[chosen] == VERDICT_EQUIVALENT;
    tune->conclusive =
        claimed.shortfall <= tolerance && record_count(&tune->records[chosen], true) >= TUNE_CONFIRMING_LEAST;
    return 0;
}

int tune_judge(struct tune *tune)
{
    int result = belief_update(&tune->belief, true, tune->rng);
    tune->probability = 0;
    if (result == -ENOMEM)
        return result;
    size_t chosen = tune->chosen;
    /* The replays after the choice may have brought something to light. */
    if (chosen == TUNE_NONE || tune_distrust(tune, chosen) != 0) {
        tune->best = tune->chosen = TUNE_NONE;
        return 0;
    }
    /* The verdicts are told with everything known, the choice stays. */
    size_t best = tune->best;
    tune_choose(tune);
    tune->chosen = chosen;
    tune->best = tune_distrust(tune, best) != 0 ? chosen : best;
    /* Nothing is fitted any more: what misses the bound on latency, or is not trusted, is no rival. */
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (i != chosen && (tune_misses_p99(tune, i) || tune_distrust(tune, i) != 0))
            belief_exclude(&tune->belief, i);
    }
    return claim(tune);
}

int tune_adopt(struct tune *tune, size_t point)
{
    tune->chosen = point;
    if (tune->best == TUNE_NONE)
        tune->best = point;
    tune->probability = tune->shortfall_share = NAN;
    tune->conclusive = tune->is_proved = false;
    return point < tune->space.n_points ? claim(tune) : 0;
}
