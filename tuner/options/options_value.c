/* tuner/options/options_value: reads numbers and checks them against the text of a range. */
#include "tuner/options/options_value.h"

#include "bench/base/factors.h"
#include "bench/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool options_value_split(const char *text, char low[OPTIONS_VALUE_SIZE], char high[OPTIONS_VALUE_SIZE])
{
    size_t length = strcspn(text, ",");
    const char *dots = strstr(text, "..");
    if (!dots || dots >= text + length)
        return false;
    size_t n_low = (size_t)(dots - text), n_high = length - n_low - 2;
    if (n_low >= OPTIONS_VALUE_SIZE || n_high >= OPTIONS_VALUE_SIZE)
        return false;
    snprintf(low, OPTIONS_VALUE_SIZE, "%.*s", (int)n_low, text);
    snprintf(high, OPTIONS_VALUE_SIZE, "%.*s", (int)n_high, dots + 2);
    return true;
}

bool options_value_within(const char *range, int (*parse)(const char *text, uint64_t *ret_value),
                          uint64_t value)
{
    char low[OPTIONS_VALUE_SIZE], high[OPTIONS_VALUE_SIZE];
    uint64_t least, most;
    return options_value_split(range, low, high) && parse(low, &least) == 0 && parse(high, &most) == 0 &&
           value >= least && value <= most;
}

int options_value_size(const char *text, const char *range, uint64_t *ret_bytes, struct err *err)
{
    char meant[UNITS_TEXT_SIZE];
    uint64_t bytes;
    int r = units_parse_size(text, &bytes);
    if (r == -EINVAL && units_guess_size(text, meant) == 0)
        return err_set(err, -EINVAL,
                       "'%.60s' is not how a size is written; write %s (k, m, g and t are powers of 1024)",
                       text, meant);
    if (r == -EINVAL)
        return err_set(err, -EINVAL, "'%.60s' is not a size; write bytes or use k, m, g or t, as in 64k",
                       text);
    if (r < 0 || !options_value_within(range, units_parse_size, bytes))
        return err_set(err, -EINVAL, "'%.60s' is out of range; use %s", text, range);
    *ret_bytes = bytes;
    return 0;
}

int options_value_blocks(const char *text, const char *range, uint64_t *ret_value, struct err *err)
{
    uint64_t bytes;
    int r = options_value_size(text, range, &bytes, err);
    if (r < 0)
        return r;
    uint64_t below = bytes - bytes % FACTORS_REQUEST_SIZE_MIN_BYTES;
    if (bytes != below)
        return err_set(err, -EINVAL, "%" PRIu64 " is not a multiple of 512; use %" PRIu64 " or %" PRIu64,
                       bytes, below, below + 512);
    *ret_value = bytes;
    return 0;
}

static int parse_count(const char *text, uint64_t *ret_count)
{
    return units_parse_count(text, UINT64_MAX, ret_count);
}

int options_value_count(const char *text, const char *range, uint64_t *ret_count, struct err *err)
{
    uint64_t count;
    int r = parse_count(text, &count);
    if (r == -EINVAL)
        return err_set(err, -EINVAL, "'%.60s' is not a whole number; use %s", text, range);
    if (r < 0 || !options_value_within(range, parse_count, count))
        return err_set(err, -EINVAL, "'%.60s' is out of range; use %s", text, range);
    *ret_count = count;
    return 0;
}

int options_value_choice(const char *text, const char *choices, uint64_t *ret_number, struct err *err)
{
    size_t length = strlen(text);
    const char *choice = choices;
    for (uint64_t number = 0;; number++) {
        size_t n = strcspn(choice, "|,");
        if (n == length && memcmp(choice, text, n) == 0) {
            *ret_number = number;
            return 0;
        }
        if (choice[n] == '\0')
            return err_set(err, -EINVAL, "'%.60s' is unknown; use %s", text, choices);
        choice += n + strspn(choice + n, "|, ");
    }
}

int options_value_part(const char **cursor, char part[2 * OPTIONS_VALUE_SIZE], struct err *err)
{
    const char *text = *cursor;
    size_t length = strcspn(text, ",");
    if (length == 0)
        return err_set(err, -EINVAL, "a value is missing; write values with single commas between");
    if (length >= sizeof(char[2 * OPTIONS_VALUE_SIZE]))
        return err_set(err, -EINVAL, "'%.*s' is too long for a value; shorten it", 2 * OPTIONS_VALUE_SIZE,
                       text);
    memcpy(part, text, length);
    part[length] = '\0';
    *cursor = text[length] == ',' ? text + length + 1 : NULL;
    return 0;
}
