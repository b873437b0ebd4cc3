/* The configuration of a program that is tuned while it works, and its settings as words. */
#include "tuner/nightly/retune_online.h"

#include "bench/base/units.h"
#include "tuner/base/trust.h"
#include "tuner/base/utf8.h"
#include "tuner/options/config.h"
#include "tuner/options/options_set.h"

#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_PATH  200
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
#define IN(MEMBER)  offsetof(struct retune_online_config, MEMBER)

static const struct option_row keys[] = {
    RETUNE_CONFIG_KEY("value-file", "FILE", "", "required", retune_config_set_path, IN(value_file),
                      "absolute path that settings are written to, in one step; in a directory that only its "
                      "owner may write to"),
    RETUNE_CONFIG_KEY("template", "TEXT", "", "none", options_set_text, IN(template),
                      "what that file holds, with {NAME} where the value of the setting NAME stands; without "
                      "it lines NAME=VALUE"),
    RETUNE_CONFIG_KEY("hook", "COMMAND", "", "none", options_set_text, IN(hook),
                      "for /bin/sh, after the file was replaced: makes the program read $FSTUNE_SNIPPET, "
                      "which is that file"),
    RETUNE_CONFIG_KEY("hook-timeout", "DURATION", "1s..1h", "10s", options_set_duration, IN(hook_timeout_ns),
                      "time that a command may take"),
    RETUNE_CONFIG_KEY("counter", "FILE", "", "none", options_set_text, IN(counter),
                      "holds what the program has done so far, a number that only grows, and behind a blank, "
                      "if the program knows, a word for the kind of load"),
    RETUNE_CONFIG_KEY("counter-command", "COMMAND", "", "none", options_set_text, IN(counter_command),
                      "for /bin/sh, instead: prints the same"),
    RETUNE_CONFIG_KEY("slice", "DURATION", "10ms..1h", "1s", options_set_duration, IN(slice_ns),
                      "a trial lasts so long"),
    RETUNE_CONFIG_KEY("settle", "DURATION", "0s..1h", "0s", options_set_duration, IN(settle_ns),
                      "time from the hook's end until the new values count, which is no part of a slice"),
    RETUNE_CONFIG_KEY("duration", "DURATION", "1s..8760h", "none", options_set_duration, IN(duration_ns),
                      "end after so long; without it with a signal"),
    RETUNE_CONFIG_KEY("regret", "SHARE", "0.1%..50%", "3%", options_set_share, IN(regret_share),
                      "what trials may cost at most, of the work"),
    RETUNE_CONFIG_KEY("history", "FILE", "", "none", options_set_text, IN(history),
                      "where what was found is kept for the next session"),
};

void retune_online_config_print_keys(FILE *out)
{
    fprintf(out,
            "\nKeys of the configuration with --online, beside json and quiet, and `settings`, a list of "
            "groups of which each has\nname, values (a list of 2 to %d) and first, the one that runs "
            "first.\n",
            RETUNE_ONLINE_MOST_VALUES);
    retune_config_print_rows(out, keys, N_OF(keys));
}

/* Words stand in lines, with commas between them, and in JSON. */
static int check_word(const char *word, struct err *err)
{
    for (size_t i = 0, length; word[i] != '\0'; i += length) {
        length = utf8_length(word + i);
        if (length == 0)
            return err_set(err, -EINVAL,
                           "'%.40s' is no UTF-8, which every value has to be; save the file as UTF-8", word);
        if (word[i] == ',' || !utf8_is_plain(word + i, length))
            return err_set(err, -EINVAL,
                           "'%.40s' has a comma or a control character, which no value may have", word);
    }
    return 0;
}

/* A word of a list or a group: a text, or an integer. */
static int take_word(const config_setting_t *setting, char word[RETUNE_ONLINE_VALUE_SIZE], struct err *err)
{
    int type = config_setting_type(setting), n = -1;
    if (type == CONFIG_TYPE_STRING)
        n = snprintf(word, RETUNE_ONLINE_VALUE_SIZE, "%s", config_setting_get_string(setting));
    else if (type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64)
        n = snprintf(word, RETUNE_ONLINE_VALUE_SIZE, "%lld", config_setting_get_int64(setting));
    if (n < 0)
        return err_set(err, -EINVAL, "a value is a text in quotes or an integer");
    if (n == 0 || n >= RETUNE_ONLINE_VALUE_SIZE)
        return err_set(err, -EINVAL, "a value has 1 to %d characters", RETUNE_ONLINE_VALUE_SIZE - 1);
    return check_word(word, err);
}

static size_t find_value(const struct retune_online_factor *factor, const char *word)
{
    size_t i = 0;
    while (i < factor->n && strcmp(factor->values[i], word) != 0)
        i++;
    return i;
}

static bool ascends(const struct retune_online_factor *factor)
{
    uint64_t before = 0, now;
    for (size_t i = 0; i < factor->n; i++) {
        const char *word = factor->values[i];
        bool is_number = units_parse_size(word, &now) == 0 || units_parse_duration(word, &now) == 0;
        if (!is_number || (i > 0 && now <= before))
            return false;
        before = now;
    }
    return true;
}

static int take_values(struct retune_online_factor *factor, const config_setting_t *list, struct err *err)
{
    int n = list != NULL && config_setting_is_aggregate(list) ? config_setting_length(list) : 0;
    if (n < 2 || n > RETUNE_ONLINE_MOST_VALUES)
        return err_set(err, -EINVAL, "values has to be a list of 2 to %d: values = [\"64k\", \"1m\"];",
                       RETUNE_ONLINE_MOST_VALUES);
    for (int i = 0; i < n; i++) {
        char word[RETUNE_ONLINE_VALUE_SIZE];
        int code = take_word(config_setting_get_elem(list, (unsigned)i), word, err);
        if (code == 0 && find_value(factor, word) < factor->n)
            code = err_set(err, -EINVAL, "the value %s stands there twice; leave one out", word);
        if (code < 0)
            return code;
        memcpy(factor->values[factor->n++], word, sizeof word);
    }
    factor->is_ordered = ascends(factor);
    return 0;
}

static int take_first(struct retune_online_factor *factor, const config_setting_t *setting, struct err *err)
{
    char word[RETUNE_ONLINE_VALUE_SIZE];
    if (setting == NULL)
        return err_set(err, -EINVAL, "first is missing: the value that the program has now");
    int code = take_word(setting, word, err);
    if (code < 0)
        return code;
    factor->first = find_value(factor, word);
    return factor->first < factor->n ? 0 : err_set(err, -EINVAL, "first: %s is none of its values", word);
}

static int take_name(struct retune_online_config *config, const config_setting_t *setting, struct err *err)
{
    struct retune_online_factor *factor = &config->factors[config->n_factors];
    const char *name = setting != NULL ? config_setting_get_string(setting) : NULL;
    const struct option_row row = {.place = (size_t)(factor->name - (char *)config)};
    if (name == NULL)
        return err_set(err, -EINVAL, "name is missing; add name = \"...\"");
    int code = retune_config_set_name(&config->settings, &row, name, err);
    for (size_t i = 0; i < config->n_factors && code == 0; i++) {
        if (strcmp(config->factors[i].name, name) == 0)
            code = err_set(err, -EINVAL, "the name %s stands there twice; choose another", name);
    }
    return code;
}

static int take_factor(struct retune_online_config *config, const config_setting_t *group, struct err *err)
{
    static const char *const names[] = {"name", "values", "first"};
    struct retune_online_factor *factor = &config->factors[config->n_factors];
    if (!config_setting_is_group(group))
        return err_set(
            err, -EINVAL,
            "a setting is a group: { name = \"block\"; values = [\"64k\", \"1m\"]; first = \"64k\"; }");
    for (int i = 0; i < config_setting_length(group); i++) {
        const char *key = config_setting_name(config_setting_get_elem(group, (unsigned)i));
        if (strcmp(key, "name") != 0 && strcmp(key, "values") != 0 && strcmp(key, "first") != 0)
            return options_refuse(key, "no key of a setting", names, N_OF(names),
                                  "there are name, values and first", err);
    }
    int code = take_name(config, config_setting_get_member(group, "name"), err);
    if (code == 0)
        code = take_values(factor, config_setting_get_member(group, "values"), err);
    if (code == 0)
        code = take_first(factor, config_setting_get_member(group, "first"), err);
    config->n_factors += code == 0;
    return code;
}

static int blame(const char *path, unsigned line, const char *key, struct err *err)
{
    return err_prefix(err, "%.*s:%u: %s", SHOWN_PATH, path, line, key);
}

static int take_factors(struct retune_online_config *config, const char *path, const config_setting_t *list,
                        struct err *err)
{
    int n = config_setting_is_list(list) ? config_setting_length(list) : 0;
    if (n < 1 || n > ONLINE_FACTORS) {
        err_set(err, -EINVAL, "has to be a list of 1 to %d groups: settings = ( { name = \"...\"; ... } );",
                ONLINE_FACTORS);
        return blame(path, config_setting_source_line(list), "settings", err);
    }
    for (int i = 0; i < n; i++) {
        const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);
        if (take_factor(config, group, err) < 0)
            return blame(path, config_setting_source_line(group), "settings", err);
    }
    return 0;
}

static int take_key(struct retune_online_config *config, const config_setting_t *setting, struct err *err)
{
    const char *key = config_setting_name(setting);
    const char *names[N_OF(keys) + 1] = {"settings"};
    bool is_output = strcmp(key, "json") == 0 || strcmp(key, "quiet") == 0;
    const struct option_row *row = is_output ? options_find(key, OPTIONS_RETUNE) : NULL;
    for (size_t i = 0; i < N_OF(keys); i++) {
        names[i + 1] = keys[i].name;
        if (options_is_named(key, keys[i].name) && strchr(key, '-') == NULL)
            row = &keys[i];
    }
    if (row == NULL)
        return options_refuse(key, "no key here", names, N_OF(names), "fstune retune --help lists them", err);
    return config_set(&config->settings, row, setting, err);
}

static int take_root(struct retune_online_config *config, const char *path, const config_setting_t *root,
                     struct err *err)
{
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *setting = config_setting_get_elem(root, (unsigned)i);
        const char *key = config_setting_name(setting);
        if (strcmp(key, "settings") == 0) {
            if (take_factors(config, path, setting, err) < 0)
                return -EINVAL;
        } else if (take_key(config, setting, err) < 0) {
            return blame(path, config_setting_source_line(setting), key, err);
        }
    }
    return 0;
}

static int check_template(const struct retune_online_config *config, struct err *err)
{
    char place[RETUNE_CONFIG_NAME_SIZE + 2];
    for (size_t i = 0; config->template[0] != '\0' && i < config->n_factors; i++) {
        snprintf(place, sizeof place, "{%s}", config->factors[i].name);
        if (strstr(config->template, place) == NULL)
            return err_set(err, -EINVAL, "template: %s is missing; it says where the value stands", place);
    }
    return 0;
}

static int check(const struct retune_online_config *config, struct err *err)
{
    size_t n = 1;
    if (config->value_file[0] == '\0')
        return err_set(err, -EINVAL, "value_file is missing: the file that settings are written to");
    if ((config->counter[0] == '\0') == (config->counter_command[0] == '\0'))
        return err_set(
            err, -EINVAL, "%s",
            config->counter[0] == '\0'
                ? "counter is missing: the file that holds what the program has done; or counter_command"
                : "counter and counter_command exclude each other; leave one out");
    if (config->n_factors == 0)
        return err_set(err, -EINVAL, "settings is missing: what can be set");
    for (size_t i = 0; i < config->n_factors; i++)
        n = n > RETUNE_ONLINE_MOST_SETTINGS ? n : n * config->factors[i].n;
    if (n > RETUNE_ONLINE_MOST_SETTINGS)
        return err_set(
            err, -EINVAL,
            "settings: there are more than %u combinations, too many to try beside the work; leave "
            "values out",
            RETUNE_ONLINE_MOST_SETTINGS);
    return check_template(config, err);
}

static int take_file(struct retune_online_config *config, const char *path, struct err *err)
{
    config_t file;
    int code = config_load(&file, path, err);
    if (code < 0)
        return code;
    code = take_root(config, path, config_root_setting(&file), err);
    config_destroy(&file);
    if (code == 0 && (code = check(config, err)) < 0)
        err_prefix(err, "%.*s", SHOWN_PATH, path);
    return code;
}

int retune_online_config_read(struct retune_online_config *config, const char *path, struct err *err)
{
    memset(config, 0, sizeof *config);
    settings_init(&config->settings);
    retune_config_take_defaults(&config->settings, keys, N_OF(keys));
    /* Checked, because its commands run as us. */
    int code = trust_check_file(path, false, err);
    return code == 0 ? take_file(config, path, err) : code;
}

struct online_setting retune_online_config_first(const struct retune_online_config *config)
{
    struct online_setting first = {{0}};
    for (size_t i = 0; i < config->n_factors; i++)
        first.values[i] = (double)config->factors[i].first;
    return first;
}

static const char *value_of(const struct retune_online_factor *factor, double number)
{
    return factor->values[(size_t)number];
}

_Static_assert(ONLINE_FACTORS *(RETUNE_CONFIG_NAME_SIZE + RETUNE_ONLINE_VALUE_SIZE) <=
                   DISK_HISTORY_SETTING_SIZE,
               "the words of a setting fit");

const char *retune_online_config_write(const struct retune_online_config *config,
                                       const struct online_setting *setting,
                                       char buffer[static DISK_HISTORY_SETTING_SIZE])
{
    size_t n = 0;
    for (size_t i = 0; i < config->n_factors; i++)
        n += (size_t)snprintf(buffer + n, DISK_HISTORY_SETTING_SIZE - n, "%s%s=%s", i > 0 ? "," : "",
                              config->factors[i].name, value_of(&config->factors[i], setting->values[i]));
    return buffer;
}

int retune_online_config_parse(const struct retune_online_config *config, const char *words,
                               struct online_setting *ret_setting)
{
    struct online_setting setting = {{0}};
    char copy[DISK_HISTORY_SETTING_SIZE], *rest = copy;
    if (strlen(words) >= sizeof copy)
        return -EINVAL;
    memcpy(copy, words, strlen(words) + 1);
    for (size_t i = 0; i < config->n_factors; i++) {
        const struct retune_online_factor *factor = &config->factors[i];
        char *part = strsep(&rest, ","), *name = strsep(&part, "=");
        size_t value = part != NULL ? find_value(factor, part) : factor->n;
        if (value == factor->n || strcmp(name, factor->name) != 0)
            return -EINVAL;
        setting.values[i] = (double)value;
    }
    if (rest != NULL)
        return -EINVAL;
    *ret_setting = setting;
    return 0;
}

/* The factor whose {NAME} the text begins with; n_factors: it is none. */
static size_t find_place(const struct retune_online_config *config, const char *text)
{
    size_t i = 0, n;
    for (; i < config->n_factors && text[0] == '{'; i++) {
        n = strlen(config->factors[i].name);
        if (strncmp(text + 1, config->factors[i].name, n) == 0 && text[n + 1] == '}')
            return i;
    }
    return config->n_factors;
}

static void print_template(FILE *out, const struct retune_online_config *config,
                           const struct online_setting *setting)
{
    for (const char *at = config->template; *at != '\0'; at++) {
        size_t i = find_place(config, at);
        if (i == config->n_factors) {
            fputc(*at, out);
            continue;
        }
        fputs(value_of(&config->factors[i], setting->values[i]), out);
        at += strlen(config->factors[i].name) + 1;
    }
}

char *retune_online_config_text(const struct retune_online_config *config,
                                const struct online_setting *setting)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (out == NULL)
        return NULL;
    print_template(out, config, setting);
    for (size_t i = 0; config->template[0] == '\0' && i < config->n_factors; i++)
        fprintf(out, "%s=%s\n", config->factors[i].name, value_of(&config->factors[i], setting->values[i]));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
