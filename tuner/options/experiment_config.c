/* Files of experiments. */
#include "tuner/options/experiment_config.h"

#include "tuner/options/config.h"
#include "tuner/options/options.h"
#include "tuner/options/options_set.h"

#include <errno.h>
#include <libconfig.h>
#include <stdio.h>
#include <string.h>

static bool is_factor(const struct option_row *row)
{
    return row != NULL && (row->set == options_set_levels || row->set_experiment != NULL);
}

/* A word for people; two tests may have the same. */
static int take_name(struct settings_test *test, const config_setting_t *setting, struct err *err)
{
    if (config_setting_type(setting) != CONFIG_TYPE_STRING)
        return err_set(err, -EINVAL, "wants a text; write it in quotes");
    const char *name = config_setting_get_string(setting);
    if ((size_t)snprintf(test->name, sizeof test->name, "%s", name) >= sizeof test->name)
        return err_set(err, -EINVAL, "the name is too long; use at most %zu bytes", sizeof test->name - 1);
    return 0;
}

static int take_member(struct settings *settings, struct settings_test *test, const config_setting_t *member,
                       struct err *err)
{
    const char *key = config_setting_name(member);
    const struct option_row *row = options_find(key, OPTIONS_EXPERIMENT);
    int r = 0;
    if (strcmp(key, "name") == 0)
        r = take_name(test, member, err);
    else if (strcmp(key, "tests") == 0 || (row != NULL && !is_factor(row)))
        r = err_set(err, -EINVAL, "holds for the whole experiment; write it outside of the tests");
    else
        r = config_take_setting(settings, member, OPTIONS_EXPERIMENT, err);
    return r < 0 ? err_prefix(err, "line %u: %s", config_setting_source_line(member), key) : 0;
}

/* The levels of settings are the test's afterwards. */
static int take_test(struct settings *settings, const config_setting_t *group, struct settings_test *ret_test,
                     struct err *err)
{
    memset(settings->workload.levels, 0, sizeof settings->workload.levels);
    memset(settings->experiment.conditions, 0, sizeof settings->experiment.conditions);
    if (!config_setting_is_group(group))
        return err_set(err, -EINVAL, "line %u: a test is a group in braces",
                       config_setting_source_line(group));
    for (int i = 0; i < config_setting_length(group); i++) {
        int r = take_member(settings, ret_test, config_setting_get_elem(group, (unsigned)i), err);
        if (r < 0)
            return r;
    }
    memcpy(ret_test->levels, settings->workload.levels, sizeof ret_test->levels);
    memcpy(ret_test->conditions, settings->experiment.conditions, sizeof ret_test->conditions);
    return 0;
}

int experiment_config_tests(struct settings *settings, const struct config_setting_t *list, struct err *err)
{
    struct settings_experiment *experiment = &settings->experiment;
    struct settings_test whole; /* what holds for all tests */
    int n = config_setting_length(list), r = 0;
    if (!config_setting_is_list(list) || n < 1 || n > SETTINGS_MAX_TESTS)
        return err_set(err, -EINVAL, "wants a list of 1 to %d tests, as in ( { ... }, { ... } )",
                       SETTINGS_MAX_TESTS);
    memcpy(whole.levels, settings->workload.levels, sizeof whole.levels);
    memcpy(whole.conditions, experiment->conditions, sizeof whole.conditions);
    experiment->n_tests = (size_t)n;
    for (int i = 0; i < n && r == 0; i++)
        r = take_test(settings, config_setting_get_elem(list, (unsigned)i), &experiment->tests[i], err);
    memcpy(settings->workload.levels, whole.levels, sizeof whole.levels);
    memcpy(experiment->conditions, whole.conditions, sizeof whole.conditions);
    return r;
}

const struct levels *experiment_config_levels(const struct settings *settings, size_t test, size_t factor)
{
    const struct settings_experiment *experiment = &settings->experiment;
    bool is_condition = factor >= FACTOR_N;
    const struct levels *own =
        is_condition ? &experiment->conditions[factor - FACTOR_N] : &settings->workload.levels[factor];
    if (test >= experiment->n_tests)
        return own;
    const struct settings_test *part = &experiment->tests[test];
    const struct levels *levels = is_condition ? &part->conditions[factor - FACTOR_N] : &part->levels[factor];
    return levels->n > 0 ? levels : own;
}

size_t experiment_config_n_tests(const struct settings *settings)
{
    return settings->experiment.n_tests > 0 ? settings->experiment.n_tests : 1;
}

/* What the whole command is about where a session knows one pattern: one that writes, where any does, by the
 * names of all. */
static void take_pattern(struct settings *settings, const struct pattern *pattern)
{
    char name[PATTERN_NAME_SIZE];
    struct pattern *whole = &settings->workload.pattern;
    bool is_first = whole->name[0] == '\0';
    int length = snprintf(name, sizeof name, "%s%s%s", whole->name, is_first ? "" : ",", pattern->name);
    if (length >= PATTERN_NAME_SIZE)
        memcpy(name, "several patterns", sizeof "several patterns");
    if (is_first || (pattern_writes(pattern) && !pattern_writes(whole)))
        *whole = *pattern;
    memcpy(whole->name, name, sizeof name);
}

static int settle_patterns(struct settings *settings, struct err *err)
{
    bool used[SETTINGS_MAX_PATTERNS] = {false};
    settings->workload.pattern = (struct pattern){0};
    for (size_t test = 0; test < experiment_config_n_tests(settings); test++) {
        const struct levels *levels = experiment_config_levels(settings, test, FACTOR_N + CONDITION_PATTERN);
        if (levels->n == 0)
            return err_set(err, -EINVAL,
                           "--pattern is missing; give read, write, randread, randwrite, rw:70, randrw:70 "
                           "..., one or several");
        for (size_t i = 0; i < levels->n; i++) {
            if (!used[levels->value[i]])
                take_pattern(settings, &settings->experiment.patterns[levels->value[i]]);
            used[levels->value[i]] = true;
        }
    }
    return 0;
}

/* Of all levels that are asked for; 0: there is none. */
static uint64_t largest_level(const struct settings *settings, enum condition condition)
{
    uint64_t largest = 0;
    for (size_t test = 0; test < experiment_config_n_tests(settings); test++) {
        const struct levels *levels = experiment_config_levels(settings, test, FACTOR_N + (size_t)condition);
        if (levels->n > 0 && levels->value[levels->n - 1] > largest)
            largest = levels->value[levels->n - 1];
    }
    return largest;
}

/* A file as large as the largest that is asked for. The session's own is spread over the most files, so that
 * whatever refuses several of them refuses the experiment. */
static void settle_file(struct settings *settings)
{
    uint64_t largest = largest_level(settings, CONDITION_FILE_SIZE);
    uint64_t files = largest_level(settings, CONDITION_FILES);
    const struct levels *caches = &settings->experiment.conditions[CONDITION_CACHE];
    settings->file.size_given = largest > 0;
    if (largest > 0)
        settings->file.size_bytes = largest;
    if (files > 0)
        settings->file.n = (uint32_t)files;
    settings->workload.alignment_bytes = largest_level(settings, CONDITION_ALIGNMENT);
    if (caches->n > 0)
        settings->workload.cache = (enum measure_cache)caches->value[0];
}

/* What the command line gives replaces what the tests do. */
static void overrule_tests(struct settings *settings, const struct settings *line)
{
    struct settings_experiment *experiment = &settings->experiment;
    for (size_t i = 0; i < experiment->n_tests; i++) {
        struct settings_test *test = &experiment->tests[i];
        for (int factor = 0; factor < FACTOR_N; factor++)
            if (line->workload.levels[factor].n > 0)
                test->levels[factor].n = 0;
        for (int condition = 0; condition < CONDITION_N; condition++)
            if (line->experiment.conditions[condition].n > 0)
                test->conditions[condition].n = 0;
    }
}

int experiment_config_scan(struct settings *line, int argc, char **argv, struct err *err)
{
    settings_init(line);
    line->operands_allowed = 1;
    return options_parse(line, OPTIONS_EXPERIMENT, argc, argv, err);
}

int experiment_config_read(struct settings *settings, const struct settings *line, int argc, char **argv,
                           const char *text, struct err *err)
{
    const char *path = text != NULL ? "answers" : line->n_operands > 0 ? line->operands[0] : NULL;
    settings_init(settings);
    settings->operands_allowed = 1;
    int r = options_parse_configured(settings, OPTIONS_EXPERIMENT, argc, argv, path, text, err);
    if (r < 0)
        return r;
    overrule_tests(settings, line);
    settle_file(settings);
    return settle_patterns(settings, err);
}
