/* The answer of `recommend`, made once for text and JSON. */
#include "tuner/report/answer.h"
#include "tuner/report/report_objective.h"
#include "tuner/report/report_sustained.h"
#include "tuner/search/profiles.h"
#include "tuner/session/warnings.h"

#include <math.h>
#include <string.h>

#define OTHER_TIME_LOG 0.1 /* of a ratio of rates, which chance and the model may put it off */

static bool has_fresh(const struct tune *tune, size_t point)
{
    return point != ENGINE_NONE && record_count(&tune->records[point], true) >= ENGINE_MIN_REPLAYS;
}

bool answer_takes_fresh(const struct tune *tune, size_t point)
{
    return has_fresh(tune, point) && has_fresh(tune, tune->engine.chosen);
}

static bool row_for(const struct tune *tune, size_t point, struct row *ret_row)
{
    if (point == ENGINE_NONE || tune->records[point].n == 0)
        return false;
    return tune_row(tune, point, answer_takes_fresh(tune, point), ret_row) == 0;
}

/* What the search believes, by the runs of all settings; without a model, and of settings outside the space,
 * what their own runs say. NaN without a figure. */
static double believed_of(const struct tune *tune, size_t i)
{
    const struct belief *belief = &tune->engine.belief;
    const struct record *record = &tune->records[i];
    double sum = 0;
    if (belief->chosen != NULL && i < tune->space.n_points && belief->moments[i].n > 0 &&
        !belief->excluded[i])
        return belief->mean[i];
    for (size_t k = 0; k < record->n; k++)
        sum += tune_response(tune, &record->samples[k]);
    return sum / (double)record->n;
}

static double mean_of_fresh(const struct record *record)
{
    double sum = 0;
    for (size_t i = 0; i < record->n; i++)
        sum += record->samples[i].confirming ? record->samples[i].throughput_bps : 0;
    return sum / (double)record_count(record, true);
}

bool answer_is_fresh(const struct tune *tune, size_t i)
{
    return tune_is_of_throughput(tune) && answer_takes_fresh(tune, i) &&
           answer_takes_fresh(tune, tune->engine.best);
}

double answer_worth(const struct tune *tune, size_t i)
{
    if (!answer_is_fresh(tune, i))
        return believed_of(tune, i);
    double best = mean_of_fresh(&tune->records[tune->engine.best]);
    double chosen = mean_of_fresh(&tune->records[tune->engine.chosen]);
    return believed_of(tune, tune->engine.best) + log(mean_of_fresh(&tune->records[i]) / fmax(best, chosen));
}

double answer_share(const struct tune *tune, size_t i)
{
    if (tune->engine.best == ENGINE_NONE || tune->records[i].n == 0)
        return NAN;
    return exp(answer_worth(tune, i) - believed_of(tune, tune->engine.best));
}

bool answer_best_is_slower(const struct tune *tune)
{
    return answer_share(tune, tune->engine.best) < 1 - ANSWER_LEAST_MORE;
}

double answer_percent(const struct tune *tune, size_t i)
{
    double share = answer_share(tune, i), edge = 1 - answer_tolerance_share(tune);
    return share < edge && round(100 * share) > 100 * edge - 1e-6 ? floor(100 * share) : round(100 * share);
}

double answer_tolerance_share(const struct tune *tune)
{
    const struct settings_search *search = &tune->settings->search;
    double of_score = objective_share(tune->settings, tune->engine.tolerance);
    return search->profile != PROFILE_MAX_THROUGHPUT ? ceil(100 * of_score - 1e-9) / 100
                                                     : search->tolerance_share;
}

/* Throughput of the chosen over another point's (interfaces, section 6). */
static struct objective_ratio ratio_of(const struct tune *tune, size_t other)
{
    return objective_ratio(&tune->records[tune->engine.chosen], &tune->records[other],
                           answer_takes_fresh(tune, other), tune->settings->runs.confidence_share,
                           objective_table[OBJECTIVE_THROUGHPUT].value);
}

/* Something speaks against every point that was measured, and which codes: "existing_has_holes, not_cold". */
static bool nothing_trusted(const struct tune *tune, char *codes, size_t size)
{
    uint64_t against = 0;
    size_t used = 0;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        uint64_t distrust = tune_distrust(tune, i);
        if (tune->records[i].n > 0 && distrust == 0)
            return false;
        against |= distrust;
    }
    for (unsigned warning = 0; warning < WARNING_N; warning++) {
        /* A code is named whole or not at all. */
        if ((against & WARNINGS_BIT(warning)) != 0 && used + strlen(warnings_table[warning].code) + 2 < size)
            used += (size_t)snprintf(codes + used, size - used, "%s%s", used > 0 ? "," : "",
                                     warnings_table[warning].code);
    }
    return against != 0;
}

/* Whether all settings that were measured are over the limit on p99; else some have too few requests. */
static bool all_over_limit(const struct tune *tune)
{
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (tune->records[i].n > 0 && !engine_misses_limit(&tune->engine, i))
            return false;
    }
    return true;
}

static const char *reason_of(const struct tune *tune)
{
    if (tune->engine.stop == ENGINE_STOP_INTERRUPTED)
        return "interrupted before anything could be measured";
    if (tune->settings->search.max_latency_p99_ns != 0 && tune->engine.belief.n_measured > 0)
        return all_over_limit(tune)
                   ? "no measured setting meets --max-latency-p99"
                   : "no setting was shown to meet --max-latency-p99: those that may meet it have "
                     "had too few requests; give a larger --budget";
    if (tune->settings->search.neighbour_limit_share > 0 && tune->engine.belief.n_measured > 0)
        return all_over_limit(tune)
                   ? "no measured setting keeps --neighbour-limit"
                   : "no setting was shown to keep --neighbour-limit; give a larger --budget";
    if (tune->settings->beside.limit_p99_ns != 0 && tune->engine.belief.n_measured > 0)
        return "no measured setting keeps --beside-limit";
    if (tune->n_unsupported > 0)
        return "no run has enough requests for a p99; give a longer --duration or --budget";
    if (tune->engine.stop == ENGINE_STOP_WRITES)
        return "the write budget (--max-write) allows no run";
    if (tune->failure.code != 0)
        return tune->failure.text;
    if (tune->session->target.fill_seconds > (double)tune->settings->limits.budget_ns / 1e9 / 2)
        return "filling the test file took most of the budget; give a larger --budget or a smaller "
               "--file-size";
    return "nothing could be measured within the budget";
}

/* Would the rate of the chosen point last, and did the device change during the search? */
static void judge_sustained(struct answer *answer)
{
    const struct tune *tune = answer->tune;
    struct notes *warnings = &tune->session->warnings;
    struct sustained_change command;
    answer->has_sustained =
        sustained_judge(&tune->sustained, tune->engine.chosen, false, &answer->sustained) == 0;
    if (sustained_judge_command(&tune->sustained, &command) == 0)
        report_sustained_note_command(warnings, &command);
    report_sustained_note_wander(warnings, &tune->engine.belief.wander, tune->engine.belief.n_told);
    if (answer->has_sustained)
        report_sustained_note(warnings, &answer->sustained, &answer->chosen.point);
}

/* What the search made of runs that do not fit the others of their point. */
static void note_outliers(const struct tune *tune)
{
    struct notes *warnings = &tune->session->warnings;
    size_t n_outliers = belief_outlier_runs(&tune->engine.belief),
           n_levels = belief_two_level_points(&tune->engine.belief);
    if (n_outliers > 0)
        notes_add(warnings, "outlier_runs",
                  "runs far off the others of their setting: %zu of %zu; they count little in the search, "
                  "and fully in the figures",
                  n_outliers, tune->engine.belief.n_told);
    if (n_levels > 0)
        notes_add(warnings, "two_level_points",
                  "settings whose runs fall into two levels: %zu; the search ranks them by the mean of all "
                  "their runs",
                  n_levels);
}

void answer_prepare(struct answer *answer, struct tune *tune)
{
    *answer = (struct answer){.tune = tune, .interrupted = tune->engine.stop == ENGINE_STOP_INTERRUPTED};
    answer->has_baseline = row_for(tune, tune->engine.baseline, &answer->baseline);
    answer->has_default_setting = row_for(tune, tune->engine.default_setting, &answer->default_setting);
    answer->splits = settings_splits_sizes(tune->settings);
    answer->has_split = row_for(tune, tune->split, &answer->split);
    answer->has_unsplit = row_for(tune, tune->unsplit, &answer->unsplit);
    tune_note_distrust(tune);
    note_outliers(tune);
    session_note_target(tune->session);
    report_objective_note(tune);
    /* Without memory for it there is none: the answer does not need it. */
    (void)profiles_judge(tune);
    if (tune->engine.chosen == ENGINE_NONE) {
        char codes[256];
        answer->reason = reason_of(tune);
        if (!answer->interrupted && nothing_trusted(tune, codes, sizeof codes)) {
            snprintf(
                answer->reason_text, sizeof answer->reason_text,
                "no setting that was measured can be trusted: %s; see the warnings, and give --accept %s to "
                "recommend one all the same",
                codes, codes);
            answer->reason = answer->reason_text;
        }
        return;
    }
    answer->has_rows = row_for(tune, tune->engine.chosen, &answer->chosen) &&
                       row_for(tune, tune->engine.best, &answer->best);
    size_t n_confirming = record_count(&tune->records[tune->engine.chosen], true);
    answer->confirming = n_confirming >= ENGINE_CONFIRMING_LEAST;
    if (answer->has_baseline)
        answer->speedup = ratio_of(tune, tune->engine.baseline);
    if (answer->has_default_setting)
        answer->default_speedup = ratio_of(tune, tune->engine.default_setting);
    struct notes *warnings = &tune->session->warnings;
    warnings_note(warnings, answer->chosen.warning_set, 0);
    judge_sustained(answer);
    if (!answer->confirming)
        notes_add(warnings, "not_confirmed",
                  "%zu replay%s made after the choice, fewer than %d: the figures may flatter it",
                  n_confirming, n_confirming == 1 ? " was" : "s were", ENGINE_CONFIRMING_LEAST);
}

/* As it stands in the answer, which names it. */
static const struct row *named_row(const struct answer *answer, size_t i)
{
    const struct engine *engine = &answer->tune->engine;
    if (!answer->has_rows)
        return NULL;
    if (i == engine->chosen || i == engine->best)
        return i == engine->chosen ? &answer->chosen : &answer->best;
    if (i == engine->baseline && answer->has_baseline)
        return &answer->baseline;
    return i == engine->default_setting && answer->has_default_setting ? &answer->default_setting : NULL;
}

int answer_row(const struct answer *answer, size_t i, struct row *ret_row)
{
    const struct row *named = named_row(answer, i);
    if (named == NULL)
        return tune_row(answer->tune, i, answer_is_fresh(answer->tune, i), ret_row);
    *ret_row = *named;
    return 0;
}

bool answer_is_of_another_time(const struct answer *answer, size_t i, const struct row *row)
{
    const struct tune *tune = answer->tune;
    const struct notes *warnings = &tune->session->warnings;
    if (!answer->has_rows || !tune_is_of_throughput(tune) ||
        !(notes_has(warnings, "rate_changed") || notes_has(warnings, "rate_wanders")))
        return false;
    double expected_log = answer_worth(tune, i) - answer_worth(tune, tune->engine.chosen);
    return fabs(log(row->mean_bps / answer->chosen.mean_bps) - expected_log) > OTHER_TIME_LOG;
}
