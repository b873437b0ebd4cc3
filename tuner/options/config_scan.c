/* tuner/options/config_scan: finds the numbers in a libconfig text that libconfig 1.5 would misread without a
 * word. */
#include "tuner/options/config.h"

#include "bench/base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 64
#define DIGITS      "0123456789"
#define LETTERS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME        LETTERS DIGITS "_-*"

static const char *skip_behind(const char *at, const char *stop)
{
    const char *found = strstr(at, stop);
    return found != NULL ? found + strlen(stop) : at + strlen(at);
}

static const char *skip_string(const char *at)
{
    for (at++; *at != '\0' && *at != '"';)
        at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    return at + (*at == '"');
}

/* Behind the string or comment that begins here; `at` where none does. */
static const char *skip_text(const char *at)
{
    if (*at == '"')
        return skip_string(at);
    if (*at == '#' || strncmp(at, "//", 2) == 0)
        return skip_behind(at, "\n");
    return strncmp(at, "/*", 2) == 0 ? skip_behind(at + 2, "*/") : at;
}

/* Length of the number that begins here, without a suffix L; 0: none does. */
static size_t measure_number(const char *at, bool *ret_is_float)
{
    const char *end = at + (*at == '-' || *at == '+');
    *ret_is_float = false;
    if (at[0] == '0' && (at[1] | 0x20) == 'x')
        return 2 + strspn(at + 2, DIGITS "abcdefABCDEF");
    size_t n_digits = strspn(end, DIGITS);
    end += n_digits;
    if (*end == '.') {
        size_t n_fraction = strspn(end + 1, DIGITS);
        n_digits += n_fraction;
        end += 1 + n_fraction;
        *ret_is_float = true;
    }
    if (n_digits > 0 && (*end | 0x20) == 'e') {
        const char *exponent = end + 1 + (end[1] == '-' || end[1] == '+');
        size_t n_exponent = strspn(exponent, DIGITS);
        *ret_is_float |= n_exponent > 0;
        end = n_exponent > 0 ? exponent + n_exponent : end;
    }
    return n_digits > 0 ? (size_t)(end - at) : 0;
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

static int refuse_number(const char *number, bool is_float, struct err *err)
{
    char size[UNITS_TEXT_SIZE];
    uint64_t bytes;
    if (is_float)
        return err_set(err, -EINVAL, "%s is too large for a number; write a smaller one", number);
    if (units_parse_size(number, &bytes) == 0 && strcmp(units_format_size(bytes, size), number) != 0)
        return err_set(err, -EINVAL, "%s would be misread; write \"%s\" or \"%s\", in quotes", number, size,
                       number);
    return err_set(err, -EINVAL, "%s would be misread; write it in quotes", number);
}

/* A number, or a single character of no interest. The cursor comes behind it unless it is refused. */
static int check_number(const char **cursor, struct err *err)
{
    char number[NUMBER_SIZE];
    bool is_float;
    size_t n = measure_number(*cursor, &is_float);
    if (n == 0) {
        ++*cursor;
        return 0;
    }
    snprintf(number, sizeof(number), "%.*s", n < NUMBER_SIZE ? (int)n : NUMBER_SIZE - 1, *cursor);
    bool fits = n < NUMBER_SIZE &&
                (is_float ? isfinite(strtod(number, NULL)) : integer_fits(number, (*cursor)[n] == 'L'));
    if (!fits)
        return refuse_number(number, is_float, err);
    *cursor += n;
    *cursor += strspn(*cursor, "L");
    return 0;
}

int config_scan_numbers(const char *text, unsigned *ret_line, struct err *err)
{
    const char *at = text, *key = NULL; /* the last name; numbers belong to it */
    int r = 0;
    while (r == 0 && *at != '\0') {
        const char *behind = skip_text(at);
        if (behind != at) {
            at = behind;
        } else if (isalpha((unsigned char)*at) || *at == '*') {
            key = at;
            at += strspn(at, NAME);
        } else if (*at == '@') {
            key = NULL;
            r = err_set(err, -EINVAL, "@include is not supported; copy the settings into this file");
        } else {
            r = check_number(&at, err);
        }
    }
    if (r == 0)
        return 0;
    *ret_line = 1;
    for (const char *c = text; c < at; c++)
        *ret_line += *c == '\n';
    size_t n_key = key != NULL ? strspn(key, NAME) : 0;
    if (n_key > 0)
        err_prefix(err, "%.*s", (int)(n_key < NUMBER_SIZE ? n_key : NUMBER_SIZE), key);
    return r;
}
