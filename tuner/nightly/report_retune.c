/* tuner/nightly/report_retune: a night in words, and as JSON (schema fstune/retune/1). */
#include "tuner/nightly/report_retune.h"

#include "bench/base/clock.h"
#include "bench/base/units.h"
#include "tuner/base/fail.h"
#include "tuner/base/json.h"

#include <math.h>

#define SHOWN 400

static void print_line(FILE *out, const char *what, const char *text)
{
    if (text[0] != '\0')
        fprintf(out, "  %-11s %s\n", what, text);
}

static void print_throughput(FILE *out, const struct retune_result *night)
{
    char mean[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    if (!isfinite(night->throughput.mean))
        return;
    fprintf(out, "  %-11s %s", "throughput", units_format_rate(night->throughput.mean, mean));
    if (isfinite(night->throughput.interval.low))
        fprintf(out, " (%s to %s, %zu replays)", units_format_rate(night->throughput.interval.low, low),
                units_format_rate(night->throughput.interval.high, high), night->throughput.n);
    if (isfinite(night->expected.mean))
        fprintf(out, "; earlier nights: %s", units_format_rate(night->expected.mean, mean));
    fputc('\n', out);
}

static void print_contender(FILE *out, const struct retune_result *night)
{
    char text[FACTORS_TEXT_SIZE];
    const struct retune_figure *gain = &night->gain_tonight;
    if (!night->has_contender || night->verdict == NIGHT_FIRST)
        return;
    fprintf(out, "  %-11s %s", "contender", factors_format(&night->contender, text));
    if (isfinite(gain->mean))
        fprintf(out, ": x %.3f", gain->mean);
    if (isfinite(gain->mean) && isfinite(gain->interval.low))
        fprintf(out, " (%.3f to %.3f)", gain->interval.low, gain->interval.high);
    fputc('\n', out);
}

static void print_cost(FILE *out, const struct retune_outcome *outcome)
{
    char written[UNITS_TEXT_SIZE], fill[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    const struct retune_result *night = &outcome->night;
    uint64_t filled = night->filled_bytes + outcome->kept_bytes;
    uint64_t bytes = night->bytes_written + outcome->kept_bytes;
    double ns = night->seconds * 1e9;
    fprintf(out, "  %-11s %s, %s written", "cost",
            units_format_duration(ns > 0 && ns < 1e18 ? (uint64_t)ns : 0, time),
            units_format_bytes(bytes, written));
    if (filled > 0)
        fprintf(out, " (%s of it to fill the file%s)", units_format_bytes(filled, fill),
                outcome->kept_bytes > 0 ? ", which stays for later nights" : "");
    fputc('\n', out);
}

static void print_wait(FILE *out, const struct retune_outcome *outcome)
{
    char time[UNITS_TEXT_SIZE];
    if (outcome->waited_ns > 0)
        fprintf(out, "  %-11s %s, for other hosts' nights on %s\n", "waited",
                units_format_duration(outcome->waited_ns, time), outcome->backend);
}

static const char *headline(const struct retune_outcome *outcome)
{
    static const char *const verdicts[NIGHT_N_VERDICTS] = {"nothing to recommend", "first tune", "no change",
                                                           "no change yet, a contender is measured again",
                                                           "change"};
    if (outcome->skipped)
        return "skipped";
    if (!outcome->measured)
        return outcome->failed ? "failed" : "interrupted";
    return outcome->night.interrupted ? "interrupted" : verdicts[outcome->night.verdict];
}

static void print_action(FILE *out, const struct retune_outcome *outcome)
{
    static const char *const words[RETUNE_N_ACTIONS] = {
        NULL,
        "not applied: the target has no snippet; apply it, and set it as current",
        "not applied yet, as on an earlier night; apply it, and set it as current",
        "applied",
        "not applied",
        "recorded, not applied",
        "not applied"};
    if (words[outcome->action] == NULL)
        return;
    fprintf(out, "  %-11s %s", "advice", words[outcome->action]);
    if (outcome->text[0] != '\0')
        fprintf(out, ": %s", outcome->text);
    fputc('\n', out);
}

static void print_night(FILE *out, const struct retune_outcome *outcome)
{
    const struct retune_result *night = &outcome->night;
    char text[FACTORS_TEXT_SIZE];
    if (night->has_in_force)
        print_line(out, "current", factors_format(&night->in_force, text));
    print_throughput(out, night);
    print_contender(out, night);
    if (night->has_recommendation && (night->verdict == NIGHT_FIRST || night->verdict == NIGHT_CHANGE))
        print_line(out, "new", factors_format(&night->recommendation, text));
    print_line(out, "evidence", night->evidence);
    print_line(out, night->behind != 0 ? "ALARM" : "reason", night->reason);
    print_action(out, outcome);
    print_wait(out, outcome);
    print_cost(out, outcome);
}

void report_retune_text(FILE *out, const struct retune_report *report)
{
    for (size_t i = 0; i < report->n; i++) {
        const struct retune_outcome *outcome = &report->outcomes[i];
        fprintf(out, "%s%s: %s", i > 0 ? "\n" : "", outcome->target->name, headline(outcome));
        if (outcome->skipped && outcome->n_skipped > 1)
            fprintf(out, " (%u nights in a row)", outcome->n_skipped);
        fputc('\n', out);
        if (outcome->measured)
            print_night(out, outcome);
        else
            print_line(out, "reason", outcome->text);
    }
}

void report_retune_log(FILE *out, const struct retune_report *report)
{
    for (size_t i = 0; i < report->n; i++) {
        const struct retune_outcome *outcome = &report->outcomes[i];
        const char *name = outcome->target->name;
        if (outcome->failed)
            fprintf(out, "fstune: %s: %.*s\n", name, SHOWN, outcome->text);
        else if (outcome->exit_code == EXIT_BEHIND || outcome->exit_code == EXIT_NOTHING)
            fprintf(out, "fstune: %s: %.*s\n", name, SHOWN, outcome->night.reason);
        else if (outcome->skipped && outcome->exit_code != EXIT_DONE)
            fprintf(out, "fstune: %s: skipped %u nights in a row: %.*s\n", name, outcome->n_skipped, SHOWN,
                    outcome->text);
    }
}

void report_retune_plan_text(FILE *out, const struct retune_target *target, const struct point *in_force)
{
    char first[UNITS_TEXT_SIZE], night[UNITS_TEXT_SIZE], write[UNITS_TEXT_SIZE], text[FACTORS_TEXT_SIZE];
    const struct settings *settings = &target->settings;
    bool simulated = settings->file.simulate[0] != '\0';
    bool is_lost = settings->file.existing[0] != '\0' && pattern_writes(&settings->workload.pattern);
    fprintf(out, "%s: pattern %s in %.*s%s; first tune %s, a night %s", target->name,
            settings->workload.pattern.name, SHOWN,
            simulated ? settings->file.simulate : settings_place(settings),
            is_lost ? ", whose contents are destroyed" : "",
            units_format_duration(target->first_budget_ns, first),
            units_format_duration(settings->limits.budget_ns, night));
    if (!simulated)
        fprintf(out, ", at most %s written", units_format_size(settings->limits.max_write_bytes, write));
    fputc('\n', out);
    print_line(out, "current",
               in_force != NULL ? factors_format(in_force, text) : "not known; the first tune decides");
    if (target->snippet[0] != '\0')
        fprintf(out, "  %-11s %.*s (%s)%s%s\n", "snippet", SHOWN, target->snippet, settings->snippet.format,
                target->check[0] != '\0' ? ", checked" : "", target->apply[0] != '\0' ? ", applied" : "");
    else
        print_line(out, "snippet", "none: advice is recorded and printed");
}

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

static json_t *behind_json(unsigned behind)
{
    json_t *list = json_array();
    if ((behind & NIGHT_BEHIND_SETTINGS) != 0)
        json_array_append_new(list, json_string("settings"));
    if ((behind & NIGHT_BEHIND_THROUGHPUT) != 0)
        json_array_append_new(list, json_string("throughput"));
    return list;
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
    json_object_set_new(object, "behind", behind_json(night->behind));
    json_object_set_new(object, "action", json_string(retune_action_names[outcome->action]));
    json_object_set_new(object, "seconds", json_number(night->seconds));
    json_object_set_new(object, "bytes_read", json_integer((json_int_t)night->bytes_read));
    json_object_set_new(object, "document",
                        night->document != NULL ? json_incref(night->document) : json_null());
}

const char *report_retune_verdict(const struct retune_outcome *outcome)
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
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:s, s:i, s:o, s:o, s:i, s:I, s:I, s:o, s:o}", "target",
                  outcome->target->name, "path", json_text(outcome->target->settings.file.path), "pattern",
                  json_pattern(&outcome->target->settings.workload.pattern), "verdict",
                  report_retune_verdict(outcome), "exit_code", outcome->exit_code, "reason",
                  text_or_null(outcome->measured && night->reason[0] != '\0' ? night->reason
                               : outcome->skipped || outcome->failed         ? outcome->text
                                                                             : ""),
                  "text", text_or_null(outcome->text), "skipped_nights", (int)outcome->n_skipped,
                  "bytes_written", (json_int_t)written, "filled_bytes", (json_int_t)filled, "backend",
                  text_or_null(outcome->backend), "waited_s", json_number((double)outcome->waited_ns / 1e9));
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
