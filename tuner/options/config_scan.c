/* tuner/options/config_scan: finds the numbers in a libconfig text that libconfig 1.5 would misread without a
 * word.
 */
#include "tuner/options/config.h"

#include "bench/base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 64

struct scan {
    const char *at, *end;
    unsigned line;
    const char *key; /* the last name; numbers belong to it */
    int n_key;
};

static char peek(const struct scan *scan, size_t ahead)
{
    return (size_t)(scan->end - scan->at) > ahead ? scan->at[ahead] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '*';
}

static void advance(struct scan *scan, size_t n)
{
    for (; n > 0 && scan->at < scan->end; n--) {
        if (*scan->at++ == '\n')
            scan->line++;
    }
}

/* Moves behind the next `stop`, or to the end. */
static void skip_behind(struct scan *scan, const char *stop)
{
    size_t n = strlen(stop);
    while (scan->at < scan->end && ((size_t)(scan->end - scan->at) < n || memcmp(scan->at, stop, n) != 0))
        advance(scan, 1);
    advance(scan, n);
}

static void skip_string(struct scan *scan)
{
    for (advance(scan, 1); scan->at < scan->end && *scan->at != '"';)
        advance(scan, *scan->at == '\\' ? 2 : 1);
    advance(scan, 1);
}

static bool skip_comment(struct scan *scan)
{
    char first = peek(scan, 0), second = peek(scan, 1);
    if (first == '#' || (first == '/' && second == '/')) {
        skip_behind(scan, "\n");
        return true;
    }
    if (first == '/' && second == '*') {
        advance(scan, 2);
        skip_behind(scan, "*/");
        return true;
    }
    return false;
}

static void read_setting_name(struct scan *scan)
{
    size_t n = 0;
    while (is_name(peek(scan, n)))
        n++;
    scan->key = scan->at;
    scan->n_key = n < NUMBER_SIZE ? (int)n : NUMBER_SIZE;
    advance(scan, n);
}

static size_t count_digits(const struct scan *scan, size_t from)
{
    size_t n = 0;
    while (is_digit(peek(scan, from + n)))
        n++;
    return n;
}

/* Length of the number at the cursor, without a suffix L; 0: none. */
static size_t measure_number(const struct scan *scan, bool *ret_is_float)
{
    size_t n = peek(scan, 0) == '-' || peek(scan, 0) == '+';
    *ret_is_float = false;
    if (peek(scan, 0) == '0' && (peek(scan, 1) | 0x20) == 'x') {
        for (n = 2; isxdigit((unsigned char)peek(scan, n));)
            n++;
        return n;
    }
    size_t n_digits = count_digits(scan, n);
    n += n_digits;
    if (peek(scan, n) == '.') {
        size_t n_fraction = count_digits(scan, n + 1);
        n_digits += n_fraction;
        n += 1 + n_fraction;
        *ret_is_float = true;
    }
    if (n_digits > 0 && (peek(scan, n) | 0x20) == 'e') {
        size_t sign = peek(scan, n + 1) == '-' || peek(scan, n + 1) == '+';
        size_t n_exponent = count_digits(scan, n + 1 + sign);
        *ret_is_float |= n_exponent > 0;
        n += n_exponent > 0 ? 1 + sign + n_exponent : 0;
    }
    return n_digits > 0 ? n : 0;
}

/* Whether libconfig holds the integer: an int without L (hexadecimal ones too), else 64 bits. */
static bool integer_fits(const char *number, bool is_long)
{
    bool is_negative = number[0] == '-';
    const char *digits = number + (number[0] == '-' || number[0] == '+');
    bool is_hex = (digits[0] == '0') && (digits[1] | 0x20) == 'x';
    errno = 0;
    unsigned long long magnitude = strtoull(digits, NULL, is_hex ? 16 : 10);
    unsigned long long limit = is_long ? INT64_MAX : INT32_MAX;
    return errno == 0 && magnitude <= limit + is_negative;
}

static int refuse_number(const struct scan *scan, const char *number, bool is_float, struct err *err)
{
    char size[UNITS_TEXT_SIZE];
    uint64_t bytes;
    int r;
    if (is_float)
        r = err_set(err, -EINVAL, "%s is too large for a number; write a smaller one", number);
    else if (units_parse_size(number, &bytes) == 0 && strcmp(units_format_size(bytes, size), number) != 0)
        r = err_set(err, -EINVAL, "%s would be misread; write \"%s\" or \"%s\", in quotes", number, size,
                    number);
    else
        r = err_set(err, -EINVAL, "%s would be misread; write it in quotes", number);
    if (scan->key)
        err_prefix(err, "%.*s", scan->n_key, scan->key);
    return r;
}

/* A number, or a single character of no interest. */
static int check_number(struct scan *scan, struct err *err)
{
    char number[NUMBER_SIZE];
    bool is_float;
    size_t n = measure_number(scan, &is_float);
    if (n == 0) {
        advance(scan, 1);
        return 0;
    }
    snprintf(number, sizeof(number), "%.*s", n < NUMBER_SIZE ? (int)n : NUMBER_SIZE - 1, scan->at);
    bool fits = n < NUMBER_SIZE &&
                (is_float ? isfinite(strtod(number, NULL)) : integer_fits(number, peek(scan, n) == 'L'));
    if (!fits)
        return refuse_number(scan, number, is_float, err);
    advance(scan, n);
    while (peek(scan, 0) == 'L')
        advance(scan, 1);
    return 0;
}

int config_scan_numbers(const char *text, size_t length, unsigned *ret_line, struct err *err)
{
    struct scan scan = {.at = text, .end = text + length, .line = 1};
    int r = 0;
    while (r == 0 && scan.at < scan.end) {
        char c = *scan.at;
        if (c == '"')
            skip_string(&scan);
        else if (isalpha((unsigned char)c) || c == '*')
            read_setting_name(&scan);
        else if (c == '@')
            r = err_set(err, -EINVAL, "@include is not supported; copy the settings into this file");
        else if (!skip_comment(&scan))
            r = check_number(&scan, err);
    }
    if (r < 0)
        *ret_line = scan.line;
    return r;
}
