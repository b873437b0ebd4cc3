/* What tonight's replays say beside those of earlier nights. */
#include "tuner/nightly/retune_decide.h"

#include <math.h>
#include <stdint.h>

struct moments retune_decide_moments(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    struct moments moments = {0};
    for (size_t i = 0; i < record->n; i++) {
        if (record->samples[i].confirming)
            moments_add(&moments, tune_response(tune, &record->samples[i]));
    }
    return moments;
}

/* Advice that goes to and fro costs trust, and chance gets a draw every night: a third change must be worth
 * it. */
static double needed_share(const struct retune_request *request, size_t n_changes)
{
    return request->settings->search.tolerance_share *
           (n_changes < NIGHT_MAX_CHANGES ? 1 : 1 + (double)n_changes);
}

static struct nights_rule rule_of(const struct retune_request *request)
{
    return (struct nights_rule){.tolerance_share = request->settings->search.tolerance_share,
                                .nights_needed = request->nights_needed,
                                .confidence_share = request->settings->runs.confidence_share,
                                .lenient = request->lenient};
}

static struct retune_contender contend(const struct retune_request *request, const struct nights_rule *rule,
                                       const struct tune *tune, const struct retune_state *memory,
                                       const struct retune_record *tonight, size_t point)
{
    struct nights_estimate nights[NIGHT_MAX_PAST + 1];
    struct nights_scatter scatter = request->scatter;
    struct retune_contender contender = {.point = point};
    const struct point *own = &tune->records[point].point;
    size_t n = retune_state_row(memory, own, &tonight->in_force, nights, NIGHT_MAX_PAST);
    contender.tonight =
        nights_difference(retune_decide_moments(tune, point), retune_decide_moments(tune, tune->baseline));
    nights[n++] = contender.tonight;
    size_t row = nights_row_above(nights, n, rule->tolerance_share);
    retune_state_learn(memory, tonight, own, memory->n + 1 - (row > 0 ? row : 1), &scatter);
    contender.decision = nights_decide(rule, nights, n, &scatter, &contender.pooled);
    return contender;
}

/* A contender that is changed to before one that is not; then tonight's choice, which is the cheapest of
 * those as good as the best; then by the pooled gain. */
static bool leads(const struct tune *tune, const struct retune_contender *a, const struct retune_contender *b)
{
    bool a_changes = a->decision == NIGHTS_CHANGE, b_changes = b->decision == NIGHTS_CHANGE;
    if (a_changes != b_changes)
        return a_changes;
    if (a_changes && a->point == tune->chosen)
        return true;
    if (b_changes && b->point == tune->chosen)
        return false;
    return a->pooled.log_mean > b->pooled.log_mean;
}

static bool is_contender(struct tune *tune, size_t point)
{
    return point != tune->baseline && record_count(&tune->records[point], true) >= TUNE_MIN_REPLAYS &&
           tune_is_eligible(tune, point);
}

static void find_contenders(const struct retune_request *request, const struct nights_rule *rule,
                            struct tune *tune, const struct retune_state *memory,
                            struct retune_decision *judgement)
{
    struct retune_record tonight;
    retune_decide_record(tune, NULL, &tonight);
    tonight.has_in_force = true;
    tonight.in_force = tune->records[tune->baseline].point;
    for (size_t i = 0; i < tune->space.n_points && judgement->n_contenders < RETUNE_STATE_MAX_CONFIRMING;
         i++) {
        if (!is_contender(tune, i))
            continue;
        struct retune_contender contender = contend(request, rule, tune, memory, &tonight, i);
        if (!isfinite(contender.pooled.log_mean))
            continue;
        size_t place = judgement->n_contenders++;
        judgement->contenders[place] = contender;
        if (judgement->lead == SIZE_MAX || leads(tune, &contender, &judgement->contenders[judgement->lead]))
            judgement->lead = place;
    }
}

/* Tonight is as fast as the nights before it; compares with the best level that was held earlier. */
static void expect_held(const struct retune_request *request, struct nights_estimate *levels, size_t n,
                        struct moments now, struct retune_decision *judgement)
{
    struct nights_expected held;
    double newest;
    levels[n++] = (struct nights_estimate){now.mean, now.std * now.std / (double)now.n, (double)now.n - 1};
    if (nights_expect_held(levels, n, request->settings->runs.confidence_share, &held, &newest) < 0 ||
        !nights_is_down(&held, newest, request->alarm_share))
        return;
    judgement->behind |= NIGHT_BEHIND_THROUGHPUT;
    judgement->drifted = true;
    judgement->expected = held;
}

static void expect(const struct retune_request *request, const struct tune *tune,
                   const struct retune_state *memory, struct retune_decision *judgement)
{
    struct nights_estimate levels[NIGHT_MAX_PAST + 1];
    const struct record *in_force = &tune->records[tune->baseline];
    struct moments now = record_log_moments(in_force, true);
    size_t n = retune_state_levels(memory, &in_force->point, levels, NIGHT_MAX_PAST);
    judgement->in_force_log_bps = now;
    if (nights_expect(levels, n, now.std * now.std / (double)now.n, request->settings->runs.confidence_share,
                      &judgement->expected) < 0)
        return;
    if (nights_is_down(&judgement->expected, now.mean, request->alarm_share))
        judgement->behind |= NIGHT_BEHIND_THROUGHPUT;
    else
        expect_held(request, levels, n, now, judgement);
}

void retune_decide(const struct retune_request *request, struct tune *tune, const struct retune_state *memory,
                   struct retune_decision *ret_judgement)
{
    const struct nights_rule rule = rule_of(request);
    struct nights_rule change = rule;
    *ret_judgement = (struct retune_decision){.lead = SIZE_MAX};
    ret_judgement->n_changes =
        retune_state_changes(memory, &tune->records[tune->baseline].point, NIGHT_CHANGES_NIGHTS);
    change.tolerance_share = needed_share(request, ret_judgement->n_changes);
    ret_judgement->tolerance_share = change.tolerance_share;
    find_contenders(request, &change, tune, memory, ret_judgement);
    expect(request, tune, memory, ret_judgement);
    if (ret_judgement->lead == SIZE_MAX)
        return;
    const struct retune_contender *lead = &ret_judgement->contenders[ret_judgement->lead];
    ret_judgement->change = lead->decision == NIGHTS_CHANGE;
    if (!ret_judgement->change && nights_is_behind(&rule, &lead->pooled, request->alarm_share))
        ret_judgement->behind |= NIGHT_BEHIND_SETTINGS;
}

static void remember_confirming(const struct tune *tune, struct retune_record *record)
{
    for (size_t i = 0; i < tune->n_records && record->n_confirming < RETUNE_STATE_MAX_CONFIRMING; i++) {
        struct moments response = retune_decide_moments(tune, i);
        if (response.n == 0 || !isfinite(response.mean) || tune_distrust(tune, i) != 0)
            continue;
        record->confirming[record->n_confirming++] = (struct retune_confirming){
            tune->records[i].point, response, record_log_moments(&tune->records[i], true)};
    }
}

/* The most promising first. */
static void remember_pending(const struct tune *tune, const struct retune_decision *judgement,
                             struct retune_record *record)
{
    bool taken[RETUNE_STATE_MAX_CONFIRMING] = {false};
    while (record->n_pending < NIGHT_MAX_PENDING) {
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < judgement->n_contenders; i++) {
            const struct retune_contender *contender = &judgement->contenders[i];
            if (!taken[i] && contender->decision == NIGHTS_PENDING &&
                (next == SIZE_MAX ||
                 contender->pooled.log_mean > judgement->contenders[next].pooled.log_mean))
                next = i;
        }
        if (next == SIZE_MAX)
            return;
        taken[next] = true;
        record->pending[record->n_pending++] = tune->records[judgement->contenders[next].point].point;
    }
}

void retune_decide_record(const struct tune *tune, const struct retune_decision *judgement,
                          struct retune_record *ret_record)
{
    *ret_record = (struct retune_record){0};
    remember_confirming(tune, ret_record);
    if (judgement == NULL)
        return;
    ret_record->has_in_force = true;
    ret_record->in_force = tune->records[tune->baseline].point;
    ret_record->down = (judgement->behind & NIGHT_BEHIND_THROUGHPUT) != 0;
    if (judgement->change)
        return;
    remember_pending(tune, judgement, ret_record);
    /* A point that tonight's budget could not pay for is measured first the next night. */
    if (ret_record->n_pending == 0 && tune->unpaid != TUNE_NONE && tune->unpaid != tune->default_setting)
        ret_record->pending[ret_record->n_pending++] = tune->records[tune->unpaid].point;
}
