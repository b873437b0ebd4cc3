/* tuner/options/options_set_rate: the setter of --rate. */
#include "tuner/options/options_set.h"

#include "bench/base/units.h"
#include "tuner/options/options_value.h"

#include <errno.h>
#include <string.h>

#define PERCENT_LEAST 1
#define PERCENT_MOST  1000
#define PERCENT_STEP  10.0
#define IOPS          "iops"
#define IOPS_MOST     100000000
#define SIZES         "1k..1t"

static int refuse(const char *text, struct err *err)
{
    return err_set(err, -EINVAL,
                   "'%.60s' is no rate; write a share as 50%%, bytes a second as 200m, or requests a second "
                   "as 5000iops",
                   text);
}

/* A number, with the sign of its unit behind it left out. */
static int read_count(const char *text, size_t sign, uint64_t least, uint64_t most, double *ret_value,
                      struct err *err)
{
    char number[OPTIONS_VALUE_SIZE];
    uint64_t count = 0;
    snprintf(number, sizeof number, "%.*s", (int)(strlen(text) - sign), text);
    if (units_parse_count(number, most, &count) < 0 || count < least)
        return refuse(text, err);
    *ret_value = (double)count;
    return 0;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n > n_end && strcmp(text + n - n_end, end) == 0;
}

static int read_rate(const char *text, enum settings_rate_unit *ret_unit, double *ret_value, struct err *err)
{
    uint64_t bytes = 0;
    int result;
    if (ends_in(text, "%")) {
        *ret_unit = SETTINGS_RATE_SHARE;
        result = read_count(text, 1, PERCENT_LEAST, PERCENT_MOST, ret_value, err);
        *ret_value /= result == 0 ? 100 : 1;
        return result;
    }
    if (ends_in(text, IOPS)) {
        *ret_unit = SETTINGS_RATE_IOPS;
        return read_count(text, strlen(IOPS), 1, IOPS_MOST, ret_value, err);
    }
    *ret_unit = SETTINGS_RATE_BPS;
    result = options_value_size(text, SIZES, &bytes, err);
    if (result == 0)
        *ret_value = (double)bytes;
    return result;
}

static int add_rate(struct settings_rates *rates, enum settings_rate_unit unit, double value,
                    const char *text, struct err *err)
{
    if (rates->n == SETTINGS_MAX_RATES)
        return err_set(err, -EINVAL, "'%.60s' has too many rates; give at most %d", text, SETTINGS_MAX_RATES);
    if (rates->n > 0 && unit != rates->unit)
        return err_set(err, -EINVAL, "'%.60s' mixes units; give all rates in one", text);
    if (rates->n > 0 && value <= rates->value[rates->n - 1])
        return err_set(err, -EINVAL, "'%.60s': rates must ascend", text);
    rates->unit = unit;
    rates->value[rates->n++] = value;
    return 0;
}

/* Shares ascend by ten percent, others double; the last one is always the upper end. */
static int add_range(struct settings_rates *rates, const char *low, const char *high, const char *text,
                     struct err *err)
{
    enum settings_rate_unit unit, unit_high;
    double value = 0, end = 0;
    int result = read_rate(low, &unit, &value, err);
    if (result == 0)
        result = read_rate(high, &unit_high, &end, err);
    if (result == 0 && (unit != unit_high || end < value))
        result =
            err_set(err, -EINVAL, "'%.60s' is no range; write the lower rate first, both in one unit", text);
    for (bool last = false; result == 0 && !last;) {
        double next = unit == SETTINGS_RATE_SHARE ? value + PERCENT_STEP / 100 : 2 * value;
        last = value >= end;
        result = add_rate(rates, unit, value, text, err);
        /* Sums of tenths miss the end by rounding alone. */
        value = next > end * (1 - 1e-9) ? end : next;
    }
    return result;
}

int options_set_rate(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    struct settings_rates rates = {0};
    const char *cursor = text;
    int result = 0;
    (void)row;
    while (cursor != NULL && result == 0) {
        char part[2 * OPTIONS_VALUE_SIZE], low[OPTIONS_VALUE_SIZE], high[OPTIONS_VALUE_SIZE];
        enum settings_rate_unit unit = SETTINGS_RATE_SHARE;
        double value = 0;
        result = options_value_part(&cursor, part, err);
        if (result == 0 && options_value_split(part, low, high))
            result = add_range(&rates, low, high, text, err);
        else if (result == 0) {
            result = read_rate(part, &unit, &value, err);
            if (result == 0)
                result = add_rate(&rates, unit, value, text, err);
        }
    }
    if (result == 0)
        settings->workload.rates = rates;
    return result;
}
