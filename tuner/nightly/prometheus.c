/* tuner/nightly/prometheus: a table of metrics; each is printed for all targets before the next, as the
 * format wants. */
#include "tuner/nightly/report_retune.h"

#include "bench/base/factors.h"
#include "tuner/base/json.h"
#include "tuner/base/metrics_text.h"
#include "tuner/base/replace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define N_FIGURES 18
#define N_EVENTS  12
#define N_METRICS (N_FIGURES + N_EVENTS)

/* One sample of a target. A label, or a setting as labels, tells what has no number: its value is 1. */
struct metric {
    const char *name, *help;
    double value; /* NaN: not known, and left out */
    const char *label, *text;
    const struct point *setting;
    bool lasts; /* what is not known tonight stays as an earlier night had it */
};

static struct metric metric_of_setting(const char *name, const char *help, const struct point *setting)
{
    return (struct metric){
        .name = name, .help = help, .value = setting != NULL ? 1 : NAN, .setting = setting};
}

/* A ratio {"mean", "ci_low", "ci_high"} of the answer, or what is not known. */
static struct retune_figure read_ratio(const json_t *compared)
{
    const json_t *ratio = json_object_get(compared, "speedup");
    return (struct retune_figure){
        .mean = json_read_number(ratio, "mean"),
        .interval = {json_read_number(ratio, "ci_low"), json_read_number(ratio, "ci_high")}};
}

/* The setting of which throughput and latency are told: the current one; of a first night the advised one. */
static const struct point *shown_setting(const struct retune_outcome *outcome)
{
    const struct retune_result *night = &outcome->night;
    if (outcome->measured && night->has_in_force)
        return &night->in_force;
    return outcome->measured && night->has_recommendation ? &night->recommendation : NULL;
}

static void list_figures(const struct retune_outcome *outcome, struct metric ret_metrics[N_FIGURES])
{
    static const struct retune_figure unknown = {NAN, {NAN, NAN}, 0};
    const struct retune_result *night = &outcome->night;
    const json_t *answer = outcome->measured ? night->document : NULL;
    const json_t *baseline = json_object_get(answer, "baseline"), *usual = json_object_get(answer, "default");
    const json_t *latency =
        json_object_get(outcome->measured && night->has_in_force ? baseline : answer, "latency_ns");
    const struct retune_figure *rate = outcome->measured ? &night->throughput : &unknown;
    const struct retune_figure *contender =
        outcome->measured && night->has_contender ? &night->gain_tonight : &unknown;
    const struct retune_figure gain =
        outcome->measured && night->has_in_force ? read_ratio(baseline) : unknown;
    const struct retune_figure gain_default = read_ratio(usual != NULL ? usual : baseline);
    const struct metric metrics[N_FIGURES] = {
        metric_of_setting("fstune_current_setting_info",
                          "Current setting; after a first night the one that it advised.",
                          shown_setting(outcome)),
        {"fstune_throughput_bytes_per_second", "Throughput of the current setting.", .value = rate->mean},
        {"fstune_throughput_low_bytes_per_second", "Lower end of its interval.", .value = rate->interval.low},
        {"fstune_throughput_high_bytes_per_second", "Upper end of its interval.",
         .value = rate->interval.high},
        {"fstune_latency_p50_seconds", "Median latency of requests of the current setting.",
         .value = json_read_number(latency, "p50") / 1e9},
        {"fstune_latency_p99_seconds", "99th percentile of that latency.",
         .value = json_read_number(latency, "p99") / 1e9},
        {"fstune_latency_p999_seconds", "99.9th percentile of that latency.",
         .value = json_read_number(latency, "p999") / 1e9},
        {"fstune_gain_over_current_ratio",
         "Throughput of the advised setting over that of the current one; 1 where they are the same.",
         .value = gain.mean},
        {"fstune_gain_over_current_low_ratio", "Lower end of its interval.", .value = gain.interval.low},
        {"fstune_gain_over_current_high_ratio", "Upper end of its interval.", .value = gain.interval.high},
        {"fstune_gain_over_default_ratio", "Throughput of the advised setting over that of the default.",
         .value = gain_default.mean},
        {"fstune_gain_over_default_low_ratio", "Lower end of its interval.",
         .value = gain_default.interval.low},
        {"fstune_gain_over_default_high_ratio", "Upper end of its interval.",
         .value = gain_default.interval.high},
        {"fstune_contender_over_current_ratio",
         "Throughput of the best other setting that was measured over that of the current one.",
         .value = contender->mean},
        {"fstune_contender_over_current_low_ratio", "Lower end of its interval.",
         .value = contender->interval.low},
        {"fstune_contender_over_current_high_ratio", "Upper end of its interval.",
         .value = contender->interval.high},
        {"fstune_shortfall_bound_ratio",
         "What the advised setting loses at most against the best possible, as a share.",
         .value = json_read_number(json_object_get(answer, "shortfall_bound"), "share")},
        {"fstune_shortfall_confidence_ratio", "How sure that bound is.",
         .value = json_read_number(json_object_get(answer, "shortfall_bound"), "confidence")},
    };
    memcpy(ret_metrics, metrics, sizeof metrics);
}

static void list_events(const struct retune_outcome *outcome, struct metric ret_metrics[N_EVENTS])
{
    const struct retune_result *night = &outcome->night;
    const struct settings *settings = &outcome->target->settings;
    const bool measured = outcome->measured;
    const uint64_t written = outcome->kept_bytes + (measured ? night->bytes_written : 0);
    const struct metric metrics[N_EVENTS] = {
        {"fstune_target_path_info", "Directory of the target.", .value = 1, .label = "path",
         .text = settings->file.path},
        {"fstune_target_pattern_info", "Workload of the target.", .value = 1, .label = "pattern",
         .text = settings->workload.pattern.name},
        {"fstune_verdict_info", "What the last night came to.", .value = 1, .label = "verdict",
         .text = report_retune_verdict(outcome)},
        {"fstune_action_info", "What was done with the advice of the last night.", .value = 1,
         .label = "action", .text = retune_action_names[outcome->action]},
        metric_of_setting("fstune_advised_setting_info", "Setting that the last night advised.",
                          measured && night->has_recommendation ? &night->recommendation : NULL),
        {"fstune_behind", "1: the current setting, or the throughput, has fallen behind.",
         .value = measured ? night->behind != 0 : NAN},
        {"fstune_exit_code", "Exit code of the last night.", .value = outcome->exit_code},
        {"fstune_last_run_timestamp_seconds", "When the last night ended, measured or not.",
         .value = outcome->ended_s},
        {"fstune_last_measured_timestamp_seconds", "When the last night that measured ended.",
         .value = measured && !night->interrupted ? outcome->ended_s : NAN, .lasts = true},
        {"fstune_skipped_nights", "Nights in a row without a measurement.", .value = outcome->n_skipped},
        {"fstune_written_bytes", "Bytes written by the last night.", .value = (double)written},
        {"fstune_night_seconds", "How long the last night measured.",
         .value = measured ? night->seconds : NAN},
    };
    memcpy(ret_metrics, metrics, sizeof metrics);
}

static void print_label(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",%s=\"", name);
    metrics_text_value(out, text);
    fputc('"', out);
}

static void print_number_label(FILE *out, const char *name, uint64_t number)
{
    fprintf(out, ",%s=\"%" PRIu64 "\"", name, number);
}

static void print_setting(FILE *out, const struct point *setting)
{
    print_number_label(out, "request_size", setting->request_size_bytes);
    if (factors_is_split(setting))
        print_number_label(out, "write_request_size", factors_write_size_bytes(setting));
    print_number_label(out, "queue_depth", setting->queue_depth);
    print_number_label(out, "direct", setting->direct);
    print_label(out, "api", api_names[setting->api]);
    print_number_label(out, "threads", setting->threads);
    print_label(out, "sync", sync_names[setting->sync]);
}

static void print_sample(FILE *out, const struct metric *metric, const char *target)
{
    fprintf(out, "%s{target=\"%s\"", metric->name, target);
    if (metric->label != NULL)
        print_label(out, metric->label, metric->text);
    if (metric->setting != NULL)
        print_setting(out, metric->setting);
    fprintf(out, "} %.17g\n", metric->value);
}

/* Keeps a line of ours if its target is still configured and tonight has no value for it. */
static bool is_kept(const char *line, const struct retune_report *report, const bool *known,
                    const struct retune_config *config)
{
    char name[RETUNE_CONFIG_NAME_SIZE];
    size_t n = strcspn(line, "\"\n");
    if (n >= sizeof name || line[n] != '"')
        return false;
    memcpy(name, line, n);
    name[n] = '\0';
    for (size_t i = 0; i < report->n; i++) {
        if (known[i] && strcmp(report->outcomes[i].target->name, name) == 0)
            return false;
    }
    return retune_config_find(config, name) != NULL;
}

static void print_kept(FILE *out, const char *metric, const struct retune_report *report, const bool *known,
                       const struct retune_config *config, const char *old)
{
    char start[128];
    size_t n_start = (size_t)snprintf(start, sizeof start, "%s{target=\"", metric);
    for (const char *line = old; line != NULL && *line != '\0';) {
        size_t n = strcspn(line, "\n");
        if (n > n_start && line[n] == '\n' && strncmp(line, start, n_start) == 0 &&
            is_kept(line + n_start, report, known, config))
            fprintf(out, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

/* One metric of all targets. */
static void print_metric(FILE *out, size_t i, const struct retune_report *report,
                         const struct retune_config *config, const char *old)
{
    struct metric metrics[N_METRICS];
    bool known[RETUNE_CONFIG_MAX_TARGETS];
    for (size_t row = 0; row < report->n; row++) {
        const struct retune_outcome *outcome = &report->outcomes[row];
        list_events(outcome, metrics);
        list_figures(outcome, metrics + N_EVENTS);
        bool has = !outcome->not_begun && isfinite(metrics[i].value);
        known[row] = has || (!outcome->not_begun && !metrics[i].lasts);
        if (row == 0)
            metrics_text_head(out, metrics[i].name, "gauge", metrics[i].help);
        if (has)
            print_sample(out, &metrics[i], outcome->target->name);
    }
    print_kept(out, metrics[i].name, report, known, config, old);
}

void prometheus_print(FILE *out, const struct retune_report *report, const struct retune_config *config,
                      const char *old)
{
    for (size_t i = 0; i < N_METRICS; i++)
        print_metric(out, i, report, config, old);
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
