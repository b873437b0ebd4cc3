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
    free(space);
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
    return space != NULL && name != NULL && space->n_factors < FST_MAX_FACTORS;
}

static bool is_power_of_two(uint64_t size)
{
    return size != 0 && (size & (size - 1)) == 0;
}

int fst_space_add_sizes(struct fst_space *space, const char *name, uint64_t low, uint64_t high)
{
    if (!may_add(space, name) || !is_power_of_two(low) || !is_power_of_two(high) || low >= high)
        return -EINVAL;
    size_t n = 0;
    double *levels = calloc(64, sizeof *levels);
    for (uint64_t size = low; levels != NULL && size <= high && n < 64; size *= 2)
        levels[n++] = (double)size;
    return add(space, name, SPACE_ORDERED, levels, n);
}

int fst_space_add_levels(struct fst_space *space, const char *name, const double *levels, size_t n)
{
    if (!may_add(space, name) || levels == NULL || n < 2 || n > FST_MAX_POINTS)
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

int fst_space_add_choices(struct fst_space *space, const char *name, size_t n)
{
    if (!may_add(space, name) || n < 2 || n > MOST_CHOICES)
        return -EINVAL;
    double *levels = calloc(n, sizeof *levels);
    for (size_t i = 0; levels != NULL && i < n; i++)
        levels[i] = (double)i;
    return add(space, name, SPACE_CATEGORY, levels, n);
}

void fst_space_forbid(struct fst_space *space, int (*forbidden)(const double *values, void *context),
                      void *context)
{
    space->forbidden = forbidden;
    space->context = context;
}

/* The combination of this number, the first factor changing fastest. */
static void combine(const struct fst_space *space, size_t number, double *ret_values)
{
    for (size_t i = 0; i < space->n_factors; i++) {
        ret_values[i] = space->factors[i].levels[number % space->factors[i].n];
        number /= space->factors[i].n;
    }
}

static int count_combinations(const struct fst_space *space, size_t *ret_n)
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

int library_points(const struct fst_space *space, double **ret_values, size_t *ret_n)
{
    size_t n_all = 0, n = 0;
    int result = count_combinations(space, &n_all);
    if (result < 0)
        return result;
    double *values = calloc(n_all * space->n_factors, sizeof *values);
    if (values == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n_all; i++) {
        double *row = values + n * space->n_factors;
        combine(space, i, row);
        n += space->forbidden == NULL || space->forbidden(row, space->context) == 0;
    }
    *ret_values = values;
    *ret_n = n;
    if (n == 0)
        free(values);
    return n > 0 ? 0 : -EINVAL;
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
