/* What tonight's replays say beside those of earlier nights. */
#include "tuner/nightly/retune_decide.h"

#include <math.h>

/* A point that tonight's confirming replays compare with the current setting. */
struct night_contender {
    size_t point; /* index of tune */
    struct nights_estimate tonight;
    struct nights_pooled pooled;
    enum nights_decision decision;
};

struct night_contenders {
    struct night_contender list[RETUNE_STATE_MAX_CONFIRMING];
    size_t n;
    const struct night_contender
        *lead; /* what is changed to, else the best by what is pooled; NULL: there is none */
};

/* Of the response over the confirming replays. */
static struct moments response_moments(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    struct moments moments = {0};
    for (size_t i = 0; i < record->n; i++) {
        if (record->samples[i].confirming)
            moments_add(&moments, tune_response(tune, &record->samples[i]));
    }
    return moments;
}

void retune_decide_first(const struct tune *tune, struct retune_record *record)
{
    *record = (struct retune_record){0};
    for (size_t i = 0; i < tune->n_records && record->n_confirming < RETUNE_STATE_MAX_CONFIRMING; i++) {
        struct moments response = response_moments(tune, i);
        if (response.n == 0 || !isfinite(response.mean) || tune_distrust(tune, i) != 0)
            continue;
        record->confirming[record->n_confirming++] = (struct retune_confirming){
            tune->records[i].point, response, record_log_moments(&tune->records[i], true)};
    }
}

/* Advice that goes to and fro costs trust, and chance gets a draw every night: a third change must be worth
 * it. */
static double needed_share(const struct retune_request *request, size_t n_changes)
{
    return request->settings->search.tolerance_share *
           (n_changes < NIGHT_MAX_CHANGES ? 1 : 1 + (double)n_changes);
}

static struct night_contender contend(const struct retune_request *request, const struct nights_rule *rule,
                                      const struct tune *tune, const struct retune_state *memory,
                                      const struct retune_record *tonight, size_t point)
{
    struct nights_estimate nights[NIGHT_MAX_PAST + 1];
    struct nights_scatter scatter = request->scatter;
    struct night_contender contender = {.point = point};
    const struct point *own = &tune->records[point].point;
    size_t n = retune_state_row(memory, own, &tonight->in_force, nights, NIGHT_MAX_PAST);
    contender.tonight =
        nights_difference(response_moments(tune, point), response_moments(tune, tune->engine.baseline));
    nights[n++] = contender.tonight;
    size_t row = nights_row_above(nights, n, rule->tolerance_share);
    retune_state_learn(memory, tonight, own, memory->n + 1 - (row > 0 ? row : 1), &scatter);
    contender.decision = nights_decide(rule, nights, n, &scatter, &contender.pooled);
    return contender;
}

/* A contender that is changed to before one that is not; then tonight's choice, which is the cheapest of
 * those as good as the best; then by the pooled gain. */
static bool leads(const struct tune *tune, const struct night_contender *a, const struct night_contender *b)
{
    bool a_changes = a->decision == NIGHTS_CHANGE, b_changes = b->decision == NIGHTS_CHANGE;
    if (a_changes != b_changes)
        return a_changes;
    if (a_changes && a->point == tune->engine.chosen)
        return true;
    if (b_changes && b->point == tune->engine.chosen)
        return false;
    return a->pooled.log_mean > b->pooled.log_mean;
}

static bool is_contender(struct tune *tune, size_t point)
{
    return point != tune->engine.baseline &&
           record_count(&tune->records[point], true) >= ENGINE_MIN_REPLAYS &&
           engine_is_eligible(&tune->engine, point);
}

static void find_contenders(const struct retune_request *request, const struct nights_rule *rule,
                            struct tune *tune, const struct retune_state *memory,
                            struct night_contenders *contenders)
{
    struct retune_record tonight;
    retune_decide_first(tune, &tonight);
    tonight.has_in_force = true;
    tonight.in_force = tune->records[tune->engine.baseline].point;
    for (size_t i = 0; i < tune->space.n_points && contenders->n < RETUNE_STATE_MAX_CONFIRMING; i++) {
        if (!is_contender(tune, i))
            continue;
        struct night_contender contender = contend(request, rule, tune, memory, &tonight, i);
        if (!isfinite(contender.pooled.log_mean))
            continue;
        struct night_contender *place = &contenders->list[contenders->n++];
        *place = contender;
        if (contenders->lead == NULL || leads(tune, place, contenders->lead))
            contenders->lead = place;
    }
}

static struct retune_figure figure_of_logs(double log_mean, struct interval interval, size_t n)
{
    return (struct retune_figure){exp(log_mean), {exp(interval.low), exp(interval.high)}, n};
}

static void set_expected(struct retune_result *result, const struct nights_expected *expected)
{
    if (expected->n > 0)
        result->expected = figure_of_logs(expected->log_mean, expected->interval, expected->n);
}

/* Tonight is as fast as the nights before it; compares with the best level that was held earlier. */
static void expect_held(const struct retune_request *request, struct nights_estimate *levels, size_t n,
                        struct moments now, struct retune_result *result)
{
    struct nights_expected held;
    double newest;
    levels[n++] = (struct nights_estimate){now.mean, now.std * now.std / (double)now.n, (double)now.n - 1};
    if (nights_expect_held(levels, n, request->settings->runs.confidence_share, &held, &newest) < 0 ||
        !nights_is_down(&held, newest, request->alarm_share))
        return;
    result->behind |= NIGHT_BEHIND_THROUGHPUT;
    result->drifted = true;
    set_expected(result, &held);
}

static void expect(const struct retune_request *request, const struct tune *tune,
                   const struct retune_state *memory, struct retune_result *result)
{
    struct nights_estimate levels[NIGHT_MAX_PAST + 1];
    struct nights_expected expected = {0};
    const struct record *in_force = &tune->records[tune->engine.baseline];
    struct moments now = record_log_moments(in_force, true);
    size_t n = retune_state_levels(memory, &in_force->point, levels, NIGHT_MAX_PAST);
    int status = nights_expect(levels, n, now.std * now.std / (double)now.n,
                               request->settings->runs.confidence_share, &expected);
    set_expected(result, &expected);
    if (status < 0)
        return;
    if (nights_is_down(&expected, now.mean, request->alarm_share))
        result->behind |= NIGHT_BEHIND_THROUGHPUT;
    else
        expect_held(request, levels, n, now, result);
}

static void set_contender(struct retune_result *result, const struct tune *tune,
                          const struct night_contender *contender)
{
    double confidence = tune->settings->runs.confidence_share;
    struct welch welch = {contender->tonight.log_mean, sqrt(contender->tonight.variance),
                          contender->tonight.df};
    result->has_contender = true;
    result->contender = tune->records[contender->point].point;
    result->gain_tonight = figure_of_logs(contender->tonight.log_mean, welch_interval(welch, confidence),
                                          record_count(&tune->records[contender->point], true));
    result->gain_pooled =
        figure_of_logs(contender->pooled.log_mean, contender->pooled.interval, contender->pooled.n);
}

/* The most promising first. */
static void remember_pending(const struct tune *tune, struct night_contenders *contenders,
                             struct retune_record *record)
{
    while (record->n_pending < NIGHT_MAX_PENDING) {
        struct night_contender *next = NULL;
        for (size_t i = 0; i < contenders->n; i++) {
            struct night_contender *contender = &contenders->list[i];
            if (contender->decision == NIGHTS_PENDING &&
                (next == NULL || contender->pooled.log_mean > next->pooled.log_mean))
                next = contender;
        }
        if (next == NULL)
            break;
        next->decision = NIGHTS_NO; /* it is taken */
        record->pending[record->n_pending++] = tune->records[next->point].point;
    }
    /* A point that tonight's budget could not pay for is measured first the next night. */
    if (record->n_pending == 0 && tune->engine.confirm.unpaid != ENGINE_NONE &&
        tune->engine.confirm.unpaid != tune->engine.default_setting)
        record->pending[record->n_pending++] = tune->records[tune->engine.confirm.unpaid].point;
}

size_t retune_decide(const struct retune_request *request, struct tune *tune,
                     const struct retune_state *memory, struct retune_result *result,
                     struct retune_record *ret_record)
{
    struct nights_rule rule = {.tolerance_share = request->settings->search.tolerance_share,
                               .nights_needed = request->nights_needed,
                               .confidence_share = request->settings->runs.confidence_share};
    struct nights_rule change = rule;
    struct night_contenders contenders = {.n = 0};
    result->n_changes =
        retune_state_changes(memory, &tune->records[tune->engine.baseline].point, NIGHT_CHANGES_NIGHTS);
    result->needed_share = change.tolerance_share = needed_share(request, result->n_changes);
    find_contenders(request, &change, tune, memory, &contenders);
    expect(request, tune, memory, result);
    retune_decide_first(tune, ret_record);
    ret_record->has_in_force = true;
    ret_record->in_force = tune->records[tune->engine.baseline].point;
    ret_record->down = (result->behind & NIGHT_BEHIND_THROUGHPUT) != 0;
    result->has_recommendation = true;
    result->recommendation = result->in_force;
    result->verdict = NIGHT_NO_CHANGE;
    const struct night_contender *lead = contenders.lead;
    if (lead != NULL)
        set_contender(result, tune, lead);
    if (lead != NULL && lead->decision == NIGHTS_CHANGE) {
        result->verdict = NIGHT_CHANGE;
        result->recommendation = result->contender;
        return lead->point;
    }
    if (lead != NULL && nights_is_behind(&rule, &lead->pooled, request->alarm_share))
        result->behind |= NIGHT_BEHIND_SETTINGS;
    if (lead != NULL && lead->decision == NIGHTS_PENDING)
        result->verdict = NIGHT_PENDING;
    remember_pending(tune, &contenders, ret_record);
    return tune->engine.baseline;
}
