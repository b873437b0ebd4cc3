/* The keys that only a target of `retune` has, and their setters. */
#include "tuner/nightly/retune_config.h"

#include "bench/base/clock.h"
#include "tuner/options/options.h"
#include "tuner/options/options_set.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define IN(member) offsetof(struct retune_target, member)

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* A name becomes part of file names, labels and log lines. */
static int set_name(struct settings *settings, const struct option_row *row, const char *text,
                    struct err *err)
{
    size_t n = strlen(text);
    if (n == 0 || n >= RETUNE_CONFIG_NAME_SIZE)
        return err_set(err, -EINVAL, "'%.60s' has %zu characters; use 1 to %d", text, n,
                       RETUNE_CONFIG_NAME_SIZE - 1);
    for (size_t i = 0; i < n; i++) {
        if (!is_alphanumeric(text[i]) && (i == 0 || strchr("._-", text[i]) == NULL))
            return err_set(err, -EINVAL,
                           "'%.60s' is no name; use letters, digits and, behind the first, . _ and -", text);
    }
    memcpy((char *)settings + row->place, text, n + 1);
    return 0;
}

static int set_snippet(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err)
{
    if (text[0] != '/' || text[strlen(text) - 1] == '/')
        return err_set(err, -EINVAL, "'%.100s' is no absolute path of a file; begin with / and end in a name",
                       text);
    return options_set_text(settings, row, text, err);
}

/* Limits of readiness are doubles; "off" is infinity, which nothing exceeds. */
static int set_limit_share(struct settings *settings, const struct option_row *row, const char *text,
                           struct err *err)
{
    if (strcmp(text, "off") != 0)
        return options_set_share(settings, row, text, err);
    *(double *)(void *)((char *)settings + row->place) = INFINITY;
    return 0;
}

static int set_limit_size(struct settings *settings, const struct option_row *row, const char *text,
                          struct err *err)
{
    struct settings parsed;
    struct option_row own = *row;
    own.place = offsetof(struct settings, file.size_bytes);
    double *place = (double *)(void *)((char *)settings + row->place);
    if (strcmp(text, "off") == 0) {
        *place = INFINITY;
        return 0;
    }
    int result = options_set_size(&parsed, &own, text, err);
    if (result == 0)
        *place = (double)parsed.file.size_bytes;
    return result;
}

static int set_limit_duration(struct settings *settings, const struct option_row *row, const char *text,
                              struct err *err)
{
    struct settings parsed;
    struct option_row own = *row;
    own.place = offsetof(struct settings, limits.budget_ns);
    int result = options_set_duration(&parsed, &own, text, err);
    if (result == 0)
        *(double *)(void *)((char *)settings + row->place) =
            (double)parsed.limits.budget_ns / (double)CLOCK_NS_PER_S;
    return result;
}

#define KEY(NAME, ARGUMENT, RANGE, STANDARD, SET, PLACE, HELP)                                               \
    {                                                                                                        \
        .name = (NAME), .argument = (ARGUMENT), .range = (RANGE), .default_text = (STANDARD),                \
        .help = (HELP), .in_config = true, .set = (SET), .place = (PLACE)                                    \
    }

static const struct option_row keys[] = {
    KEY("name", "NAME", "", "required", set_name, IN(name),
        "of the target: letters, digits, . _ and -; the history knows it by this name"),
    KEY("snippet", "FILE", "", "none", set_snippet, IN(snippet),
        "absolute path that the lines of `emit` are written to; the ones before stay beside it as "
        "FILE.previous"),
    KEY("check", "COMMAND", "", "none", options_set_text, IN(check),
        "for /bin/sh, before the file is replaced: $FSTUNE_SNIPPET is the new file; unless it exits 0, "
        "everything stays as it was"),
    KEY("apply", "COMMAND", "", "none", options_set_text, IN(apply),
        "for /bin/sh, after the file was replaced; unless it exits 0, the old file comes back"),
    KEY("rollback", "COMMAND", "", "none", options_set_text, IN(rollback),
        "for /bin/sh, after the old file came back"),
    KEY("hook-timeout", "DURATION", "1s..1h", "60s", options_set_duration, IN(hook_timeout_ns),
        "time that each of these commands may take"),
    KEY("first-budget", "DURATION", "1s..168h", "10m", options_set_duration, IN(first_budget_ns),
        "time for a target's first tune; `budget` is a night's"),
    KEY("alarm", "SHARE", ">0%..90%", "10%", options_set_share, IN(alarm_share),
        "exit code 4 where the current setting, or the throughput, has fallen behind by more"),
    KEY("nights", "N", "1..30", "2", options_set_count, IN(nights), "nights that must agree before a change"),
    KEY("existing-file", "FILE", "", "none", options_set_text, IN(settings.file.existing),
        "the same as `existing`"),
    KEY("keep-file", NULL, "", "false", options_set_flag, IN(keep_file),
        "of patterns that only read: keep the filled file as .fstune-NAME for later nights, which then "
        "write nothing"),
    KEY("max-io-pressure", "SHARE", "0%..100%", "10%", set_limit_share, IN(limits.io_pressure_share),
        "no night while tasks waited for I/O for more of the last minute; \"off\" for no limit"),
    KEY("max-cpu-pressure", "SHARE", "0%..100%", "25%", set_limit_share, IN(limits.cpu_pressure_share),
        "the same for a processor"),
    KEY("max-load", "SHARE", "0%..100%", "75%", set_limit_share, IN(limits.load_share),
        "no night while the load of the last minute, per processor, is higher; \"off\" for no limit"),
    KEY("max-dirty", "SIZE", "0..1000t", "512m", set_limit_size, IN(limits.dirty_bytes),
        "no night while more waits to be written; \"off\" for no limit"),
    KEY("min-uptime", "DURATION", "0s..24h", "15m", set_limit_duration, IN(limits.uptime_seconds),
        "no night sooner after the machine started"),
    KEY("on-battery", NULL, "", "false", options_set_flag, IN(limits.on_battery), "measure on battery too"),
};

const struct option_row *retune_config_key(size_t i)
{
    return i < sizeof keys / sizeof keys[0] ? &keys[i] : NULL;
}

/* The texts of the table are the defaults: nothing can disagree with --help. */
void retune_config_init_target(struct retune_target *target)
{
    memset(target, 0, sizeof *target);
    settings_init(&target->settings);
    target->settings.limits.budget_ns = 120 * CLOCK_NS_PER_S;
    target->settings.limits.max_write_bytes = 8ULL << 30;
    target->settings.quiet = true;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        bool has_default_setting =
            strcmp(keys[i].default_text, "required") != 0 && strcmp(keys[i].default_text, "none") != 0;
        if (has_default_setting)
            options_set(&target->settings, &keys[i], keys[i].default_text, NULL);
    }
}

void retune_config_print_keys(FILE *out)
{
    fprintf(out, "\nKeys of a target in the configuration, beside all settings of `recommend`; at the top of "
                 "the file they "
                 "are\ndefaults of all targets. There budget is 2m, and max_write 8g.\n");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s", keys[i].name);
        for (char *c = name; *c != '\0'; c++)
            *c = *c == '-' ? '_' : *c;
        fprintf(out, "  %-18s %s (%s%s%s)\n", name, keys[i].help, keys[i].range,
                keys[i].range[0] != '\0' ? "; " : "", keys[i].default_text);
    }
}
