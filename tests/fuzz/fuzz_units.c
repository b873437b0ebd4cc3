/* Sizes, durations, shares and counts: strict readers, and writers whose text reads back. */
#include "tests/fuzz/fuzz.h"

#include "bench/base/units.h"

#include <inttypes.h>
#include <math.h>

#define SENTINEL 0x5a5a5a5a5a5aULL

static void check_code(int code)
{
    FUZZ_CHECK(code == 0 || code == -EINVAL || code == -ERANGE);
}

static void check_size(const char *text)
{
    char buffer[UNITS_TEXT_SIZE];
    uint64_t bytes = SENTINEL, again = 0;
    int code = units_parse_size(text, &bytes);
    check_code(code);
    if (code < 0) {
        FUZZ_CHECK(bytes == SENTINEL);
        return;
    }
    FUZZ_CHECK(units_parse_size(units_format_size(bytes, buffer), &again) == 0 && again == bytes);
}

static void check_duration(const char *text)
{
    char buffer[UNITS_TEXT_SIZE];
    uint64_t ns = SENTINEL, again = 0;
    int code = units_parse_duration(text, &ns);
    check_code(code);
    if (code < 0) {
        FUZZ_CHECK(ns == SENTINEL);
        return;
    }
    snprintf(buffer, sizeof(buffer), "%" PRIu64 "ns", ns);
    FUZZ_CHECK(units_parse_duration(buffer, &again) == 0 && again == ns);
    FUZZ_CHECK(strlen(units_format_duration(ns, buffer)) > 0);
}

static void check_share(const char *text)
{
    char buffer[UNITS_TEXT_SIZE];
    double share = -1, again = -1;
    int code = units_parse_share(text, &share);
    check_code(code);
    if (code < 0) {
        FUZZ_CHECK(share == -1);
        return;
    }
    FUZZ_CHECK(share >= 0 && share <= 1);
    snprintf(buffer, sizeof(buffer), "%.13f", share);
    FUZZ_CHECK(units_parse_share(buffer, &again) == 0 && fabs(again - share) < 1e-13);
}

static void check_count(const char *text)
{
    char buffer[UNITS_TEXT_SIZE];
    uint64_t count = SENTINEL, again = 0, limited = SENTINEL;
    int code = units_parse_count(text, UINT64_MAX, &count);
    check_code(code);
    if (code < 0) {
        FUZZ_CHECK(count == SENTINEL);
        return;
    }
    snprintf(buffer, sizeof(buffer), "%" PRIu64, count);
    FUZZ_CHECK(units_parse_count(buffer, count, &again) == 0 && again == count);
    FUZZ_CHECK(units_parse_size(text, &again) == 0 && again == count);
    code = units_parse_count(text, 100, &limited);
    FUZZ_CHECK(count <= 100 ? code == 0 && limited == count : code == -ERANGE && limited == SENTINEL);
}

/* Any bits at all as a number to be written. */
static void check_writers(const char *data, size_t size)
{
    char buffer[UNITS_TEXT_SIZE];
    uint64_t number = 0;
    double real;
    memcpy(&number, data, size < sizeof(number) ? size : sizeof(number));
    memcpy(&real, &number, sizeof(real));
    FUZZ_CHECK(strlen(units_format_size(number, buffer)) > 0);
    FUZZ_CHECK(strlen(units_format_bytes(number, buffer)) > 0);
    FUZZ_CHECK(strlen(units_format_duration(number, buffer)) > 0);
    FUZZ_CHECK(strlen(units_format_rate(real, buffer)) > 0);
    FUZZ_CHECK(strlen(units_format_count(real, buffer)) > 0);
}

FUZZ_TEXT(text, size)
{
    check_size(text);
    check_duration(text);
    check_share(text);
    check_count(text);
    check_writers(text, size);
}
