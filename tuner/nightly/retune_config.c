/* tuner/nightly/retune_config: targets from a libconfig file. */
#include "tuner/nightly/retune_config.h"

#include "tuner/base/trust.h"
#include "tuner/nightly/retune_snippet.h"
#include "tuner/options/config.h"
#include "tuner/options/options.h"

#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_PATH 200

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
    {"host", "is for recommend alone, beside burst; leave it out"},
};

static const struct option_row *find_key(const char *key)
{
    const struct option_row *row;
    for (size_t i = 0; (row = retune_config_key(i)) != NULL; i++) {
        const char *a = key, *b = row->name;
        while (*a != '\0' && *a == (*b == '-' ? '_' : *b)) {
            a++;
            b++;
        }
        if (*a == '\0' && *b == '\0')
            return row;
    }
    return NULL;
}

static int refuse_key(const char *key, struct err *err)
{
    const char *names[OPTIONS_MAX_ROWS];
    size_t n = 0;
    const struct option_row *row;
    while (n + 1 < OPTIONS_MAX_ROWS && (row = retune_config_key(n)) != NULL)
        names[n++] = row->name;
    names[n++] = "targets";
    return config_refuse_unknown(key, names, n, err);
}

static int read_key(struct retune_target *target, const config_setting_t *setting, struct err *err)
{
    const char *key = config_setting_name(setting);
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        if (strcmp(key, strangers[i].key) == 0)
            return err_set(err, -EINVAL, "%s", strangers[i].instead);
    }
    const struct option_row *row = find_key(key);
    if (row == NULL && strchr(key, '-') == NULL)
        row = options_find(key, OPTIONS_RECOMMEND);
    if (row == NULL)
        return refuse_key(key, err);
    return config_set(&target->settings, row, setting, err);
}

/* At the top: an option of the command, or a default of the targets. */
static int read_top_key(struct retune_config *config, struct retune_target *defaults,
                        const config_setting_t *setting, struct err *err)
{
    const char *key = config_setting_name(setting);
    const struct option_row *row = strchr(key, '-') == NULL ? options_find(key, OPTIONS_RETUNE) : NULL;
    if (strcmp(key, "targets") == 0)
        return 0;
    if (row != NULL)
        return config_set(&config->command, row, setting, err);
    if (strcmp(key, "name") == 0 || strcmp(key, "snippet") == 0)
        return err_set(err, -EINVAL, "belongs to one target; move it into its group");
    return read_key(defaults, setting, err);
}

/* "FILE:LINE: key: " before what is there. */
static int blame_setting(const char *path, const config_setting_t *setting, struct err *err)
{
    const char *key = config_setting_name(setting);
    return err_prefix(err, "%.*s:%u: %s", SHOWN_PATH, path, config_setting_source_line(setting),
                      key != NULL ? key : "targets");
}

/* One key under two names. */
static int check_names(const char *path, const config_setting_t *group, struct err *err)
{
    const config_setting_t *again = config_setting_get_member(group, "existing_file");
    if (again == NULL || config_setting_get_member(group, "existing") == NULL)
        return 0;
    err_set(err, -EINVAL, "is the same as existing, which is set too; leave one out");
    return blame_setting(path, again, err);
}

static int read_top(struct retune_config *config, struct retune_target *defaults, const char *path,
                    const config_setting_t *root, struct err *err)
{
    if (check_names(path, root, err) < 0)
        return -EINVAL;
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *setting = config_setting_get_elem(root, (unsigned)i);
        if (read_top_key(config, defaults, setting, err) < 0)
            return blame_setting(path, setting, err);
    }
    return 0;
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
    return 0;
}

static int check_hooks(const struct retune_target *target, struct err *err)
{
    bool has_hook = target->check[0] != '\0' || target->apply[0] != '\0' || target->rollback[0] != '\0';
    if (target->snippet[0] != '\0' && target->settings.snippet.format[0] == '\0')
        return err_set(err, -EINVAL,
                       "snippet: the format is missing; add emit = \"qemu\" or another of "
                       "fstune emit --list");
    if (target->snippet[0] == '\0' && has_hook)
        return err_set(err, -EINVAL, "check, apply and rollback are about a file; name it as snippet");
    return target->snippet[0] != '\0' ? retune_snippet_check(target, err) : 0;
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
    if (check_names(path, group, err) < 0)
        return -EINVAL;
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *setting = config_setting_get_elem(group, (unsigned)i);
        if (read_key(target, setting, err) < 0)
            return blame_setting(path, setting, err);
    }
    if (check_target(config, target, err) < 0)
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
        result = read_top(config, defaults, path, root, err);
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
