/* tuner/options/options_set_factors: setters of factors: a value, lists and ranges of them, --current. */
#include "tuner/options/options_set.h"

#include "bench/base/factors.h"
#include "bench/base/units.h"
#include "tuner/options/options_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The file is filled in whole steps. */
#define FILE_STEP_BYTES (1ULL << 20)

static int read_file_size(const char *text, const char *range, uint64_t *ret_value, struct err *err)
{
    int r = options_value_size(text, range, ret_value, err);
    if (r == 0)
        *ret_value -= *ret_value % FILE_STEP_BYTES;
    return r;
}

typedef int value_reader(const char *text, const char *range, uint64_t *ret_value, struct err *err);

/* Of factors, then of conditions. What is no choice may be a range, "4k..1m". */
static value_reader *const readers[FACTOR_N + CONDITION_N] = {
    [FACTOR_REQUEST_SIZE] = options_value_blocks,
    [FACTOR_QUEUE_DEPTH] = options_value_count,
    [FACTOR_DIRECT] = options_value_choice,
    [FACTOR_API] = options_value_choice,
    [FACTOR_THREADS] = options_value_count,
    [FACTOR_SYNC] = options_value_choice,
    [FACTOR_WRITE_SIZE] = options_value_blocks,
    [FACTOR_N + CONDITION_CACHE] = options_value_choice,
    [FACTOR_N + CONDITION_FILE_SIZE] = read_file_size,
    [FACTOR_N + CONDITION_FILES] = options_value_count,
    [FACTOR_N + CONDITION_ALIGNMENT] = options_value_blocks,
};

/* Keeps the levels ascending and distinct. */
static int add_level(struct levels *levels, uint64_t value, struct err *err)
{
    size_t i = levels->n;
    while (i > 0 && levels->value[i - 1] > value)
        i--;
    if (i > 0 && levels->value[i - 1] == value)
        return 0;
    if (levels->n == SETTINGS_MAX_LEVELS)
        return err_set(err, -EINVAL, "too many values; give at most %d", SETTINGS_MAX_LEVELS);
    memmove(&levels->value[i + 1], &levels->value[i], (levels->n - i) * sizeof(levels->value[0]));
    levels->value[i] = value;
    levels->n++;
    return 0;
}

static bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static int add_range(struct levels *levels, value_reader *read, const char *range, const char *low,
                     const char *high, struct err *err)
{
    uint64_t first, last;
    if (low[0] == '\0' || high[0] == '\0')
        return err_set(err, -EINVAL, "'%s..%s' lacks an end; write both, as LOW..HIGH", low, high);
    int r = read(low, range, &first, err);
    if (r == 0)
        r = read(high, range, &last, err);
    if (r < 0)
        return r;
    if (!is_power_of_two(first) || !is_power_of_two(last))
        return err_set(err, -EINVAL, "'%s..%s': %s is not a power of two; a range begins and ends with one",
                       low, high, is_power_of_two(first) ? high : low);
    if (first > last)
        return err_set(err, -EINVAL, "'%s..%s' runs downwards; write %s..%s", low, high, high, low);
    for (uint64_t value = first; r == 0 && value <= last; value *= 2)
        r = add_level(levels, value, err);
    return r;
}

static int add_item(struct levels *levels, value_reader *read, const char *range, const char *item,
                    struct err *err)
{
    char low[OPTIONS_VALUE_SIZE], high[OPTIONS_VALUE_SIZE];
    uint64_t value;
    if (read != options_value_choice && options_value_split(item, low, high))
        return add_range(levels, read, range, low, high, err);
    int r = read(item, range, &value, err);
    return r < 0 ? r : add_level(levels, value, err);
}

/* Levels stay as they are on failure. */
static int set_levels(struct levels *place, value_reader *read, const char *range, const char *text,
                      struct err *err)
{
    struct levels levels = {0};
    char item[2 * OPTIONS_VALUE_SIZE];
    while (text) {
        int r = options_value_part(&text, item, err);
        if (r == 0)
            r = add_item(&levels, read, range, item, err);
        if (r < 0)
            return r;
    }
    *place = levels;
    return 0;
}

int options_set_levels(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err)
{
    return set_levels(&settings->workload.levels[row->place], readers[row->place], row->range, text, err);
}

int options_set_counts(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err)
{
    struct levels *place = (struct levels *)((char *)settings + row->place);
    return set_levels(place, options_value_count, row->range, text, err);
}

int options_set_condition(struct settings *settings, const struct option_row *row, const char *text,
                          struct err *err)
{
    const char *range = row->range[0] != '\0' ? row->range : row->argument;
    return set_levels(&settings->experiment.conditions[row->condition],
                      readers[FACTOR_N + (size_t)row->condition], range, text, err);
}

/* NULL unless the key is a factor's, written with underscores. */
static const struct option_row *find_factor(const char *key)
{
    const struct option_row *row = strchr(key, '-') ? NULL : options_find(key, ~0U);
    return row && row->set == options_set_levels ? row : NULL;
}

static int add_current(struct current *current, char *part, struct err *err)
{
    char *equal_sign = strchr(part, '=');
    if (!equal_sign)
        return err_set(err, -EINVAL, "'%s' has no value; write KEY=VALUE, as in request_size=64k", part);
    *equal_sign = '\0';
    const struct option_row *row = find_factor(part);
    if (!row)
        return err_set(err, -EINVAL,
                       "'%s' is no factor; use request_size, write_request_size, queue_depth, direct, api, "
                       "threads or sync",
                       part);
    if (current->given[row->place])
        return err_set(err, -EINVAL, "%s is given twice; keep one", part);
    int r = readers[row->place](equal_sign + 1, row->range, &current->value[row->place], err);
    if (r < 0) {
        err_prefix(err, "%s", part);
        return r;
    }
    current->given[row->place] = true;
    return 0;
}

int options_set_current(struct settings *settings, const struct option_row *row, const char *text,
                        struct err *err)
{
    struct current current = {0};
    char part[2 * OPTIONS_VALUE_SIZE];
    (void)row;
    while (text) {
        int r = options_value_part(&text, part, err);
        if (r == 0)
            r = add_current(&current, part, err);
        if (r < 0)
            return r;
    }
    settings->search.current = current;
    return 0;
}
