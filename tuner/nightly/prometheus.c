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
#include <unistd.h>

struct metric {
    const char *name, *help;
    double (*value)(const struct retune_outcome *outcome); /* NaN: left out */
    const char *label;                                     /* a second one, or NULL */
    const char *(*label_value)(const struct retune_outcome *outcome);
};

static double throughput(const struct retune_outcome *outcome)
{
    return outcome->measured ? outcome->night.throughput.mean : NAN;
}

static double throughput_low(const struct retune_outcome *outcome)
{
    return outcome->measured ? outcome->night.throughput.interval.low : NAN;
}

static double throughput_high(const struct retune_outcome *outcome)
{
    return outcome->measured ? outcome->night.throughput.interval.high : NAN;
}

static double gain(const struct retune_outcome *outcome)
{
    return outcome->measured && outcome->night.has_contender ? outcome->night.gain_tonight.mean : NAN;
}

static double gain_low(const struct retune_outcome *outcome)
{
    return isnan(gain(outcome)) ? NAN : outcome->night.gain_tonight.interval.low;
}

static double gain_high(const struct retune_outcome *outcome)
{
    return isnan(gain(outcome)) ? NAN : outcome->night.gain_tonight.interval.high;
}

static double one(const struct retune_outcome *outcome)
{
    (void)outcome;
    return 1;
}

static double behind(const struct retune_outcome *outcome)
{
    return outcome->measured ? outcome->night.behind != 0 : NAN;
}

static double ended(const struct retune_outcome *outcome)
{
    return outcome->ended_s;
}

static double skipped(const struct retune_outcome *outcome)
{
    return outcome->n_skipped;
}

static double exit_code(const struct retune_outcome *outcome)
{
    return outcome->exit_code;
}

static double written(const struct retune_outcome *outcome)
{
    uint64_t night = outcome->measured ? outcome->night.bytes_written : 0;
    return (double)(night + outcome->kept_bytes);
}

static double seconds(const struct retune_outcome *outcome)
{
    return outcome->measured ? outcome->night.seconds : NAN;
}

static const char *verdict(const struct retune_outcome *outcome)
{
    if (outcome->measured)
        return night_verdict_names[outcome->night.verdict];
    return outcome->skipped ? "skipped" : "failed";
}

static const char *action(const struct retune_outcome *outcome)
{
    return retune_action_names[outcome->action];
}

static const char *path(const struct retune_outcome *outcome)
{
    return outcome->target->settings.path;
}

static const char *pattern(const struct retune_outcome *outcome)
{
    return outcome->target->settings.pattern.name;
}

static const struct metric metrics[] = {
    {"fstune_target_path_info", "Directory of the target.", one, "path", path},
    {"fstune_target_pattern_info", "Workload of the target.", one, "pattern", pattern},
    {"fstune_verdict_info", "What the last night came to.", one, "verdict", verdict},
    {"fstune_action_info", "What was done with the advice of the last night.", one, "action", action},
    {"fstune_throughput_bytes_per_second", "Throughput of the settings in force.", throughput, NULL, NULL},
    {"fstune_throughput_low_bytes_per_second", "Lower end of its interval.", throughput_low, NULL, NULL},
    {"fstune_throughput_high_bytes_per_second", "Upper end of its interval.", throughput_high, NULL, NULL},
    {"fstune_gain_ratio", "Throughput of the best contender over that of the settings in force.", gain, NULL,
     NULL},
    {"fstune_gain_low_ratio", "Lower end of its interval.", gain_low, NULL, NULL},
    {"fstune_gain_high_ratio", "Upper end of its interval.", gain_high, NULL, NULL},
    {"fstune_behind", "1: the settings in force, or the throughput, have fallen behind.", behind, NULL, NULL},
    {"fstune_exit_code", "Exit code of the last night.", exit_code, NULL, NULL},
    {"fstune_last_run_timestamp_seconds", "When the last night ended, measured or not.", ended, NULL, NULL},
    {"fstune_skipped_nights", "Nights in a row without a measurement.", skipped, NULL, NULL},
    {"fstune_written_bytes", "Bytes written by the last night.", written, NULL, NULL},
    {"fstune_night_seconds", "How long the last night measured.", seconds, NULL, NULL},
};

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

static void print_sample(FILE *out, const struct metric *metric, const struct retune_outcome *outcome)
{
    double value = metric->value(outcome);
    if (!isfinite(value) || outcome->not_begun)
        return;
    fprintf(out, "%s{target=\"%s\"", metric->name, outcome->target->name);
    if (metric->label != NULL) {
        fprintf(out, ",%s=\"", metric->label);
        prometheus_print_value(out, metric->label_value(outcome));
        fputc('"', out);
    }
    fprintf(out, "} %.17g\n", value);
}

/* The target of a line of ours is one that is still configured and was not looked at tonight. */
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

static void print_kept(FILE *out, const struct metric *metric, const struct retune_report *report,
                       const struct retune_config *config, const char *old)
{
    char start[128];
    size_t n_start = (size_t)snprintf(start, sizeof start, "%s{target=\"", metric->name);
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
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", metrics[i].name, metrics[i].help, metrics[i].name);
        for (size_t row = 0; row < report->n; row++)
            print_sample(out, &metrics[i], &report->outcomes[row]);
        print_kept(out, &metrics[i], report, config, old);
    }
}

static int replace(int dir_fd, const char *name, const struct retune_report *report,
                   const struct retune_config *config, struct err *err)
{
    char staged[REPLACE_NAME_SIZE], *text = NULL;
    size_t n = 0;
    struct replace_text old = {0};
    int result = replace_read(dir_fd, name, &old, err);
    FILE *out = result == 0 ? open_memstream(&text, &n) : NULL;
    if (result == 0 && out == NULL)
        result = err_set(err, -ENOMEM, "no memory");
    if (out != NULL) {
        prometheus_print(out, report, config, old.bytes);
        if (fclose(out) != 0)
            result = err_set(err, -ENOMEM, "no memory");
    }
    if (result == 0) {
        replace_sweep(dir_fd, name, false);
        result = replace_stage(dir_fd, name, text, n, NULL, staged, err);
    }
    if (result == 0)
        result = replace_commit(dir_fd, staged, name, NULL, err);
    free(text);
    free(old.bytes);
    return result;
}

int prometheus_write(const char *path_of_file, const struct retune_report *report,
                     const struct retune_config *config, struct err *err)
{
    char name[REPLACE_NAME_SIZE];
    int dir_fd;
    int result = replace_open_directory(path_of_file, REPLACE_SHARED, &dir_fd, name, err);
    if (result == 0) {
        result = replace(dir_fd, name, report, config, err);
        close(dir_fd);
    }
    return result < 0 ? err_prefix(err, "--prometheus %.200s", path_of_file) : 0;
}
