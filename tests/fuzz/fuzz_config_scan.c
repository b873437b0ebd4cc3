/* The scan for numbers that libconfig misreads: it stays inside its buffer, and a number that it lets through
 * is read by libconfig as what it is. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_libconfig.h"

#include "tuner/options/config.h"

#include <libconfig.h>
#include <math.h>

#define NUMBER_LENGTH 40

static void check_scan(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    unsigned line = 0, n_lines = 1;
    FUZZ_CHECK(text != NULL);
    for (const char *c = text; *c != '\0'; c++)
        n_lines += *c == '\n';
    if (fuzz_refused(config_scan_numbers(text, &line, &fuzz_err)))
        FUZZ_CHECK(line >= 1 && line <= n_lines);
    else
        FUZZ_CHECK(line == 0);
    free(text);
}

static void check_same(const config_setting_t *setting, const char *number)
{
    const char *digits = number + (number[0] == '-' || number[0] == '+');
    bool is_hex = digits[0] == '0' && (digits[1] | 0x20) == 'x';
    int type = config_setting_type(setting);
    errno = 0;
    if (type == CONFIG_TYPE_INT)
        FUZZ_CHECK(config_setting_get_int(setting) == strtoll(number, NULL, is_hex ? 16 : 10));
    else if (type == CONFIG_TYPE_INT64)
        FUZZ_CHECK(config_setting_get_int64(setting) == strtoll(number, NULL, is_hex ? 16 : 10));
    else if (type == CONFIG_TYPE_FLOAT)
        FUZZ_CHECK(isfinite(config_setting_get_float(setting)));
    FUZZ_CHECK(errno == 0);
}

/* An input that looks like a number is also tried as the value of a setting. */
static void check_number(const uint8_t *data, size_t size)
{
    char number[NUMBER_LENGTH + 1] = "", text[NUMBER_LENGTH + 16];
    unsigned line = 0;
    config_t config;
    if (size == 0 || size > NUMBER_LENGTH)
        return;
    memcpy(number, data, size);
    if (strspn(number, "0123456789abcdefABCDEFxX+-.L") != size)
        return;
    snprintf(text, sizeof(text), "x = %s;", number);
    if (config_scan_numbers(text, &line, NULL) < 0)
        return;
    config_init(&config);
    if (config_read_string(&config, text) == CONFIG_TRUE)
        check_same(config_lookup(&config, "x"), number);
    config_destroy(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_scan(data, size);
    check_number(data, size);
    return 0;
}
