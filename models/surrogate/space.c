/* models/surrogate/space: copies and scales the coordinates of the points. */
#include "models/surrogate/space.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool valid_value(double value, enum space_kind kind)
{
    if (kind == SPACE_CATEGORY)
        return value >= 0.0 && value <= (double)INT16_MAX && value == floor(value);
    return isfinite(value);
}

static bool valid_arguments(const double *raw, size_t n_points, size_t n_dims, const enum space_kind *kind)
{
    if (n_points == 0 || n_dims == 0 || n_dims > SPACE_MAX_DIMS)
        return false;
    if (n_points > SIZE_MAX / sizeof(*raw) / n_dims)
        return false;
    for (size_t i = 0; i < n_points * n_dims; i++) {
        if (!valid_value(raw[i], kind[i % n_dims]))
            return false;
    }
    return true;
}

/* Counts the levels of one dimension in its sorted column, and scales it where it is ordered. */
static void finish_dimension(struct space *space, size_t dim, const double *sorted)
{
    double low = sorted[0];
    double range = sorted[space->n_points - 1] - low;

    space->n_levels[dim] = 1;
    for (size_t i = 1; i < space->n_points; i++)
        space->n_levels[dim] += sorted[i] > sorted[i - 1];

    if (space->kind[dim] == SPACE_CATEGORY)
        return;
    for (size_t i = 0; i < space->n_points; i++) {
        double *x = &space->x[i * space->n_dims + dim];

        *x = range > 0.0 ? (*x - low) / range : 0.0;
    }
}

int space_init(struct space *space, const double *raw, size_t n_points, size_t n_dims,
               const enum space_kind *kind)
{
    double *column = NULL;
    int r = 0;

    /* Cleared first, so that space_done is safe whatever happens. */
    *space = (struct space){0};
    if (!valid_arguments(raw, n_points, n_dims, kind))
        return -EINVAL;

    column = malloc(n_points * sizeof(*column));
    space->x = malloc(n_points * n_dims * sizeof(*space->x));
    if (column == NULL || space->x == NULL) {
        space_done(space);
        r = -ENOMEM;
        goto out;
    }
    space->n_points = n_points;
    space->n_dims = n_dims;
    memcpy(space->kind, kind, n_dims * sizeof(*kind));
    memcpy(space->x, raw, n_points * n_dims * sizeof(*raw));

    for (size_t dim = 0; dim < n_dims; dim++) {
        for (size_t i = 0; i < n_points; i++)
            column[i] = raw[i * n_dims + dim];
        gsl_sort(column, 1, n_points);
        finish_dimension(space, dim, column);
    }
out:
    free(column);
    return r;
}

void space_done(struct space *space)
{
    if (space == NULL)
        return;
    free(space->x);
    *space = (struct space){0};
}

size_t space_levels(const struct space *space, size_t dim, const size_t *points, size_t n, double *scratch,
                    size_t *ret_level)
{
    size_t n_levels = 0;

    for (size_t i = 0; i < n; i++)
        scratch[i] = space_row(space, points ? points[i] : i)[dim];
    gsl_sort(scratch, 1, n);
    for (size_t i = 0; i < n; i++)
        if (n_levels == 0 || scratch[i] > scratch[n_levels - 1])
            scratch[n_levels++] = scratch[i];
    for (size_t i = 0; i < n; i++) {
        double value = space_row(space, points ? points[i] : i)[dim];

        ret_level[i] = 0;
        while (scratch[ret_level[i]] < value)
            ret_level[i]++;
    }
    return n_levels;
}
