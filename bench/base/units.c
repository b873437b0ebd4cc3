/* bench/base/units: numbers as people write them. Fractions are read and written by hand, because strtod and
 * printf's %f follow the locale's decimal comma. */
#include "bench/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Places after the point that are kept. With them 100 percent stays below 2^53, so that a share is one
 * correctly rounded division, equal to the literal in C. */
#define FRACTION_DIGITS 13

#define NS_PER_MINUTE 60000000000ULL
#define NS_PER_HOUR   (60 * NS_PER_MINUTE)
#define NS_PER_DAY    (24 * NS_PER_HOUR)

struct decimal {
    uint64_t whole;
    bool overflow; /* whole did not fit; the text is of the form all the same */
    bool has_point;
    uint64_t numerator;   /* of the fraction ... */
    uint64_t denominator; /* ... a power of ten */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Moves the cursor past the digits; false when there are none. */
static bool read_whole(const char **cursor, uint64_t *ret_value, bool *ret_overflow)
{
    char *end;
    if (!is_digit(**cursor)) /* strtoull takes blanks and signs, too */
        return false;
    errno = 0;
    *ret_value = strtoull(*cursor, &end, 10);
    *ret_overflow = errno == ERANGE;
    *cursor = end;
    return true;
}

/* "12" or "12.5"; "12." and ".5" are not numbers here. */
static bool read_decimal(const char **cursor, struct decimal *ret)
{
    struct decimal decimal = {.denominator = 1};
    if (!read_whole(cursor, &decimal.whole, &decimal.overflow))
        return false;
    if (**cursor == '.') {
        const char *c = *cursor + 1;
        if (!is_digit(*c))
            return false;
        decimal.has_point = true;
        for (int kept = 0; is_digit(*c); c++, kept++) {
            if (kept < FRACTION_DIGITS) {
                decimal.numerator = decimal.numerator * 10 + (uint64_t)(*c - '0');
                decimal.denominator *= 10;
            }
        }
        *cursor = c;
    }
    *ret = decimal;
    return true;
}

/* 10 for k and K, 20 for m ...; 0 for what is none of them. */
static unsigned suffix_shift(char c)
{
    static const char suffixes[] = "kKmMgGtT";
    const char *suffix = c != '\0' ? strchr(suffixes, c) : NULL;
    return suffix != NULL ? 10 * ((unsigned)(suffix - suffixes) / 2 + 1) : 0;
}

int units_parse_size(const char *text, uint64_t *ret_bytes)
{
    uint64_t value;
    bool overflow;
    if (!read_whole(&text, &value, &overflow))
        return -EINVAL;
    unsigned shift = suffix_shift(*text);
    text += shift > 0;
    if (*text)
        return -EINVAL;
    if (overflow || value > UINT64_MAX >> shift)
        return -ERANGE;
    *ret_bytes = value << shift;
    return 0;
}

static const struct {
    const char *name;
    uint64_t ns;
} time_units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", NS_PER_MINUTE},
    {"h", NS_PER_HOUR},
    /* How others write them, and what is refused with a hint. */
    {"d", NS_PER_DAY},
    {"day", NS_PER_DAY},
    {"hr", NS_PER_HOUR},
    {"hour", NS_PER_HOUR},
    {"min", NS_PER_MINUTE},
    {"minute", NS_PER_MINUTE},
    {"sec", 1000000000},
    {"second", 1000000000},
    {"msec", 1000000},
    {"millisecond", 1000000},
    {"usec", 1000},
    {"microsecond", 1000},
    {"\302\265s", 1000}, /* the micro sign, and the Greek letter */
    {"\316\274s", 1000},
    {"nsec", 1},
    {"nanosecond", 1},
};
#define N_TIME_UNITS      6
#define N_TIME_UNIT_WORDS (sizeof time_units / sizeof time_units[0])

/* Among the first n units; 0: it is none of them. */
static uint64_t unit_ns(const char *unit, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(unit, time_units[i].name) == 0)
            return time_units[i].ns;
    }
    return 0;
}

static int scale_time(const struct decimal *decimal, uint64_t scale_ns, uint64_t *ret_ns)
{
    uint64_t ns;
    double fraction = (double)decimal->numerator / (double)decimal->denominator;
    if (decimal->overflow || __builtin_mul_overflow(decimal->whole, scale_ns, &ns) ||
        __builtin_add_overflow(ns, (uint64_t)(fraction * (double)scale_ns + 0.5), &ns))
        return -ERANGE;
    *ret_ns = ns;
    return 0;
}

int units_parse_duration(const char *text, uint64_t *ret_ns)
{
    struct decimal decimal;
    if (!read_decimal(&text, &decimal))
        return -EINVAL;
    uint64_t scale_ns = unit_ns(text, N_TIME_UNITS);
    if (scale_ns == 0)
        return -EINVAL;
    return scale_time(&decimal, scale_ns, ret_ns);
}

static void skip_blanks(const char **cursor)
{
    while (**cursor == ' ' || **cursor == '\t')
        (*cursor)++;
}

/* What stands behind the number and its k, m, g or t when one writes GB, GiB, Gi, bytes or MB/s. */
static bool is_byte_unit(const char *text)
{
    static const char *const units[] = {"", "b", "byte", "bytes"};
    char unit[8];
    size_t length = strcspn(text, "/");
    if (length >= sizeof unit || (text[length] != '\0' && strcasecmp(text + length, "/s") != 0))
        return false;
    memcpy(unit, text, length);
    unit[length] = '\0';
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcasecmp(unit, units[i]) == 0)
            return true;
    }
    return false;
}

int units_guess_size(const char *text, char *buffer)
{
    struct decimal decimal;
    if (!read_decimal(&text, &decimal) || decimal.overflow)
        return -EINVAL;
    skip_blanks(&text);
    unsigned shift = suffix_shift(*text);
    text += shift > 0;
    text += shift > 0 && (*text == 'i' || *text == 'I');
    if (!is_byte_unit(text) || decimal.whole > UINT64_MAX >> shift || (shift == 0 && decimal.has_point))
        return -EINVAL;
    /* A fraction of a unit is told in whole ones of the next smaller unit. */
    double smaller = shift > 0 ? 1024.0 * (double)decimal.numerator / (double)decimal.denominator : 0.0;
    uint64_t bytes = (decimal.whole << shift) + ((uint64_t)smaller << (shift > 0 ? shift - 10 : 0));
    if (bytes == 0)
        return -EINVAL;
    units_format_size(bytes, buffer);
    return 0;
}

/* Moves the cursor past a unit in any of its spellings: "Minutes" is "minute", "MS" is "ms". 0: it is none.
 */
static uint64_t guess_unit_ns(const char **cursor)
{
    char word[16];
    size_t length = 0;
    while (**cursor != '\0' && !is_digit(**cursor) && **cursor != ' ' && length + 1 < sizeof word) {
        char c = *(*cursor)++;
        word[length++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    word[length] = '\0';
    if (length > 2 && word[length - 1] == 's' && (word[0] & 0x80) == 0)
        word[length - 1] = '\0';
    return unit_ns(word, N_TIME_UNIT_WORDS);
}

int units_guess_duration(const char *text, char *buffer)
{
    uint64_t total_ns = 0;
    size_t unit = N_TIME_UNITS;
    do {
        struct decimal decimal;
        uint64_t ns;
        if (!read_decimal(&text, &decimal))
            return -EINVAL;
        skip_blanks(&text);
        uint64_t scale_ns = guess_unit_ns(&text);
        if (scale_ns == 0 || scale_time(&decimal, scale_ns, &ns) < 0 ||
            __builtin_add_overflow(total_ns, ns, &total_ns))
            return -EINVAL;
        skip_blanks(&text);
    } while (*text);
    if (total_ns == 0)
        return -EINVAL;
    do
        unit--;
    while (total_ns % time_units[unit].ns != 0);
    snprintf(buffer, UNITS_TEXT_SIZE, "%" PRIu64 "%s", total_ns / time_units[unit].ns, time_units[unit].name);
    return 0;
}

int units_parse_share(const char *text, double *ret_share)
{
    return units_parse_share_to(text, 100, ret_share);
}

int units_parse_share_to(const char *text, uint64_t most_percent, double *ret_share)
{
    struct decimal decimal;
    if (!read_decimal(&text, &decimal))
        return -EINVAL;
    bool is_percent = strcmp(text, "%") == 0;
    if (!is_percent && *text)
        return -EINVAL;
    const uint64_t limit = is_percent ? most_percent : 1;
    bool above =
        decimal.overflow || decimal.whole > limit || (decimal.whole == limit && decimal.numerator > 0);
    /* "1.5" may have been meant as percent, and "1" as either: neither form nor range tells. */
    if (!is_percent && (above || (decimal.whole == 1 && !decimal.has_point)))
        return -EINVAL;
    if (above)
        return -ERANGE;
    *ret_share = (double)(decimal.whole * decimal.denominator + decimal.numerator) /
                 (double)(decimal.denominator * (is_percent ? 100 : 1));
    return 0;
}

int units_parse_count(const char *text, uint64_t max, uint64_t *ret_count)
{
    uint64_t value;
    bool overflow;
    if (!read_whole(&text, &value, &overflow) || *text)
        return -EINVAL;
    if (overflow || value > max)
        return -ERANGE;
    *ret_count = value;
    return 0;
}

const char *units_format_size(uint64_t bytes, char *buffer)
{
    static const char *const suffixes[] = {"", "k", "m", "g", "t"};
    size_t i = 0;
    while (i < 4 && bytes > 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        i++;
    }
    snprintf(buffer, UNITS_TEXT_SIZE, "%" PRIu64 "%s", bytes, suffixes[i]);
    return buffer;
}

/* The value to three digits with the first of the units, each 1000 times the one before, that keeps it below
 * 1000. Whole numbers of the first unit are printed as such. */
static const char *format_3_digits(double value, const char *const *units, size_t n_units, char *buffer)
{
    static const double power[] = {1.0, 10.0, 100.0, 1000.0};
    if (!isfinite(value) || value < 0.0) {
        snprintf(buffer, UNITS_TEXT_SIZE, "n/a");
        return buffer;
    }
    if (value < 1000.0 && value == floor(value)) {
        snprintf(buffer, UNITS_TEXT_SIZE, "%u%s", (unsigned)value, units[0]);
        return buffer;
    }
    for (size_t i = 0; i < n_units; i++) {
        /* Rounded first and looked at then: 9.996 is "10.0", 999.6 is one of the next unit. */
        for (int places = i == 0 ? 3 : 2; places >= 0; places--) {
            double digits = floor(value * power[places] + 0.5);
            if (digits >= 1000.0)
                continue;
            unsigned all = (unsigned)digits, one = (unsigned)power[places];
            if (places == 0)
                snprintf(buffer, UNITS_TEXT_SIZE, "%u%s", all, units[i]);
            else
                snprintf(buffer, UNITS_TEXT_SIZE, "%u.%0*u%s", all / one, places & 3, all % one, units[i]);
            return buffer;
        }
        value /= 1000.0;
    }
    snprintf(buffer, UNITS_TEXT_SIZE, "> 999%s", units[n_units - 1]);
    return buffer;
}

const char *units_format_rate(double bytes_per_s, char *buffer)
{
    static const char *const units[] = {" B/s", " kB/s", " MB/s", " GB/s", " TB/s", " PB/s", " EB/s"};
    return format_3_digits(bytes_per_s, units, sizeof(units) / sizeof(units[0]), buffer);
}

const char *units_format_bytes(uint64_t bytes, char *buffer)
{
    static const char *const units[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
    return format_3_digits((double)bytes, units, sizeof(units) / sizeof(units[0]), buffer);
}

const char *units_format_duration(uint64_t ns, char *buffer)
{
    static const char *const units[] = {" ns", " us", " ms", " s"};
    /* Three digits of 59.95 s are 60.0 s: from there on minutes. */
    if (ns < 59950000000ULL)
        return format_3_digits((double)ns, units, sizeof(units) / sizeof(units[0]), buffer);
    uint64_t seconds = ns / 1000000000 + (ns % 1000000000 >= 500000000);
    uint64_t minutes = seconds / 60 + (seconds % 60 >= 30);
    if (seconds < 3600)
        snprintf(buffer, UNITS_TEXT_SIZE, "%" PRIu64 "m %" PRIu64 "s", seconds / 60, seconds % 60);
    else
        snprintf(buffer, UNITS_TEXT_SIZE, "%" PRIu64 "h %" PRIu64 "m", minutes / 60, minutes % 60);
    return buffer;
}

const char *units_format_count(double count, char *buffer)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
    return format_3_digits(count, units, sizeof(units) / sizeof(units[0]), buffer);
}
