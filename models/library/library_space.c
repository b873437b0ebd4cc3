/* The settings that a program may choose from. */
#include "models/library/library_internal.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CHOICES 32767 /* that models/surrogate/space takes */

struct fst_space *fst_space_new(void)
{
    return calloc(1, sizeof(struct fst_space));
}

void fst_space_free(struct fst_space *space)
{
    for (size_t i = 0; space != NULL && i < space->n_factors; i++) {
        free(space->factors[i].levels);
        free(space->names[i]);
    }
    if (space != NULL)
        free(space->exclusions);
    free(space);
}

bool library_is_name(const char *name)
{
    if (name == NULL)
        return false;
    while (*name != '\0' && (unsigned char)*name >= ' ')
        name++;
    return *name == '\0';
}

/* Takes over the levels, also where it fails. */
static int add(struct fst_space *space, const char *name, enum space_kind kind, double *levels, size_t n)
{
    char *copy = levels != NULL ? strdup(name) : NULL;
    if (copy == NULL) {
        free(levels);
        return -ENOMEM;
    }
    space->names[space->n_factors] = copy;
    space->factors[space->n_factors++] = (struct library_factor){.kind = kind, .levels = levels, .n = n};
    return 0;
}

static bool may_add(const struct fst_space *space, const char *name)
{
    return space != NULL && library_is_name(name) && space->n_factors < FST_MAX_FACTORS;
}

static bool is_power_of_two(uint64_t size)
{
    return size != 0 && (size & (size - 1)) == 0;
}

int fst_space_add_sizes(struct fst_space *space, const char *name, uint64_t low, uint64_t high)
{
    if (!may_add(space, name) || !is_power_of_two(low) || !is_power_of_two(high) || low > high)
        return -EINVAL;
    size_t n = 0;
    double *levels = calloc(64, sizeof *levels);
    for (uint64_t size = low; levels != NULL; size *= 2) {
        levels[n++] = (double)size;
        if (size == high)
            break;
    }
    return add(space, name, SPACE_ORDERED, levels, n);
}

int fst_space_add_levels(struct fst_space *space, const char *name, const double *levels, size_t n)
{
    if (!may_add(space, name) || levels == NULL || n < 1 || n > FST_MAX_POINTS)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(levels[i]) || (i > 0 && levels[i] <= levels[i - 1]))
            return -EINVAL;
    }
    double *copy = calloc(n, sizeof *copy);
    if (copy != NULL)
        memcpy(copy, levels, n * sizeof *copy);
    return add(space, name, SPACE_ORDERED, copy, n);
}

int fst_space_add_reals(struct fst_space *space, const char *name, double low, double high, size_t n,
                        int by_ratio)
{
    if (!may_add(space, name) || n < 2 || n > FST_MAX_POINTS || !(low < high) || !isfinite(low) ||
        !isfinite(high) || (by_ratio && !(low > 0)))
        return -EINVAL;
    double *levels = calloc(n, sizeof *levels);
    if (levels == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        double share = (double)i / (double)(n - 1);
        levels[i] = by_ratio ? low * pow(high / low, share) : low + (high - low) * share;
    }
    levels[n - 1] = high;
    int result = fst_space_add_levels(space, name, levels, n);
    free(levels);
    return result;
}

int fst_space_add_choices(struct fst_space *space, const char *name, size_t n)
{
    if (!may_add(space, name) || n < 1 || n > MOST_CHOICES)
        return -EINVAL;
    double *levels = calloc(n, sizeof *levels);
    for (size_t i = 0; levels != NULL && i < n; i++)
        levels[i] = (double)i;
    return add(space, name, SPACE_CATEGORY, levels, n);
}

void fst_space_forbid(struct fst_space *space, int (*forbidden)(const double *values, void *context),
                      void *context)
{
    if (space == NULL)
        return;
    space->forbidden = forbidden;
    space->context = context;
}

static bool has_level(const struct fst_space *space, size_t factor, double value)
{
    for (size_t i = 0; factor < space->n_factors && i < space->factors[factor].n; i++) {
        if (!(space->factors[factor].levels[i] < value || space->factors[factor].levels[i] > value))
            return !isnan(value);
    }
    return false;
}

int fst_space_not_with(struct fst_space *space, size_t factor, double value, size_t other, double other_value)
{
    if (space == NULL || factor == other || !has_level(space, factor, value) ||
        !has_level(space, other, other_value))
        return -EINVAL;
    struct library_exclusion *longer = realloc(space->exclusions, (space->n_exclusions + 1) * sizeof *longer);
    if (longer == NULL)
        return -ENOMEM;
    space->exclusions = longer;
    longer[space->n_exclusions++] = (struct library_exclusion){
        .factor = factor, .other = other, .value = value, .other_value = other_value};
    return 0;
}

static bool is_left_out(const struct fst_space *space, const double *row)
{
    for (size_t i = 0; i < space->n_exclusions; i++) {
        const struct library_exclusion *out = &space->exclusions[i];
        if (row[out->factor] == out->value && row[out->other] == out->other_value)
            return true;
    }
    return space->forbidden != NULL && space->forbidden(row, space->context) != 0;
}

/* The last factor changes fastest. */
void library_combine(const struct fst_space *space, size_t number, double *ret_values)
{
    for (size_t i = space->n_factors; i-- > 0;) {
        ret_values[i] = space->factors[i].levels[number % space->factors[i].n];
        number /= space->factors[i].n;
    }
}

int library_count(const struct fst_space *space, size_t *ret_n)
{
    size_t n = space->n_factors > 0 ? 1 : 0;
    for (size_t i = 0; i < space->n_factors; i++) {
        n *= space->factors[i].n;
        if (n > FST_MAX_POINTS)
            return -E2BIG;
    }
    *ret_n = n;
    return n > 0 ? 0 : -EINVAL;
}

int library_points(const struct fst_space *space, double **ret_values, unsigned char **ret_left_out,
                   size_t *ret_n)
{
    size_t n_all = 0, n = 0;
    int result = library_count(space, &n_all);
    if (result < 0)
        return result;
    double *values = calloc(n_all * space->n_factors, sizeof *values);
    unsigned char *left_out = calloc(n_all, 1);
    if (values == NULL || left_out == NULL)
        result = -ENOMEM;
    for (size_t i = 0; i < n_all && result == 0; i++) {
        double *row = values + n * space->n_factors;
        library_combine(space, i, row);
        left_out[i] = is_left_out(space, row);
        n += left_out[i] == 0;
    }
    if (result == 0 && n == 0)
        result = -EINVAL;
    if (result < 0) {
        free(values);
        free(left_out);
        return result;
    }
    *ret_values = values;
    *ret_left_out = left_out;
    *ret_n = n;
    return 0;
}

static double place_of(const struct library_factor *factor, double value)
{
    size_t i = 0;
    while (i + 1 < factor->n && factor->levels[i] < value)
        i++;
    return (double)i;
}

int library_space(const struct fst_space *space, const double *values, size_t n, struct space *ret_space)
{
    size_t n_dims = space->n_factors;
    enum space_kind kinds[FST_MAX_FACTORS];
    double *raw = calloc(n * n_dims, sizeof *raw);
    if (raw == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n * n_dims; i++) {
        kinds[i % n_dims] = space->factors[i % n_dims].kind;
        raw[i] = place_of(&space->factors[i % n_dims], values[i]);
    }
    int result = space_init(ret_space, raw, n, n_dims, kinds);
    free(raw);
    return result;
}
