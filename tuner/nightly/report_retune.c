/* tuner/nightly/report_retune: a night in words. */
#include "tuner/nightly/report_retune.h"

#include "bench/base/units.h"
#include "tuner/base/fail.h"

#include <math.h>
#include <string.h>

#define SHOWN 400

static void print_night_setting(FILE *out, const char *what, const struct point *point)
{
    char text[FACTORS_TEXT_SIZE];
    fprintf(out, "  %-11s %s\n", what, factors_format(point, text));
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
    if (night->has_in_force)
        print_night_setting(out, "current", &night->in_force);
    print_throughput(out, night);
    print_contender(out, night);
    if (night->has_recommendation && (night->verdict == NIGHT_FIRST || night->verdict == NIGHT_CHANGE))
        print_night_setting(out, "new", &night->recommendation);
    if (night->evidence[0] != '\0')
        fprintf(out, "  %-11s %s\n", "evidence", night->evidence);
    if (night->reason[0] != '\0')
        fprintf(out, "  %-11s %s\n", night->behind != 0 ? "ALARM" : "reason", night->reason);
    print_action(out, outcome);
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
        else if (outcome->text[0] != '\0')
            fprintf(out, "  %-11s %s\n", "reason", outcome->text);
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
    fprintf(out, "%s: pattern %s in %.*s; first tune %s, a night %s", target->name,
            settings->workload.pattern.name, SHOWN, simulated ? settings->file.simulate : settings->file.path,
            units_format_duration(target->first_budget_ns, first),
            units_format_duration(settings->limits.budget_ns, night));
    if (!simulated)
        fprintf(out, ", at most %s written", units_format_size(settings->limits.max_write_bytes, write));
    fputc('\n', out);
    fprintf(out, "  %-11s %s\n", "current",
            in_force != NULL ? factors_format(in_force, text) : "not known; the first tune decides");
    if (target->snippet[0] != '\0')
        fprintf(out, "  %-11s %.*s (%s)%s%s\n", "snippet", SHOWN, target->snippet, settings->snippet.format,
                target->check[0] != '\0' ? ", checked" : "", target->apply[0] != '\0' ? ", applied" : "");
    else
        fprintf(out, "  %-11s none: advice is recorded and printed\n", "snippet");
}
