/* tuner/options/options_set: setters for plain values. Those of factors are in options_set_factors.c. */
#include "tuner/options/options_set.h"

#include "bench/base/pattern.h"
#include "bench/base/units.h"
#include "tuner/base/warnings_table.h"
#include "tuner/options/options_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void *place_of(struct settings *settings, const struct option_row *row)
{
    return (char *)settings + row->place;
}

int options_set_size(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    uint64_t *place = place_of(settings, row);
    return options_value_size(text, row->range, place, err);
}

int options_set_alignment(struct settings *settings, const struct option_row *row, const char *text,
                          struct err *err)
{
    uint64_t bytes;
    int result = options_value_size(text, row->range, &bytes, err);
    if (result == 0 && bytes % FACTORS_REQUEST_SIZE_MIN_BYTES != 0)
        return err_set(err, -EINVAL, "%.60s is not a multiple of 512; use %" PRIu64 " or %" PRIu64, text,
                       bytes / 512 * 512, bytes / 512 * 512 + 512);
    if (result == 0)
        *(uint64_t *)place_of(settings, row) = bytes;
    return result;
}

/* "60" can only be meant as a duration, so the answer is what to add. */
static int refuse_unitless(const char *text, struct err *err)
{
    uint64_t number;
    if (units_parse_count(text, UINT64_MAX, &number) == 0 && number > 0 && number % 60 == 0)
        return err_set(err, -EINVAL, "'%.20s' has no unit; write %.20ss or %" PRIu64 "m", text, text,
                       number / 60);
    return err_set(err, -EINVAL, "'%.20s' has no unit; write %.20ss or %.20sms", text, text, text);
}

int options_set_duration(struct settings *settings, const struct option_row *row, const char *text,
                         struct err *err)
{
    char with_unit[32];
    uint64_t ns;
    int r = units_parse_duration(text, &ns);
    int length = snprintf(with_unit, sizeof(with_unit), "%sms", text);
    if (r == -EINVAL && (size_t)length < sizeof(with_unit) && units_parse_duration(with_unit, &ns) == 0)
        return refuse_unitless(text, err);
    if (r == -EINVAL)
        return err_set(err, -EINVAL, "'%.60s' is not a duration; write a number with us, ms, s, m or h",
                       text);
    if (r < 0 || !options_value_within(row->range, units_parse_duration, ns))
        return err_set(err, -EINVAL, "'%.60s' is out of range; use %s", text, row->range);
    *(uint64_t *)place_of(settings, row) = ns;
    return 0;
}

int options_set_seed(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    uint64_t *place = place_of(settings, row);
    return options_value_count(text, row->range, place, err);
}

int options_set_count(struct settings *settings, const struct option_row *row, const char *text,
                      struct err *err)
{
    uint64_t count;
    int r = options_value_count(text, row->range, &count, err);
    if (r == 0)
        *(uint32_t *)place_of(settings, row) = (uint32_t)count;
    return r;
}

static bool share_within(const char *range, double share)
{
    char low[OPTIONS_VALUE_SIZE], high[OPTIONS_VALUE_SIZE];
    double least, most;
    bool is_open = range[0] == '>';
    if (!options_value_split(range + is_open, low, high) || units_parse_share(low, &least) < 0 ||
        units_parse_share(high, &most) < 0)
        return false;
    return (is_open ? share > least : share >= least) && share <= most;
}

int options_set_share(struct settings *settings, const struct option_row *row, const char *text,
                      struct err *err)
{
    char percent[32];
    double share;
    int r = units_parse_share(text, &share);
    int length = snprintf(percent, sizeof(percent), "%s%%", text);
    if (r == -EINVAL && (size_t)length < sizeof(percent) && units_parse_share(percent, &share) == 0)
        return err_set(err, -EINVAL, "'%.30s' can be misread; write %s or %g", text, percent, share);
    if (r == -EINVAL)
        return err_set(err, -EINVAL, "'%.60s' is not a share; write one like 3%% or 0.03", text);
    if (r < 0 || !share_within(row->range, share))
        return err_set(err, -EINVAL, "'%.60s' is out of range; use %s", text, row->range);
    *(double *)place_of(settings, row) = share;
    return 0;
}

int options_set_text(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    size_t length = strlen(text);
    if (length == 0)
        return err_set(err, -EINVAL, "the value is empty; give one or leave the option out");
    if (length >= SETTINGS_TEXT_SIZE)
        return err_set(err, -EINVAL, "'%.40s...' is too long; use at most %d bytes", text,
                       SETTINGS_TEXT_SIZE - 1);
    memcpy(place_of(settings, row), text, length + 1);
    return 0;
}

int options_set_flag(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    bool is_set = !text || strcmp(text, "true") == 0;
    if (!is_set && strcmp(text, "false") != 0)
        return err_set(err, -EINVAL, "'%.60s' is neither true nor false; write one of them, without quotes",
                       text);
    *(bool *)place_of(settings, row) = is_set;
    return 0;
}

/* The number of `text` among the choices "a|b|c". */
static int find_choice(const char *text, const char *choices, unsigned *ret_number, struct err *err)
{
    size_t length = strlen(text);
    const char *choice = choices;
    for (unsigned number = 0;; number++) {
        size_t n = strcspn(choice, "|");
        if (n == length && memcmp(choice, text, n) == 0) {
            *ret_number = number;
            return 0;
        }
        if (choice[n] == '\0')
            return err_set(err, -EINVAL, "'%.60s' is unknown; use %s", text, choices);
        choice += n + 1;
    }
}

int options_set_name(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    unsigned number;
    int r = find_choice(text, row->argument, &number, err);
    if (r == 0)
        snprintf(place_of(settings, row), SETTINGS_NAME_SIZE, "%s", text);
    return r;
}

int options_set_choice(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err)
{
    unsigned number;
    int r = find_choice(text, row->argument, &number, err);
    if (r == 0)
        memcpy(place_of(settings, row), &number, sizeof(number));
    return r;
}

int options_set_pattern(struct settings *settings, const struct option_row *row, const char *text,
                        struct err *err)
{
    static const char *const names[] = {"pattern: ", "pattern "};
    struct err own = {0};
    (void)row;
    int r = pattern_parse(text, &settings->workload.pattern, &own);
    if (r == 0)
        return 0;
    /* The caller's prefix says "pattern" as well: once is enough. */
    const char *what = own.text;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(own.text, names[i], strlen(names[i])) == 0)
            what = own.text + strlen(names[i]);
    }
    return err_set(err, r, "%s", what);
}

int options_set_prior(struct settings *settings, const struct option_row *row, const char *text,
                      struct err *err)
{
    struct option_row next = *row;
    if (settings->search.priors.n == SETTINGS_MAX_FILES)
        return err_set(err, -EINVAL, "'%.60s' is one file too many; give at most %d", text,
                       SETTINGS_MAX_FILES);
    next.place =
        offsetof(struct settings, search.priors.path) + settings->search.priors.n * SETTINGS_TEXT_SIZE;
    int r = options_set_text(settings, &next, text, err);
    if (r == 0)
        settings->search.priors.n++;
    return r;
}

static int refuse_code(const char *code, struct err *err)
{
    const char *codes[WARNING_N];
    for (size_t i = 0; i < WARNING_N; i++)
        codes[i] = warnings_table[i].code;
    const char *nearest = options_nearest(code, codes, WARNING_N);
    if (nearest != NULL)
        return err_set(err, -EINVAL, "'%.60s' is not the code of a warning; did you mean %s?", code, nearest);
    return err_set(err, -EINVAL, "'%.60s' is not the code of a warning; use one that stands beside a warning",
                   code);
}

int options_set_accept(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err)
{
    uint64_t accept = 0;
    (void)row;
    for (const char *at = text;; at++) {
        char code[64];
        size_t length = strcspn(at, ",");
        snprintf(code, sizeof code, "%.*s", (int)(length < sizeof code ? length : sizeof code - 1), at);
        enum warning warning = warnings_find(code);
        if (warning == WARNING_N)
            return refuse_code(code, err);
        accept |= WARNINGS_BIT(warning);
        at += length;
        if (*at == '\0')
            break;
    }
    settings->runs.accept = accept;
    return 0;
}
