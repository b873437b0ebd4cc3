/* tuner/nightly/prometheus: a table of metrics; each is printed for all targets before the next, as the
 * format wants.
 */
#include "tuner/nightly/prometheus.h"

#include "tuner/base/replace.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Those before N_INFOS have the value 1, and a second label that tells. */
enum {
    INFO_PATH,
    INFO_PATTERN,
    INFO_VERDICT,
    INFO_ACTION,
    N_INFOS,
    THROUGHPUT = N_INFOS,
    THROUGHPUT_LOW,
    THROUGHPUT_HIGH,
    GAIN,
    GAIN_LOW,
    GAIN_HIGH,
    BEHIND,
    EXIT_CODE,
    ENDED,
    SKIPPED,
    WRITTEN,
    SECONDS,
    N_METRICS
};

static const struct {
    const char *name, *help, *label;
} metrics[N_METRICS] = {
    [INFO_PATH] = {"fstune_target_path_info", "Directory of the target.", "path"},
    [INFO_PATTERN] = {"fstune_target_pattern_info", "Workload of the target.", "pattern"},
    [INFO_VERDICT] = {"fstune_verdict_info", "What the last night came to.", "verdict"},
    [INFO_ACTION] = {"fstune_action_info", "What was done with the advice of the last night.", "action"},
    [THROUGHPUT] = {"fstune_throughput_bytes_per_second", "Throughput of the current setting.", NULL},
    [THROUGHPUT_LOW] = {"fstune_throughput_low_bytes_per_second", "Lower end of its interval.", NULL},
    [THROUGHPUT_HIGH] = {"fstune_throughput_high_bytes_per_second", "Upper end of its interval.", NULL},
    [GAIN] = {"fstune_gain_ratio", "Throughput of the best contender over that of the current setting.",
              NULL},
    [GAIN_LOW] = {"fstune_gain_low_ratio", "Lower end of its interval.", NULL},
    [GAIN_HIGH] = {"fstune_gain_high_ratio", "Upper end of its interval.", NULL},
    [BEHIND] = {"fstune_behind", "1: the current setting, or the throughput, has fallen behind.", NULL},
    [EXIT_CODE] = {"fstune_exit_code", "Exit code of the last night.", NULL},
    [ENDED] = {"fstune_last_run_timestamp_seconds", "When the last night ended, measured or not.", NULL},
    [SKIPPED] = {"fstune_skipped_nights", "Nights in a row without a measurement.", NULL},
    [WRITTEN] = {"fstune_written_bytes", "Bytes written by the last night.", NULL},
    [SECONDS] = {"fstune_night_seconds", "How long the last night measured.", NULL},
};

static void put_figure(double *values, const struct retune_figure *figure)
{
    values[0] = figure->mean;
    values[1] = isnan(figure->mean) ? NAN : figure->interval.low;
    values[2] = isnan(figure->mean) ? NAN : figure->interval.high;
}

/* What is not known stays NaN, and is left out. */
static void list_values(const struct retune_outcome *outcome, double values[N_METRICS])
{
    const struct retune_result *night = &outcome->night;
    for (size_t i = 0; i < N_METRICS; i++)
        values[i] = i < N_INFOS ? 1 : NAN;
    values[EXIT_CODE] = outcome->exit_code;
    values[ENDED] = outcome->ended_s;
    values[SKIPPED] = outcome->n_skipped;
    values[WRITTEN] = (double)outcome->kept_bytes;
    if (!outcome->measured)
        return;
    put_figure(&values[THROUGHPUT], &night->throughput);
    if (night->has_contender)
        put_figure(&values[GAIN], &night->gain_tonight);
    values[BEHIND] = night->behind != 0;
    values[WRITTEN] += (double)night->bytes_written;
    values[SECONDS] = night->seconds;
}

static const char *info_of(const struct retune_outcome *outcome, size_t metric)
{
    switch (metric) {
    case INFO_PATH:
        return outcome->target->settings.file.path;
    case INFO_PATTERN:
        return outcome->target->settings.workload.pattern.name;
    case INFO_ACTION:
        return retune_action_names[outcome->action];
    default:
        return outcome->measured  ? night_verdict_names[outcome->night.verdict]
               : outcome->skipped ? "skipped"
                                  : "failed";
    }
}

void prometheus_print_value(FILE *out, const char *text)
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

static void print_sample(FILE *out, size_t metric, const struct retune_outcome *outcome)
{
    double values[N_METRICS];
    list_values(outcome, values);
    if (!isfinite(values[metric]) || outcome->not_begun)
        return;
    fprintf(out, "%s{target=\"%s\"", metrics[metric].name, outcome->target->name);
    if (metrics[metric].label != NULL) {
        fprintf(out, ",%s=\"", metrics[metric].label);
        prometheus_print_value(out, info_of(outcome, metric));
        fputc('"', out);
    }
    fprintf(out, "} %.17g\n", values[metric]);
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

static void print_kept(FILE *out, size_t metric, const struct retune_report *report,
                       const struct retune_config *config, const char *old)
{
    char start[128];
    size_t n_start = (size_t)snprintf(start, sizeof start, "%s{target=\"", metrics[metric].name);
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
    for (size_t i = 0; i < N_METRICS; i++) {
        fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", metrics[i].name, metrics[i].help, metrics[i].name);
        for (size_t row = 0; row < report->n; row++)
            print_sample(out, i, &report->outcomes[row]);
        print_kept(out, i, report, config, old);
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
