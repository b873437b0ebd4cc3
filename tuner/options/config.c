/* tuner/options/config: hands the settings of a libconfig file to the setters of the options. */
#include "tuner/options/config.h"

#include "tuner/options/experiment_config.h"
#include "tuner/options/options.h"
#include "tuner/options/options_set.h"

#include <errno.h>
#include <inttypes.h>
#include <libconfig.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES (1U << 20)
#define MAX_TEXT_BYTES 8192 /* of a value; more than the longest that a setter accepts */
#define SHOWN_PATH     200  /* of a path in a message, so that the message survives it */

static int read_stream(FILE *stream, const char *path, char *text, struct err *err)
{
    size_t length = fread(text, 1, MAX_FILE_BYTES + 1, stream);
    if (ferror(stream))
        return err_sys(err, errno > 0 ? -errno : -EIO, "%.*s: cannot be read", SHOWN_PATH, path);
    if (length > MAX_FILE_BYTES)
        return err_set(err, -EINVAL, "%.*s: larger than 1 MiB; this is no configuration file", SHOWN_PATH,
                       path);
    text[length] = '\0';
    if (strlen(text) != length)
        return err_set(err, -EINVAL, "%.*s: holds a zero byte; this is no configuration file", SHOWN_PATH,
                       path);
    return 0;
}

/* The caller frees the text, also after a failure. */
static int read_text(const char *path, char **ret_text, struct err *err)
{
    FILE *stream = fopen(path, "re");
    if (!stream)
        return err_sys(err, -errno, "%.*s: cannot be opened", SHOWN_PATH, path);
    *ret_text = malloc(MAX_FILE_BYTES + 2);
    int r = *ret_text ? read_stream(stream, path, *ret_text, err)
                      : err_sys(err, -ENOMEM, "%.*s", SHOWN_PATH, path);
    fclose(stream);
    return r;
}

/* libconfig parses the text that was scanned: a file opened twice could have changed. */
static int parse_text(config_t *config, const char *path, const char *text, struct err *err)
{
    if (config_read_string(config, text))
        return 0;
    int line = config_error_line(config);
    const char *what = config_error_text(config);
    if (strcmp(what, "duplicate setting name") == 0)
        return err_set(err, -EINVAL, "%.*s:%d: the setting is repeated; keep one", SHOWN_PATH, path, line);
    return err_set(err, -EINVAL, "%.*s:%d: %s; settings are written as key = \"value\";", SHOWN_PATH, path,
                   line, what);
}

/* Values with commas and no setting: the points of a surface, given in its place. */
static bool is_table(const char *text)
{
    size_t length = strcspn(text, "=:;{#/\n");
    return text[0] != '@' && text[length] == '\n' && memchr(text, ',', length) != NULL;
}

static int load_text(config_t *config, const char *path, const char *text, struct err *err)
{
    unsigned line = 0;
    if (is_table(text))
        return err_set(err, -EINVAL, "%.*s: a table, no configuration; give the .conf file that names it",
                       SHOWN_PATH, path);
    int r = config_scan_numbers(text, &line, err);
    if (r < 0)
        return err_prefix(err, "%.*s:%u", SHOWN_PATH, path, line);
    config_init(config);
    r = parse_text(config, path, text, err);
    if (r < 0)
        config_destroy(config);
    return r;
}

int config_load(struct config_t *config, const char *path, struct err *err)
{
    char *text = NULL;
    int r = read_text(path, &text, err);
    if (r == 0)
        r = load_text(config, path, text, err);
    free(text);
    return r;
}

/* A fraction in digits, as the parser of shares wants it: "0.03". Not with printf's %f, which follows the
 * locale. */
static int write_fraction(double value, char *text, size_t size, struct err *err)
{
    const uint64_t scale = 10000000000000;
    if (!(value >= 0.0 && value < 1000.0))
        return err_set(err, -EINVAL, "%g is no share; write one like \"3%%\" or 0.03", value);
    uint64_t scaled = (uint64_t)llround(value * (double)scale);
    uint64_t whole = scaled / scale, fraction = scaled % scale;
    size_t length = (size_t)snprintf(text, size, "%" PRIu64 ".%013" PRIu64, whole, fraction);
    while (text[length - 1] == '0' && text[length - 2] != '.')
        text[--length] = '\0';
    return 0;
}

static int write_bool(const config_setting_t *setting, const struct option_row *row, char *text, size_t size,
                      struct err *err)
{
    bool value = config_setting_get_bool(setting);
    if (!row->argument)
        snprintf(text, size, "%s", value ? "true" : "false");
    else if (row->set == options_set_levels && row->place == FACTOR_DIRECT)
        snprintf(text, size, "%d", value);
    else
        return err_set(err, -EINVAL, "%s is no value here; write one in quotes", value ? "true" : "false");
    return 0;
}

/* The value as it would stand on the command line. */
static int write_scalar(const config_setting_t *setting, const struct option_row *row, char *text,
                        size_t size, struct err *err)
{
    int type = config_setting_type(setting);
    if (type == CONFIG_TYPE_BOOL)
        return write_bool(setting, row, text, size, err);
    if (type == CONFIG_TYPE_STRING) {
        const char *string = config_setting_get_string(setting);
        if ((size_t)snprintf(text, size, "%s", string) >= size)
            return err_set(err, -EINVAL, "the value is too long; shorten it");
        return 0;
    }
    if (row->set == options_set_text || row->set == options_set_path || row->set == options_set_existing ||
        row->set == options_set_pattern || row->set == options_set_current)
        return err_set(err, -EINVAL, "wants a text; write it in quotes");
    if (type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64) {
        if ((size_t)snprintf(text, size, "%lld", config_setting_get_int64(setting)) >= size)
            return err_set(err, -EINVAL, "the list is too long; shorten it");
        return 0;
    }
    if (type == CONFIG_TYPE_FLOAT && row->set == options_set_share)
        return write_fraction(config_setting_get_float(setting), text, size, err);
    return err_set(err, -EINVAL, "a value of this kind is not accepted; write it as a text in quotes");
}

/* [ "4k", "64k" ] becomes "4k,64k". */
static int write_list(const struct settings *settings, const config_setting_t *setting,
                      const struct option_row *row, char *text, size_t size, struct err *err)
{
    size_t used = 0;
    text[0] = '\0';
    bool several = settings->experiment.on && row->set_experiment != NULL;
    if (row->set != options_set_levels && row->set != options_set_accept && !several)
        return err_set(err, -EINVAL, "takes one value, not a list; write it in quotes");
    for (int i = 0; i < config_setting_length(setting); i++) {
        if (used + 2 > size)
            return err_set(err, -EINVAL, "the list is too long; shorten it");
        if (i > 0)
            text[used++] = ',';
        int r =
            write_scalar(config_setting_get_elem(setting, (unsigned)i), row, text + used, size - used, err);
        if (r < 0)
            return r;
        used += strlen(text + used);
    }
    return 0;
}

int config_refuse_unknown(const char *key, const char *const *more, size_t n_more, struct err *err)
{
    char dashed[64], hint[64];
    const char *names[OPTIONS_MAX_ROWS];
    const struct option_row *row;
    size_t n = 0;
    while (n < n_more && n < sizeof(names) / sizeof(names[0])) {
        names[n] = more[n];
        n++;
    }
    snprintf(dashed, sizeof(dashed), "%s", key);
    for (char *c = dashed; *c; c++)
        *c = *c == '_' ? '-' : *c;
    for (size_t i = 0; (row = options_row(i)) != NULL && n < sizeof(names) / sizeof(names[0]); i++) {
        if (row->in_config)
            names[n++] = row->name;
    }
    const char *nearest = options_nearest(dashed, names, n);
    if (!nearest)
        return err_set(err, -EINVAL, "unknown setting; see fstune recommend --help");
    snprintf(hint, sizeof(hint), "%s", nearest);
    for (char *c = hint; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return err_set(err, -EINVAL, "unknown setting; did you mean %s?", hint);
}

/* A flag that is off sets nothing. */
static bool is_off(const config_setting_t *setting)
{
    return config_setting_type(setting) == CONFIG_TYPE_BOOL && !config_setting_get_bool(setting);
}

/* Of two names of one option in a file neither wins. */
static int refuse_second_name(const struct option_row *row, const config_setting_t *setting, struct err *err)
{
    const config_setting_t *group = config_setting_parent(setting);
    for (int i = 0; i < config_setting_index(setting) && !is_off(setting); i++) {
        const config_setting_t *before = config_setting_get_elem(group, (unsigned)i);
        const char *key = config_setting_name(before);
        const struct option_row *other = is_off(before) ? NULL : options_find(key, ~0U);
        if (other != NULL && options_are_names_of_one(row, other))
            return err_set(err, -EINVAL, "stands beside %s, which sets the same; keep one", key);
    }
    return 0;
}

int config_set(struct settings *settings, const struct option_row *row, const config_setting_t *setting,
               struct err *err)
{
    char text[MAX_TEXT_BYTES];
    if (!row->in_config)
        return err_set(err, -EINVAL, "cannot stand in a configuration file; give it on the command line");
    if (config_setting_is_group(setting))
        return err_set(err, -EINVAL, "is a group in braces; write a value");
    int r = refuse_second_name(row, setting, err);
    if (r < 0)
        return r;
    r = config_setting_is_array(setting) || config_setting_is_list(setting)
            ? write_list(settings, setting, row, text, sizeof(text), err)
            : write_scalar(setting, row, text, sizeof(text), err);
    return r < 0 ? r : options_set(settings, row, text, err);
}

int config_take_setting(struct settings *settings, const struct config_setting_t *setting, unsigned command,
                        struct err *err)
{
    const char *key = config_setting_name(setting);
    if (settings->experiment.on && strcmp(key, "tests") == 0)
        return experiment_config_tests(settings, setting, err);
    const struct option_row *row = options_find(key, command);
    /* One file may serve several commands. */
    if (!row || !row->in_config)
        row = options_find(key, ~0U);
    if (!row || strchr(key, '-'))
        return config_refuse_unknown(key, NULL, 0, err);
    return config_set(settings, row, setting, err);
}

static int take_root(struct settings *settings, const config_t *config, const char *name, unsigned command,
                     struct err *err)
{
    struct settings parsed = *settings;
    const config_setting_t *root = config_root_setting(config);
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *setting = config_setting_get_elem(root, (unsigned)i);
        int r = config_take_setting(&parsed, setting, command, err);
        if (r < 0)
            return err_prefix(err, "%.*s:%u: %s", SHOWN_PATH, name, config_setting_source_line(setting),
                              config_setting_name(setting));
    }
    *settings = parsed;
    return 0;
}

int config_read_settings(const char *path, const char *text, struct settings *settings, unsigned command,
                         struct err *err)
{
    config_t config;
    int r = text ? load_text(&config, path, text, err) : config_load(&config, path, err);
    if (r < 0)
        return r;
    r = take_root(settings, &config, path, command, err);
    config_destroy(&config);
    return r;
}
