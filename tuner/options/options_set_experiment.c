/* tuner/options/options_set_experiment: setters of what only experiments vary. */
#include "tuner/options/options_set.h"

#include "bench/base/units.h"
#include "tuner/options/options_value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Number of a pattern among all that were named; a new one is put behind them. */
static int find_pattern(struct settings_experiment *experiment, const struct pattern *pattern,
                        uint64_t *ret_number, struct err *err)
{
    size_t number = 0;
    while (number < experiment->n_patterns && strcmp(experiment->patterns[number].name, pattern->name) != 0)
        number++;
    if (number == SETTINGS_MAX_PATTERNS)
        return err_set(err, -EINVAL, "too many patterns; give at most %d", SETTINGS_MAX_PATTERNS);
    if (number == experiment->n_patterns)
        experiment->patterns[experiment->n_patterns++] = *pattern;
    *ret_number = number;
    return 0;
}

static int add_pattern(struct settings_experiment *experiment, struct levels *levels,
                       const struct pattern *pattern, struct err *err)
{
    uint64_t number = 0;
    int r = find_pattern(experiment, pattern, &number, err);
    for (size_t i = 0; i < levels->n && r == 0; i++) {
        if (levels->value[i] == number)
            return 0;
    }
    if (r == 0)
        levels->value[levels->n++] = number;
    return r;
}

/* Reads one pattern from the cursor on. Shares have commas of their own: a mix goes on until it is one. */
static int take_pattern(const char **cursor, struct pattern *ret_pattern, struct err *err)
{
    char mix[PATTERN_N_KINDS * 2 * OPTIONS_VALUE_SIZE] = "", part[2 * OPTIONS_VALUE_SIZE];
    for (size_t used = 0;;) {
        int r = options_value_part(cursor, part, err);
        if (r < 0)
            return r;
        used += (size_t)snprintf(mix + used, sizeof mix - used, "%s%s", used > 0 ? "," : "", part);
        bool goes_on = strchr(part, '=') != NULL && *cursor != NULL &&
                       memchr(*cursor, '=', strcspn(*cursor, ",")) != NULL;
        if (!goes_on || used + sizeof part >= sizeof mix || pattern_parse(mix, ret_pattern, NULL) == 0)
            return pattern_parse(mix, ret_pattern, err);
    }
}

int options_set_patterns(struct settings *settings, const struct option_row *row, const char *text,
                         struct err *err)
{
    struct settings_experiment *experiment = &settings->experiment;
    struct levels levels = {0};
    (void)row;
    while (text != NULL) {
        struct pattern pattern;
        int r = take_pattern(&text, &pattern, err);
        if (r == 0)
            r = add_pattern(experiment, &levels, &pattern, err);
        if (r < 0)
            return r;
    }
    experiment->conditions[CONDITION_PATTERN] = levels;
    return 0;
}

int options_set_design(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err)
{
    static const char *const counted[] = {"sobol", "random", "lhs"};
    struct settings_experiment *experiment = &settings->experiment;
    bool is_plain = strcmp(text, "full") == 0 || strcmp(text, "fractional") == 0;
    size_t length = strcspn(text, ":");
    uint64_t n = 0;
    for (size_t i = 0; i < sizeof counted / sizeof counted[0] && n == 0; i++) {
        if (strlen(counted[i]) != length || memcmp(text, counted[i], length) != 0)
            continue;
        if (text[length] == '\0' || units_parse_count(text + length + 1, 100000, &n) < 0 || n == 0)
            return err_set(err, -EINVAL, "'%.60s' needs a number of settings of 1..100000, as in %s:16", text,
                           counted[i]);
    }
    if (!is_plain && n == 0)
        return err_set(err, -EINVAL, "'%.60s' is unknown; use %s", text, row->argument);
    snprintf(experiment->design, sizeof experiment->design, "%.*s", (int)length, text);
    experiment->design_points = (uint32_t)n;
    return 0;
}
