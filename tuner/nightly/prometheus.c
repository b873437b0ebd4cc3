/* tuner/nightly/prometheus: a table of metrics; each is printed for all targets before the next, as the
 * format wants.
 */
#include "tuner/nightly/report_retune.h"

#include "tuner/base/replace.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define N_METRICS 16

/* One sample of a target. A label tells what has no number: its value is 1. */
struct metric {
    const char *name, *help;
    double value; /* NaN: not known, and left out */
    const char *label, *text;
};

static const char *verdict_of(const struct retune_outcome *outcome)
{
    if (outcome->measured)
        return night_verdict_names[outcome->night.verdict];
    return outcome->skipped ? "skipped" : "failed";
}

static void list_metrics(const struct retune_outcome *outcome, struct metric ret_metrics[N_METRICS])
{
    static const struct retune_figure unknown = {NAN, {NAN, NAN}, 0};
    const struct retune_result *night = &outcome->night;
    const struct settings *settings = &outcome->target->settings;
    const bool measured = outcome->measured;
    const struct retune_figure *rate = measured ? &night->throughput : &unknown;
    const struct retune_figure *gain = measured && night->has_contender ? &night->gain_tonight : &unknown;
    const uint64_t written = outcome->kept_bytes + (measured ? night->bytes_written : 0);
    const struct metric metrics[N_METRICS] = {
        {"fstune_target_path_info", "Directory of the target.", 1, "path", settings->file.path},
        {"fstune_target_pattern_info", "Workload of the target.", 1, "pattern",
         settings->workload.pattern.name},
        {"fstune_verdict_info", "What the last night came to.", 1, "verdict", verdict_of(outcome)},
        {"fstune_action_info", "What was done with the advice of the last night.", 1, "action",
         retune_action_names[outcome->action]},
        {"fstune_throughput_bytes_per_second", "Throughput of the current setting.", .value = rate->mean},
        {"fstune_throughput_low_bytes_per_second", "Lower end of its interval.", .value = rate->interval.low},
        {"fstune_throughput_high_bytes_per_second", "Upper end of its interval.",
         .value = rate->interval.high},
        {"fstune_gain_ratio", "Throughput of the best contender over that of the current setting.",
         .value = gain->mean},
        {"fstune_gain_low_ratio", "Lower end of its interval.", .value = gain->interval.low},
        {"fstune_gain_high_ratio", "Upper end of its interval.", .value = gain->interval.high},
        {"fstune_behind", "1: the current setting, or the throughput, has fallen behind.",
         .value = measured ? night->behind != 0 : NAN},
        {"fstune_exit_code", "Exit code of the last night.", .value = outcome->exit_code},
        {"fstune_last_run_timestamp_seconds", "When the last night ended, measured or not.",
         .value = outcome->ended_s},
        {"fstune_skipped_nights", "Nights in a row without a measurement.", .value = outcome->n_skipped},
        {"fstune_written_bytes", "Bytes written by the last night.", .value = (double)written},
        {"fstune_night_seconds", "How long the last night measured.",
         .value = measured ? night->seconds : NAN},
    };
    memcpy(ret_metrics, metrics, sizeof metrics);
}

/* A label's value, with \, " and newlines escaped. */
static void print_value(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void print_sample(FILE *out, const struct metric *metric, const char *target)
{
    if (!isfinite(metric->value))
        return;
    fprintf(out, "%s{target=\"%s\"", metric->name, target);
    if (metric->label != NULL) {
        fprintf(out, ",%s=\"", metric->label);
        print_value(out, metric->text);
        fputc('"', out);
    }
    fprintf(out, "} %.17g\n", metric->value);
}

/* Keeps a line of ours if its target is still configured and was not looked at tonight. */
static bool is_kept(const char *line, const struct retune_report *report, const struct retune_config *config)
{
    char name[RETUNE_CONFIG_NAME_SIZE];
    size_t n = strcspn(line, "\"\n");
    if (n >= sizeof name || line[n] != '"')
        return false;
    memcpy(name, line, n);
    name[n] = '\0';
    for (size_t i = 0; i < report->n; i++) {
        if (!report->outcomes[i].not_begun && strcmp(report->outcomes[i].target->name, name) == 0)
            return false;
    }
    return retune_config_find(config, name) != NULL;
}

static void print_kept(FILE *out, const char *metric, const struct retune_report *report,
                       const struct retune_config *config, const char *old)
{
    char start[128];
    size_t n_start = (size_t)snprintf(start, sizeof start, "%s{target=\"", metric);
    for (const char *line = old; line != NULL && *line != '\0';) {
        size_t n = strcspn(line, "\n");
        if (n > n_start && line[n] == '\n' && strncmp(line, start, n_start) == 0 &&
            is_kept(line + n_start, report, config))
            fprintf(out, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

void prometheus_print(FILE *out, const struct retune_report *report, const struct retune_config *config,
                      const char *old)
{
    struct metric metrics[N_METRICS];
    for (size_t i = 0; i < N_METRICS; i++) {
        for (size_t row = 0; row < report->n; row++) {
            list_metrics(&report->outcomes[row], metrics);
            if (row == 0)
                fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", metrics[i].name, metrics[i].help,
                        metrics[i].name);
            if (!report->outcomes[row].not_begun)
                print_sample(out, &metrics[i], report->outcomes[row].target->name);
        }
        print_kept(out, metrics[i].name, report, config, old);
    }
}

int prometheus_write(const char *path, const struct retune_report *report, const struct retune_config *config,
                     struct err *err)
{
    char *text = NULL;
    size_t n = 0;
    struct replace_text old = {0};
    int result = replace_load(path, REPLACE_SHARED, &old, err);
    FILE *out = result == 0 ? open_memstream(&text, &n) : NULL;
    if (out != NULL)
        prometheus_print(out, report, config, old.bytes);
    if (result == 0 && (out == NULL || fclose(out) != 0))
        result = err_set(err, -ENOMEM, "no memory");
    if (result == 0)
        result = replace_file(path, REPLACE_SHARED, text, n, err);
    free(text);
    free(old.bytes);
    return result < 0 ? err_prefix(err, "--prometheus %.200s", path) : 0;
}
