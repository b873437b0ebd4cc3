/* tuner/nightly/retune_config: the keys that only a target has, and targets from a libconfig file. */
#include "tuner/nightly/retune_config.h"

#include "bench/base/clock.h"
#include "bench/host/block_device.h"
#include "tuner/base/trust.h"
#include "tuner/options/config.h"
#include "tuner/options/options_set.h"
#include "tuner/profile/profile_use.h"

#include <errno.h>
#include <libconfig.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHOWN_PATH 200
#define IN(member) offsetof(struct retune_target, member)

/* A name becomes part of file names, labels and log lines. */
int retune_config_set_name(struct settings *settings, const struct option_row *row, const char *text,
                           struct err *err)
{
    static const char letters[] = "._-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strlen(text);
    if (n == 0 || n >= RETUNE_CONFIG_NAME_SIZE)
        return err_set(err, -EINVAL, "'%.60s' has %zu characters; use 1 to %d", text, n,
                       RETUNE_CONFIG_NAME_SIZE - 1);
    if (strspn(text, letters) < n || strchr("._-", text[0]) != NULL)
        return err_set(err, -EINVAL,
                       "'%.60s' is no name; use letters, digits and, behind the first, . _ and -", text);
    memcpy((char *)settings + row->place, text, n + 1);
    return 0;
}

int retune_config_set_path(struct settings *settings, const struct option_row *row, const char *text,
                           struct err *err)
{
    if (text[0] != '/' || text[strlen(text) - 1] == '/')
        return err_set(err, -EINVAL, "'%.100s' is no absolute path of a file; begin with / and end in a name",
                       text);
    return options_set_text(settings, row, text, err);
}

/* Limits of readiness are doubles; "off" is infinity, which nothing exceeds. */
static int set_limit(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    struct settings parsed;
    struct option_row own = *row;
    double *place = (double *)(void *)((char *)settings + row->place);
    bool is_duration = strcmp(row->argument, "DURATION") == 0;
    if (!is_duration && strcmp(text, "off") == 0) {
        *place = INFINITY;
        return 0;
    }
    if (strcmp(row->argument, "SHARE") == 0)
        return options_set_share(settings, row, text, err);
    own.place = offsetof(struct settings, limits.budget_ns); /* of the type that the setters write */
    int result = (is_duration ? options_set_duration : options_set_size)(&parsed, &own, text, err);
    if (result == 0)
        *place = (double)parsed.limits.budget_ns / (is_duration ? (double)CLOCK_NS_PER_S : 1);
    return result;
}

static const struct option_row keys[] = {
    RETUNE_CONFIG_KEY("name", "NAME", "", "required", retune_config_set_name, IN(name),
                      "of the target: letters, digits, . _ and -; the history knows it by this name"),
    RETUNE_CONFIG_KEY(
        "snippet", "FILE", "", "none", retune_config_set_path, IN(snippet),
        "absolute path that the lines of `emit` are written to; the ones before stay beside it as "
        "FILE.previous"),
    RETUNE_CONFIG_KEY(
        "check", "COMMAND", "", "none", options_set_text, IN(check),
        "for /bin/sh, before the file is replaced: $FSTUNE_SNIPPET is the new file; unless it exits 0, "
        "everything stays as it was"),
    RETUNE_CONFIG_KEY("apply", "COMMAND", "", "none", options_set_text, IN(apply),
                      "for /bin/sh, after the file was replaced; unless it exits 0, the old file comes back"),
    RETUNE_CONFIG_KEY("rollback", "COMMAND", "", "none", options_set_text, IN(rollback),
                      "for /bin/sh, after the old file came back"),
    RETUNE_CONFIG_KEY("hook-timeout", "DURATION", "1s..1h", "60s", options_set_duration, IN(hook_timeout_ns),
                      "time that each of these commands may take"),
    RETUNE_CONFIG_KEY("first-budget", "DURATION", "1s..168h", "10m", options_set_duration,
                      IN(first_budget_ns), "time for a target's first tune; `budget` is a night's"),
    RETUNE_CONFIG_KEY("alarm", "SHARE", ">0%..90%", "10%", options_set_share, IN(alarm_share),
                      "exit code 4 where the current setting, or the throughput, has fallen behind by more"),
    RETUNE_CONFIG_KEY("nights", "N", "1..30", "2", options_set_count, IN(nights),
                      "nights that must agree before a change"),
    RETUNE_CONFIG_KEY("existing-file", "FILE", "", "none", options_set_text, IN(settings.file.existing),
                      "the same as `existing`"),
    RETUNE_CONFIG_KEY(
        "keep-file", NULL, "", "false", options_set_flag, IN(keep_file),
        "of patterns that only read: keep the filled file as .fstune-NAME for later nights, which then "
        "write nothing"),
    RETUNE_CONFIG_KEY(
        "backend", "NAME", "", "none", retune_config_set_name, IN(backend),
        "name of the storage below, which other hosts use, too: their nights on it take turns, at the "
        "server that `fleet` names; without it the server and export of a file system from the network"),
    RETUNE_CONFIG_KEY("backend-nights", "N", "1..1000", "1", options_set_count, IN(backend_nights),
                      "nights that may measure such a storage at once"),
    RETUNE_CONFIG_KEY("backend-wait", "DURATION", "0s..24h", "2h", options_set_duration, IN(backend_wait_ns),
                      "how long a night waits for its turn there, before it is left out"),
    RETUNE_CONFIG_KEY(
        "max-io-pressure", "SHARE", "0%..100%", "10%", set_limit, IN(limits.io_pressure_share),
        "no night while tasks waited for I/O for more of the last minute; \"off\" for no limit"),
    RETUNE_CONFIG_KEY("max-cpu-pressure", "SHARE", "0%..100%", "25%", set_limit,
                      IN(limits.cpu_pressure_share), "the same for a processor"),
    RETUNE_CONFIG_KEY(
        "max-load", "SHARE", "0%..100%", "75%", set_limit, IN(limits.load_share),
        "no night while the load of the last minute, per processor, is higher; \"off\" for no limit"),
    RETUNE_CONFIG_KEY("max-dirty", "SIZE", "0..1000t", "512m", set_limit, IN(limits.dirty_bytes),
                      "no night while more waits to be written; \"off\" for no limit"),
    RETUNE_CONFIG_KEY("min-uptime", "DURATION", "0s..24h", "15m", set_limit, IN(limits.uptime_seconds),
                      "no night sooner after the machine started"),
    RETUNE_CONFIG_KEY("on-battery", NULL, "", "false", options_set_flag, IN(limits.on_battery),
                      "measure on battery too"),
};

#define N_KEYS (sizeof keys / sizeof keys[0])

const struct option_row *retune_config_key(size_t i)
{
    return i < N_KEYS ? &keys[i] : NULL;
}

/* The texts of the table are the defaults: nothing can disagree with --help. */
void retune_config_take_defaults(struct settings *settings, const struct option_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool has_default_setting =
            strcmp(rows[i].default_text, "required") != 0 && strcmp(rows[i].default_text, "none") != 0;
        if (has_default_setting)
            options_set(settings, &rows[i], rows[i].default_text, NULL);
    }
}

void retune_config_init_target(struct retune_target *target)
{
    memset(target, 0, sizeof *target);
    settings_init(&target->settings);
    target->settings.limits.budget_ns = 120 * CLOCK_NS_PER_S;
    target->settings.limits.max_write_bytes = 8ULL << 30;
    target->settings.search.tolerance_share = 0.03;
    target->settings.quiet = true;
    retune_config_take_defaults(&target->settings, keys, N_KEYS);
}

void retune_config_print_rows(FILE *out, const struct option_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s", rows[i].name);
        for (char *c = name; *c != '\0'; c++)
            *c = *c == '-' ? '_' : *c;
        fprintf(out, "  %-18s %s (%s%s%s)\n", name, rows[i].help, rows[i].range,
                rows[i].range[0] != '\0' ? "; " : "", rows[i].default_text);
    }
}

void retune_config_print_keys(FILE *out)
{
    fprintf(out, "\nKeys of a target in the configuration, beside all settings of `recommend`; at the top of "
                 "the file they are\ndefaults of all targets. There budget is 2m, and max_write 8g.\n");
    retune_config_print_rows(out, keys, N_KEYS);
}

/* Keys of `recommend` that a night decides itself, and what to do instead. */
static const struct {
    const char *key, *instead;
} strangers[] = {
    {"json", "stands at the top of the file, or on the command line"},
    {"quiet", "stands at the top of the file, or on the command line"},
    {"dry_run", "stands at the top of the file, or on the command line"},
    {"resume", "has no meaning for a night: the history knows the earlier ones; leave it out"},
    {"save", "has no meaning for a night: db at the top of the file names the history; leave it out"},
    {"burst", "is for recommend alone: a night compares settings under a steady load; leave it out"},
    {"burst_interval", "is for recommend alone, beside burst; leave it out"},
    {"rate", "is for recommend alone: a night compares settings at full load; leave it out"},
    {"rate_process", "is for recommend alone, beside rate; leave it out"},
    {"host", "is for recommend alone, beside burst; leave it out"},
};

static int refuse_key(const char *key, struct err *err)
{
    const char *names[N_KEYS + 1];
    for (size_t i = 0; i < N_KEYS; i++)
        names[i] = keys[i].name;
    names[N_KEYS] = "targets";
    return config_refuse_unknown(key, names, N_KEYS + 1, err);
}

/* A permission to destroy is given for one file or device by name, and never to whatever is added later. */
static bool is_of_one_target(const char *key)
{
    static const char *const names[] = {"name", "snippet", "overwrite", "destroy_device", "ignore_signature"};
    size_t i = 0;
    while (i < sizeof names / sizeof names[0] && strcmp(key, names[i]) != 0)
        i++;
    return i < sizeof names / sizeof names[0];
}

/* command: at the top, where options of the command stand beside targets' defaults; in a target NULL. */
static int read_key(struct settings *command, struct retune_target *target, const config_setting_t *setting,
                    struct err *err)
{
    const char *key = config_setting_name(setting);
    const struct option_row *row = options_find(key, OPTIONS_RETUNE);
    bool is_dashed = strchr(key, '-') != NULL, is_top = command != NULL;
    if (is_top && strcmp(key, "targets") == 0)
        return 0;
    if (is_top && row != NULL && !is_dashed)
        return config_set(command, row, setting, err);
    if (is_top && is_of_one_target(key))
        return err_set(err, -EINVAL, "belongs to one target; move it into its group");
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        if (strcmp(key, strangers[i].key) == 0)
            return err_set(err, -EINVAL, "%s", strangers[i].instead);
    }
    row = options_find(key, OPTIONS_RECOMMEND);
    for (size_t i = 0; i < N_KEYS; i++) {
        if (options_is_named(key, keys[i].name))
            row = &keys[i];
    }
    return row == NULL || is_dashed ? refuse_key(key, err) : config_set(&target->settings, row, setting, err);
}

/* "FILE:LINE: key: " before what is there. */
static int blame_setting(const char *path, const config_setting_t *setting, struct err *err)
{
    const char *key = config_setting_name(setting);
    return err_prefix(err, "%.*s:%u: %s", SHOWN_PATH, path, config_setting_source_line(setting),
                      key != NULL ? key : "targets");
}

static int read_keys(struct settings *command, struct retune_target *target, const char *path,
                     const config_setting_t *group, struct err *err)
{
    const config_setting_t *again = config_setting_get_member(group, "existing_file");
    if (again != NULL && config_setting_get_member(group, "existing") != NULL) {
        err_set(err, -EINVAL, "is the same as existing, which is set too; leave one out");
        return blame_setting(path, again, err);
    }
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *setting = config_setting_get_elem(group, (unsigned)i);
        if (read_key(command, target, setting, err) < 0)
            return blame_setting(path, setting, err);
    }
    return 0;
}

/* /dev/disk, /dev/mapper and a volume's /dev/GROUP/NAME name a device in whatever order it is found. */
static bool is_stable_name(const char *path)
{
    static const char *const stable[] = {"/dev/disk/", "/dev/mapper/"};
    char real[PATH_MAX];
    for (size_t i = 0; i < sizeof stable / sizeof stable[0]; i++) {
        if (strncmp(path, stable[i], strlen(stable[i])) == 0)
            return true;
    }
    bool is_in_group = strncmp(path, "/dev/", 5) == 0 && strchr(path + 5, '/') != NULL;
    return is_in_group && realpath(path, real) != NULL && strncmp(real, "/dev/dm-", 8) == 0;
}

/* After the next start the kernel may give the name to another disk, which may even have the same size. */
static int check_stable_name(const char *path, struct err *err)
{
    char link[PATH_MAX];
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    bool may_be_device = is_there ? S_ISBLK(status.st_mode) : strncmp(path, "/dev/", 5) == 0;
    if (!may_be_device || is_stable_name(path))
        return 0;
    bool has_link =
        is_there && block_device_find_link(BLOCK_DEVICE_BY_ID, status.st_rdev, link, sizeof link) == 0;
    return err_set(
        err, -EINVAL,
        "existing: %.200s may stand for another disk after the next start, and its contents would be "
        "destroyed; name the device by %.200s",
        path, has_link ? link : "a link in /dev/disk/by-id, or in /dev/mapper");
}

static int check_files(const struct retune_target *target, struct err *err)
{
    const struct settings *settings = &target->settings;
    bool writes = pattern_writes(&settings->workload.pattern);
    if (target->keep_file && writes)
        return err_set(err, -EINVAL,
                       "keep_file: pattern %s writes, so the file would not stay what it is; "
                       "leave keep_file out",
                       settings->workload.pattern.name);
    if (target->keep_file && settings->file.existing[0] != '\0')
        return err_set(err, -EINVAL, "keep_file and existing_file exclude each other; leave one out");
    if (target->keep_file && settings->file.prepare[0] != '\0')
        return err_set(err, -EINVAL, "keep_file and prepare exclude each other; leave one out");
    if (writes && settings->file.existing[0] != '\0' && !settings->file.overwrite)
        return err_set(err, -EINVAL,
                       "existing_file: pattern %s would destroy its contents; set overwrite = "
                       "true where that is wanted",
                       settings->workload.pattern.name);
    return writes && settings->file.existing[0] != '\0' ? check_stable_name(settings->file.existing, err) : 0;
}

static int check_hooks(const struct retune_target *target, struct err *err)
{
    bool has_hook = target->check[0] != '\0' || target->apply[0] != '\0' || target->rollback[0] != '\0';
    if (target->snippet[0] == '\0' && has_hook)
        return err_set(err, -EINVAL, "check, apply and rollback are about a file; name it as snippet");
    if (target->snippet[0] == '\0')
        return 0;
    if (target->settings.snippet.format[0] == '\0')
        return err_set(err, -EINVAL,
                       "snippet: the format is missing; add emit = \"qemu\" or another of "
                       "fstune emit --list");
    return retune_snippet_check(target, err);
}

static int check_target(const struct retune_config *config, const struct retune_target *target,
                        struct err *err)
{
    if (target->name[0] == '\0')
        return err_set(err, -EINVAL, "name is missing; add name = \"...\"");
    if (!target->settings.workload.pattern_given)
        return err_set(err, -EINVAL, "pattern is missing; give read, write, randread, randwrite, rw:70 ...");
    for (size_t i = 0; i < config->n_targets; i++) {
        const struct retune_target *other = &config->targets[i];
        if (strcmp(other->name, target->name) == 0)
            return err_set(err, -EINVAL, "the name stands in line %u already; choose another", other->line);
        if (target->snippet[0] != '\0' && strcmp(other->snippet, target->snippet) == 0)
            return err_set(err, -EINVAL, "snippet: target %s writes the same file; choose another",
                           other->name);
    }
    int result = settings_check_split(&target->settings, err);
    if (result == 0)
        result = check_files(target, err);
    return result < 0 ? result : check_hooks(target, err);
}

static int read_target(struct retune_config *config, const struct retune_target *defaults, const char *path,
                       const config_setting_t *group, struct err *err)
{
    struct retune_target *target = &config->targets[config->n_targets];
    *target = *defaults;
    target->line = config_setting_source_line(group);
    if (!config_setting_is_group(group)) {
        err_set(err, -EINVAL, "a target is a group: { name = \"...\"; path = \"...\"; pattern = \"...\"; }");
        return blame_setting(path, group, err);
    }
    if (read_keys(NULL, target, path, group, err) < 0)
        return -EINVAL;
    const char *profile = target->settings.search.profile_path;
    int result = profile[0] != '\0' ? profile_use_take(&target->settings, err) : 0;
    if (result == 0)
        result = check_target(config, target, err);
    if (result < 0)
        return err_prefix(err, "%.*s:%u: target %s", SHOWN_PATH, path, target->line,
                          target->name[0] != '\0' ? target->name : "without a name");
    config->n_targets++;
    return 0;
}

static int read_targets(struct retune_config *config, const struct retune_target *defaults, const char *path,
                        const config_setting_t *root, struct err *err)
{
    const config_setting_t *list = config_setting_get_member(root, "targets");
    int n = list != NULL && config_setting_is_list(list) ? config_setting_length(list) : 0;
    if (n < 1 || n > RETUNE_CONFIG_MAX_TARGETS)
        return err_set(
            err, -EINVAL,
            "%.*s: targets has to be a list of 1 to %d groups: targets = ( { name = \"...\"; ... } );",
            SHOWN_PATH, path, RETUNE_CONFIG_MAX_TARGETS);
    config->targets = calloc((size_t)n, sizeof *config->targets);
    if (config->targets == NULL)
        return err_set(err, -ENOMEM, "no memory for %d targets", n);
    int result = 0;
    for (int i = 0; i < n && result == 0; i++)
        result = read_target(config, defaults, path, config_setting_get_elem(list, (unsigned)i), err);
    return result;
}

int retune_config_read(struct retune_config *config, const char *path, struct err *err)
{
    config_t file;
    struct retune_target *defaults = malloc(sizeof *defaults);
    *config = (struct retune_config){0};
    settings_init(&config->command);
    if (defaults == NULL)
        return err_set(err, -ENOMEM, "no memory");
    retune_config_init_target(defaults);
    /* Checked, because its commands run as us and its paths are written to. */
    int result = trust_check_file(path, false, err);
    if (result == 0)
        result = config_load(&file, path, err);
    if (result == 0) {
        const config_setting_t *root = config_root_setting(&file);
        result = read_keys(&config->command, defaults, path, root, err);
        if (result == 0)
            result = read_targets(config, defaults, path, root, err);
        config_destroy(&file);
    }
    free(defaults);
    if (result < 0)
        retune_config_done(config);
    return result;
}

void retune_config_done(struct retune_config *config)
{
    free(config->targets);
    config->targets = NULL;
    config->n_targets = 0;
}

const struct retune_target *retune_config_find(const struct retune_config *config, const char *name)
{
    for (size_t i = 0; i < config->n_targets; i++) {
        if (strcmp(config->targets[i].name, name) == 0)
            return &config->targets[i];
    }
    return NULL;
}
