/* Request sizes of their own for reads and writes are worth their trouble only where they are proved to be
 * faster than one size for both. */
#include "tuner/search/tune.h"

#include <errno.h>
#include <math.h>

#define SEEK_POINTS  3
#define SEEK_REPLAYS 2
#define SEEK_ROUNDS  20
#define HOPEFUL_SD   1.645

static bool is_hopeful(const struct tune *tune, size_t point)
{
    return !factors_is_split(&tune->records[point].point) && !tune->engine.belief.excluded[point] &&
           tune_distrust(tune, point) == 0 && !engine_misses_limit(&tune->engine, point);
}

/* Upper bound of a point's response. */
static double upper_of(const struct tune *tune, size_t point)
{
    return tune->engine.belief.mean[point] + HOPEFUL_SD * sqrt(tune->engine.belief.variance[point]);
}

/* Lists the points of one size whose upper bound lies above the best mean among those with enough runs, the
 * highest bound first. Points with too few runs do not set that mean. Returns how many. */
static size_t choose_hopeful(const struct tune *tune, size_t ret_points[SEEK_POINTS])
{
    size_t n = 0;
    double best = -INFINITY, bounds[SEEK_POINTS];
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (is_hopeful(tune, i) && tune->records[i].n >= ENGINE_MIN_REPLAYS)
            best = fmax(best, tune->engine.belief.mean[i]);
    }
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (is_hopeful(tune, i) && upper_of(tune, i) > best + tune->engine.margin)
            n = engine_list_highest(ret_points, bounds, n, SEEK_POINTS, i, upper_of(tune, i));
    }
    return n;
}

static int seek(struct tune *tune, double deadline_seconds, struct err *err)
{
    size_t points[SEEK_POINTS], runs[SEEK_POINTS * SEEK_REPLAYS];
    for (int round = 0; round < SEEK_ROUNDS && tune->engine.stop == ENGINE_STOP_NOT_YET; round++) {
        int result = belief_update(&tune->engine.belief, round % 2 == 0, tune->engine.rng);
        if (result < 0)
            return result == -ENOMEM ? err_sys(err, result, "cannot fit a model") : 0;
        engine_expect_costs(&tune->engine);
        size_t n = choose_hopeful(tune, points);
        if (n == 0 || !tune_has_time(tune, deadline_seconds, 1))
            return 0;
        for (size_t i = 0; i < n * SEEK_REPLAYS; i++)
            runs[i] = points[i / SEEK_REPLAYS];
        uint64_t runs_before = tune->session->n_runs;
        result = tune_measure(tune, runs, n * SEEK_REPLAYS, deadline_seconds, err);
        if (result < 0 || tune->session->n_runs == runs_before)
            return result;
    }
    return 0;
}

int tune_seek_unsplit(struct tune *tune, struct err *err)
{
    enum engine_stop stop = tune->engine.stop;
    if (!settings_splits_sizes(tune->settings) ||
        (stop != ENGINE_STOP_NOT_YET && stop != ENGINE_STOP_SEPARATED))
        return 0;
    engine_choose(&tune->engine);
    if (tune->engine.chosen == ENGINE_NONE || !factors_is_split(&tune->records[tune->engine.chosen].point))
        return 0;
    tune->engine.stop = ENGINE_STOP_NOT_YET;
    double share_seconds = tune->engine.budget_seconds * TUNE_SPLIT_SHARE;
    int result = seek(tune, tune_now(tune) + share_seconds, err);
    if (tune->engine.stop == ENGINE_STOP_NOT_YET)
        tune->engine.stop = stop;
    return result;
}

/* Returns the cheapest point of the kind that is as good as the best, else the best of the kind. */
static size_t representative(struct tune *tune, bool is_split)
{
    size_t best = ENGINE_NONE, cheapest = ENGINE_NONE;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (factors_is_split(&tune->records[i].point) != is_split || !engine_is_eligible(&tune->engine, i))
            continue;
        if (best == ENGINE_NONE || engine_worth(&tune->engine, i) > engine_worth(&tune->engine, best))
            best = i;
        if (tune->engine.verdicts[i] == VERDICT_EQUIVALENT &&
            (cheapest == ENGINE_NONE || engine_is_cheaper(&tune->engine, i, cheapest)))
            cheapest = i;
    }
    return cheapest != ENGINE_NONE ? cheapest : best;
}

void tune_pair_split(struct tune *tune)
{
    tune->split = tune->unsplit = ENGINE_NONE;
    if (!settings_splits_sizes(tune->settings) || tune->engine.chosen == ENGINE_NONE)
        return;
    bool is_split = factors_is_split(&tune->records[tune->engine.chosen].point);
    tune->split = is_split ? tune->engine.chosen : representative(tune, true);
    tune->unsplit = is_split ? representative(tune, false) : tune->engine.chosen;
}

/* Moments of the response, which is what the search compares by, over the runs after the choice. */
static struct moments confirming_moments(const struct tune *tune, const struct record *record)
{
    struct moments moments = {0};
    for (size_t i = 0; i < record->n; i++) {
        if (record->samples[i].confirming)
            moments_add(&moments, tune_response(tune, &record->samples[i]));
    }
    return moments;
}

/* The gain of two sizes over one, as exp of the Welch interval of log responses. Only runs after the choice
 * count: the earlier ones chose the pair, and so look better than they are. */
static void compare_pair(struct tune *tune)
{
    const struct record *split = &tune->records[tune->split], *unsplit = &tune->records[tune->unsplit];
    if (record_count(split, true) >= ENGINE_CONFIRMING_LEAST &&
        record_count(unsplit, true) >= ENGINE_CONFIRMING_LEAST)
        tune->split_gain =
            objective_ratio_of(confirming_moments(tune, split), confirming_moments(tune, unsplit),
                               tune->settings->runs.confidence_share);
}

static void note_not_worth(struct tune *tune)
{
    struct notes *warnings = &tune->session->warnings;
    char text[FACTORS_TEXT_SIZE];
    const char *split = factors_format(&tune->records[tune->split].point, text);
    if (tune->split_gain.has)
        notes_add(warnings, "split_not_worth",
                  "splitting is not worth it: %s is %.2f x as good as one size for reads and writes "
                  "(%g %% interval %.2f to %.2f)",
                  split, tune->split_gain.mean, tune->settings->runs.confidence_share * 100,
                  tune->split_gain.ci.low, tune->split_gain.ci.high);
    else
        notes_add(
            warnings, "split_not_worth",
            "splitting is not proved to be worth it: there were too few replays of %s to compare it with "
            "one size for reads and writes",
            split);
}

/* The rate counts reads and writes together. With two sizes the share of bytes that are read changes, and
 * that alone may change the rate. */
static void note_shares(struct tune *tune)
{
    const struct pattern *pattern = &tune->settings->workload.pattern;
    const struct point *point = &tune->records[tune->split].point;
    double reads = pattern->percent[PATTERN_SEQ_READ] + pattern->percent[PATTERN_RAND_READ];
    double read_bytes = reads / 100 * (double)point->request_size_bytes;
    notes_add(
        &tune->session->warnings, "split_shares",
        "%.0f %% of the requests are reads, but %.1f %% of the bytes: two sizes move another mix of bytes "
        "than one size does, and that is part of the gain",
        reads, 100 * read_bytes / measure_request_bytes(pattern, point));
}

void tune_weigh_split(struct tune *tune)
{
    tune->split_gain.has = false;
    if (tune->engine.chosen == ENGINE_NONE || tune->split == ENGINE_NONE)
        return;
    if (tune->unsplit == ENGINE_NONE) {
        notes_add(
            &tune->session->warnings, "split_not_compared",
            "no setting with one size for reads and writes was measured or can be chosen: what two sizes "
            "gain is not known");
        return;
    }
    compare_pair(tune);
    tune->engine.keeps_choice = true;
    if (tune->split_gain.has && tune->split_gain.ci.low > 1) {
        if (tune->engine.chosen == tune->split)
            note_shares(tune);
        return;
    }
    if (tune_distrust(tune, tune->unsplit) == 0 && tune->records[tune->unsplit].failed == 0 &&
        !engine_misses_limit(&tune->engine, tune->unsplit))
        tune->engine.chosen = tune->unsplit;
    note_not_worth(tune);
}
