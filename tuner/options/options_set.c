/* tuner/options/options_set: setters for plain values. Those of factors are in options_set_factors.c. */
#include "tuner/options/options_set.h"

#include "bench/base/pattern.h"
#include "bench/base/units.h"
#include "tuner/base/snippet_formats.h"
#include "tuner/base/warnings_table.h"
#include "tuner/options/options_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOURS_OF_A_DAY 24
#define VERSION_DIGITS 4

#define MOST_PERCENT 1000 /* of any share; its row has the range */
/* Pixels or characters of a side of a picture. */
#define PICTURE_LEAST 12
#define PICTURE_MOST  8000

static void *place_of_option(struct settings *settings, const struct option_row *row)
{
    return (char *)settings + row->place;
}

int options_set_size(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    uint64_t *place = place_of_option(settings, row);
    return options_value_size(text, row->range, place, err);
}

int options_set_alignment(struct settings *settings, const struct option_row *row, const char *text,
                          struct err *err)
{
    return options_value_blocks(text, row->range, place_of_option(settings, row), err);
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

/* expected: what it is not, and what to write where nobody can tell what was meant. */
static int refuse_unit(const char *text, const char *expected, struct err *err)
{
    char meant[UNITS_TEXT_SIZE];
    if (units_guess_duration(text, meant) < 0)
        return err_set(err, -EINVAL, "'%.60s' is not %s", text, expected);
    return err_set(err, -EINVAL, "'%.60s' is not how a duration is written; write %s", text, meant);
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
        return refuse_unit(text, "a duration; write a number with us, ms, s, m or h", err);
    if (r < 0 || !options_value_within(row->range, units_parse_duration, ns))
        return err_set(err, -EINVAL, "'%.60s' is out of range; use %s", text, row->range);
    *(uint64_t *)place_of_option(settings, row) = ns;
    return 0;
}

/* "90d", or what units_parse_duration reads. */
static int parse_age(const char *text, uint64_t *ret_ns)
{
    char hours[OPTIONS_VALUE_SIZE];
    size_t length = strlen(text);
    uint64_t ns;
    if (length == 0 || text[length - 1] != 'd')
        return units_parse_duration(text, ret_ns);
    int written = snprintf(hours, sizeof hours, "%.*sh", (int)(length - 1 < 64 ? length - 1 : 64), text);
    if ((size_t)written >= sizeof hours || units_parse_duration(hours, &ns) < 0)
        return -EINVAL;
    if (__builtin_mul_overflow(ns, (uint64_t)HOURS_OF_A_DAY, ret_ns))
        return -ERANGE;
    return 0;
}

int options_set_age(struct settings *settings, const struct option_row *row, const char *text,
                    struct err *err)
{
    uint64_t ns;
    int result = parse_age(text, &ns);
    if (result == -EINVAL)
        return refuse_unit(text, "an age; write a number with d, h or m, as 90d", err);
    if (result < 0 || !options_value_within(row->range, parse_age, ns))
        return err_set(err, -EINVAL, "'%.60s' is out of range; use %s", text, row->range);
    *(uint64_t *)place_of_option(settings, row) = ns;
    return 0;
}

int options_set_dirty_limits(struct settings *settings, const struct option_row *row, const char *text,
                             struct err *err)
{
    char part[2 * OPTIONS_VALUE_SIZE];
    uint64_t bytes[2] = {0, 0};
    size_t n = 0;
    for (const char *cursor = text; cursor != NULL; n++) {
        int result = options_value_part(&cursor, part, err);
        if (result == 0 && n < 2)
            result = options_value_size(part, row->range, &bytes[n], err);
        if (result < 0)
            return result;
    }
    if (n != 2 || bytes[0] >= bytes[1])
        return err_set(err, -EINVAL, "'%.60s' is no pair of limits; write the lower one first, as 256m,512m",
                       text);
    memcpy(place_of_option(settings, row), bytes, sizeof bytes);
    return 0;
}

int options_set_seed(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    uint64_t *place = place_of_option(settings, row);
    return options_value_count(text, row->range, place, err);
}

int options_set_count(struct settings *settings, const struct option_row *row, const char *text,
                      struct err *err)
{
    uint64_t count;
    int r = options_value_count(text, row->range, &count, err);
    if (r == 0)
        *(uint32_t *)place_of_option(settings, row) = (uint32_t)count;
    return r;
}

static bool share_within(const char *range, double share)
{
    char low[OPTIONS_VALUE_SIZE], high[OPTIONS_VALUE_SIZE];
    double least, most;
    bool is_open = range[0] == '>';
    if (!options_value_split(range + is_open, low, high) ||
        units_parse_share_to(low, MOST_PERCENT, &least) < 0 ||
        units_parse_share_to(high, MOST_PERCENT, &most) < 0)
        return false;
    return (is_open ? share > least : share >= least) && share <= most;
}

int options_set_share(struct settings *settings, const struct option_row *row, const char *text,
                      struct err *err)
{
    char percent[32];
    double share;
    int r = units_parse_share_to(text, MOST_PERCENT, &share);
    int length = snprintf(percent, sizeof(percent), "%s%%", text);
    if (r == -EINVAL && (size_t)length < sizeof(percent) && units_parse_share(percent, &share) == 0)
        return err_set(err, -EINVAL, "'%.30s' can be misread; write %s or %g", text, percent, share);
    if (r == -EINVAL)
        return err_set(err, -EINVAL, "'%.60s' is not a share; write one like 3%% or 0.03", text);
    if (r < 0 || !share_within(row->range, share))
        return err_set(err, -EINVAL, "'%.60s' is out of range; use %s", text, row->range);
    *(double *)place_of_option(settings, row) = share;
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
    memcpy(place_of_option(settings, row), text, length + 1);
    return 0;
}

static int read_flag(const char *text, bool *ret_flag, struct err *err)
{
    bool is_set = !text || strcmp(text, "true") == 0;
    if (!is_set && strcmp(text, "false") != 0)
        return err_set(err, -EINVAL, "'%.60s' is neither true nor false; write one of them, without quotes",
                       text);
    *ret_flag = is_set;
    return 0;
}

int options_set_flag(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    return read_flag(text, place_of_option(settings, row), err);
}

static void set_format(struct settings *settings, enum settings_format format)
{
    settings->format = format;
    settings->json = format == FORMAT_JSON;
}

int options_set_format(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err)
{
    uint64_t number;
    int r = options_value_choice(text, row->argument, &number, err);
    for (enum settings_format format = 0; r == 0 && format < FORMAT_N; format++) {
        if (strcmp(text, settings_format_names[format]) == 0)
            set_format(settings, format);
    }
    return r;
}

int options_set_json(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    bool json = false;
    (void)row;
    int r = read_flag(text, &json, err);
    if (r == 0 && json != settings->json)
        set_format(settings, json ? FORMAT_JSON : FORMAT_TEXT);
    return r;
}

int options_set_modern_ring(struct settings *settings, const struct option_row *row, const char *text,
                            struct err *err)
{
    bool modern = false;
    int r = read_flag(text, &modern, err);
    if (r == 0 && modern) {
        *(unsigned *)place_of_option(settings, row) = 0;
        settings->workload.io_uring_ring_given = true;
    }
    return r;
}

int options_set_name(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    uint64_t number;
    int r = options_value_choice(text, row->argument, &number, err);
    if (r == 0)
        snprintf(place_of_option(settings, row), SETTINGS_NAME_SIZE, "%s", text);
    return r;
}

int options_set_choice(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err)
{
    uint64_t number;
    int r = options_value_choice(text, row->argument, &number, err);
    if (r == 0)
        *(unsigned *)place_of_option(settings, row) = (unsigned)number;
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

int options_set_files(struct settings *settings, const struct option_row *row, const char *text,
                      struct err *err)
{
    struct settings_files *files = place_of_option(settings, row);
    struct option_row next = *row;
    if (files->n == SETTINGS_MAX_FILES)
        return err_set(err, -EINVAL, "'%.60s' is one file too many; give at most %d", text,
                       SETTINGS_MAX_FILES);
    next.place += files->n * SETTINGS_TEXT_SIZE;
    int r = options_set_text(settings, &next, text, err);
    if (r == 0)
        files->n++;
    return r;
}

int options_set_snippet(struct settings *settings, const struct option_row *row, const char *text,
                        struct err *err)
{
    for (size_t i = 0; i < SNIPPET_FORMATS_N; i++) {
        if (strcmp(text, snippet_formats[i]) == 0) {
            snprintf(place_of_option(settings, row), SETTINGS_NAME_SIZE, "%s", text);
            return 0;
        }
    }
    return options_refuse(text, "no format", snippet_formats, SNIPPET_FORMATS_N,
                          "fstune emit --list shows them", err);
}

int options_set_version(struct settings *settings, const struct option_row *row, const char *text,
                        struct err *err)
{
    unsigned version[3] = {0, 0, 0};
    const char *rest = text;
    size_t n = 0, length = 0;
    for (; n < 3 && (length = strspn(rest, "0123456789")) > 0 && length <= VERSION_DIGITS; n++) {
        version[n] = (unsigned)strtoul(rest, NULL, 10);
        rest += length;
        if (*rest != '.' || n == 2)
            break;
        rest++;
    }
    if (length == 0 || *rest != '\0' || (version[0] == 0 && version[1] == 0))
        return err_set(err, -EINVAL, "'%.60s' is no version; write it as 9.2", text);
    memcpy(place_of_option(settings, row), version, 2 * sizeof version[0]);
    return 0;
}

static int refuse_code(const char *code, struct err *err)
{
    const char *codes[WARNING_N];
    for (size_t i = 0; i < WARNING_N; i++)
        codes[i] = warnings_table[i].code;
    return options_refuse(code, "not the code of a warning", codes, WARNING_N,
                          "use one that stands beside a warning", err);
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

bool options_is_write_pattern(const struct pattern *pattern)
{
    return !pattern_reads(pattern) &&
           (pattern->percent[PATTERN_SEQ_WRITE] == 0 || pattern->percent[PATTERN_RAND_WRITE] == 0);
}

int options_set_write_pattern(struct settings *settings, const struct option_row *row, const char *text,
                              struct err *err)
{
    struct pattern pattern;
    (void)row;
    if (pattern_parse(text, &pattern, NULL) < 0 || !options_is_write_pattern(&pattern))
        return err_set(err, -EINVAL, "'%.60s' cannot be predicted; use write or randwrite", text);
    settings->prediction.random = pattern_is_random(&pattern);
    settings->prediction.pattern_given = true;
    return 0;
}

int options_set_advice_pattern(struct settings *settings, const struct option_row *row, const char *text,
                               struct err *err)
{
    int r = options_set_pattern(settings, row, text, err);
    settings->prediction.random = r == 0 && pattern_is_random(&settings->workload.pattern);
    settings->prediction.pattern_given = true;
    return r;
}

int options_set_write_size(struct settings *settings, const struct option_row *row, const char *text,
                           struct err *err)
{
    return options_value_size(text, row->range_prediction, &settings->prediction.request_size_bytes, err);
}

int options_set_picture_size(struct settings *settings, const struct option_row *row, const char *text,
                             struct err *err)
{
    char width[8];
    uint64_t w = 0, h = 0;
    size_t length = strcspn(text, "x");
    snprintf(width, sizeof width, "%.*s", (int)(length < sizeof width ? length : 0), text);
    if (text[length] != 'x' || units_parse_count(width, PICTURE_MOST, &w) < 0 ||
        units_parse_count(text + length + 1, PICTURE_MOST, &h) < 0 || w < PICTURE_LEAST || h < PICTURE_LEAST)
        return err_set(err, -EINVAL, "'%.30s' is no size; write width x height as 900x560, each %d..%d", text,
                       PICTURE_LEAST, PICTURE_MOST);
    unsigned *place = place_of_option(settings, row);
    place[0] = (unsigned)w;
    place[1] = (unsigned)h;
    return 0;
}
