/* --where: the factors that a picture holds fixed. */
#include "tuner/picture/plot_slice.h"

#include "bench/base/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The level as it stands in the data: "64k" also as 65536, "direct" also as 1. */
static bool is_level(size_t factor, const struct plot_level *level, const char *text)
{
    uint64_t number;
    if (strcmp(level->text, text) == 0)
        return true;
    if (plot_factors[factor].scale == PLOT_WORDS)
        return false;
    return units_parse_size(text, &number) == 0 && (double)number == level->number;
}

static void list_levels(const struct plot_levels *levels, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < levels->n && used + 1 < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%.24s", i == 0 ? "" : ", ", levels->level[i].text);
}

static int read_one(struct plot_where *where, const char *key, const char *value,
                    const struct plot_data *data, struct err *err)
{
    char known[160];
    size_t factor = plot_factor_find(key);
    if (factor == PLOT_FACTOR_N || data->levels[factor].n == 0)
        return err_set(err, -EINVAL, "--where: '%.40s' is no factor of these points", key);
    const struct plot_levels *levels = &data->levels[factor];
    for (size_t i = 0; i < levels->n; i++) {
        if (!is_level(factor, &levels->level[i], value))
            continue;
        for (size_t j = 0; j < where->n; j++) {
            if (where->factor[j] == factor)
                return err_set(err, -EINVAL, "--where: %s is given twice", key);
        }
        where->factor[where->n] = factor;
        where->level[where->n++] = (uint16_t)i;
        return 0;
    }
    list_levels(levels, known, sizeof known);
    return err_set(err, -EINVAL, "--where: no point has %s=%.40s; there are %s", key, value, known);
}

int plot_where_read(struct plot_where *where, const char *text, const struct plot_data *data, struct err *err)
{
    int result = 0;
    *where = (struct plot_where){0};
    while (*text != '\0' && result == 0) {
        char part[128];
        size_t length = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        char *equals = strchr(part, '=');
        if (equals == NULL || length >= sizeof part)
            return err_set(err, -EINVAL, "--where: '%.40s' is not KEY=VALUE", part);
        *equals = '\0';
        result = read_one(where, part, equals + 1, data, err);
        text += length + (text[length] == ',');
    }
    return result;
}

bool plot_where_fits(const struct plot_where *where, const struct plot_point *point)
{
    for (size_t i = 0; i < where->n; i++) {
        if (point->level[where->factor[i]] != where->level[i])
            return false;
    }
    return true;
}
