/* tuner/nightly/report_retune: a night as JSON (schema fstune/retune/1). */
#include "tuner/nightly/report_retune.h"

#include "bench/base/clock.h"
#include "tuner/base/json.h"

#include <math.h>

static json_t *figure_or_null(const struct retune_figure *figure, bool known)
{
    return known && isfinite(figure->mean) ? night_figure_json(figure) : json_null();
}

static json_t *point_or_null(const struct point *point, bool known)
{
    return known ? json_point(point) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_text(text) : json_null();
}

static void add_behind(json_t *object, unsigned behind)
{
    json_t *list = json_array();
    if ((behind & NIGHT_BEHIND_SETTINGS) != 0)
        json_array_append_new(list, json_string("settings"));
    if ((behind & NIGHT_BEHIND_THROUGHPUT) != 0)
        json_array_append_new(list, json_string("throughput"));
    json_object_set_new(object, "behind", list);
}

static void add_night(json_t *object, const struct retune_outcome *outcome)
{
    const struct retune_result *night = &outcome->night;
    json_object_set_new(object, "first", json_boolean(night->first));
    json_object_set_new(object, "in_force", point_or_null(&night->in_force, night->has_in_force));
    json_object_set_new(object, "advice", point_or_null(&night->recommendation, night->has_recommendation));
    json_object_set_new(object, "contender", point_or_null(&night->contender, night->has_contender));
    json_object_set_new(object, "gain_tonight", figure_or_null(&night->gain_tonight, night->has_contender));
    json_object_set_new(object, "gain_pooled", figure_or_null(&night->gain_pooled, night->has_contender));
    json_object_set_new(object, "throughput", figure_or_null(&night->throughput, true));
    json_object_set_new(object, "expected", figure_or_null(&night->expected, true));
    json_object_set_new(object, "evidence", json_text(night->evidence));
    add_behind(object, night->behind);
    json_object_set_new(object, "action", json_string(retune_action_names[outcome->action]));
    json_object_set_new(object, "seconds", json_number(night->seconds));
    json_object_set_new(object, "bytes_read", json_integer((json_int_t)night->bytes_read));
    json_object_set_new(object, "document",
                        night->document != NULL ? json_incref(night->document) : json_null());
}

static const char *verdict(const struct retune_outcome *outcome)
{
    if (outcome->measured)
        return night_verdict_names[outcome->night.verdict];
    return outcome->skipped ? "skipped" : outcome->failed ? "failed" : "interrupted";
}

static json_t *target_json(const struct retune_outcome *outcome)
{
    const struct retune_result *night = &outcome->night;
    uint64_t written = outcome->kept_bytes + (outcome->measured ? night->bytes_written : 0);
    uint64_t filled = outcome->kept_bytes + (outcome->measured ? night->filled_bytes : 0);
    json_t *object = json_pack("{s:s, s:o, s:o, s:s, s:i, s:o, s:o, s:i, s:I, s:I}", "target",
                               outcome->target->name, "path", json_text(outcome->target->settings.file.path),
                               "pattern", json_pattern(&outcome->target->settings.workload.pattern),
                               "verdict", verdict(outcome), "exit_code", outcome->exit_code, "reason",
                               text_or_null(outcome->measured && night->reason[0] != '\0' ? night->reason
                                            : outcome->skipped || outcome->failed         ? outcome->text
                                                                                          : ""),
                               "text", text_or_null(outcome->text), "skipped_nights", (int)outcome->n_skipped,
                               "bytes_written", (json_int_t)written, "filled_bytes", (json_int_t)filled);
    if (object != NULL && outcome->measured)
        add_night(object, outcome);
    return object;
}

/* The reason of exit code 4, or of whatever else the code tells: that of the first target with that code. */
static json_t *reason_of(const struct retune_report *report)
{
    for (size_t i = 0; i < report->n && report->exit_code != 0; i++) {
        const struct retune_outcome *outcome = &report->outcomes[i];
        if (outcome->exit_code == report->exit_code)
            return text_or_null(outcome->measured && !outcome->failed ? outcome->night.reason
                                                                      : outcome->text);
    }
    return json_null();
}

/* Simulated nights give the same bytes whenever they are. */
static json_t *ended_at(const struct retune_report *report)
{
    char now[24];
    bool simulated = report->n > 0;
    for (size_t i = 0; i < report->n; i++)
        simulated = simulated && report->outcomes[i].target->settings.file.simulate[0] != '\0';
    clock_format_utc(now);
    return simulated ? json_null() : json_string(now);
}

json_t *report_retune_document(const struct retune_report *report)
{
    json_t *targets = json_array();
    for (size_t i = 0; i < report->n; i++)
        json_array_append_new(targets, target_json(&report->outcomes[i]));
    return json_pack("{s:s, s:s, s:b, s:o, s:i, s:o, s:o}", "schema", "fstune/retune/1", "version",
                     FSTUNE_VERSION, "interrupted", report->interrupted, "ended_at", ended_at(report),
                     "exit_code", report->exit_code, "reason", reason_of(report), "targets", targets);
}

json_t *report_retune_plan_json(const struct retune_target *target, const struct point *in_force)
{
    const struct settings *settings = &target->settings;
    return json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:b}", "target", target->name, "path",
                     json_text(settings->file.path), "pattern", json_pattern(&settings->workload.pattern),
                     "first_budget_ns", (json_int_t)target->first_budget_ns, "budget_ns",
                     (json_int_t)settings->limits.budget_ns, "max_write",
                     (json_int_t)settings->limits.max_write_bytes, "in_force",
                     point_or_null(in_force, in_force != NULL), "snippet", text_or_null(target->snippet),
                     "keep_file", target->keep_file);
}
