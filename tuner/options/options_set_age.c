/* tuner/options/options_set: ages, which are longer than what is measured takes. */
#include "tuner/options/options_set.h"

#include "bench/base/units.h"
#include "tuner/options/options_value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HOURS_OF_A_DAY 24

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
        return err_set(err, -EINVAL, "'%.60s' is not an age; write a number with d, h or m, as 90d", text);
    if (result < 0 || !options_value_within(row->range, parse_age, ns))
        return err_set(err, -EINVAL, "'%.60s' is out of range; use %s", text, row->range);
    memcpy((char *)settings + row->place, &ns, sizeof ns);
    return 0;
}
