/* models/surrogate/space: the finite set of points that a search may choose from, as numbers.
 *
 * Row i holds point i's coordinates: log2 levels of the ordered factors (scaled to 0..1 over the space by
 * space_init) and small integers for categories. The caller keeps the meaning. */
#pragma once

#include <stddef.h>

#define SPACE_MAX_DIMS 8

enum space_kind { SPACE_ORDERED, SPACE_CATEGORY };

struct space {
    size_t n_points, n_dims;
    enum space_kind kind[SPACE_MAX_DIMS];
    double *x;                       /* n_points * n_dims, row-major; owned */
    size_t n_levels[SPACE_MAX_DIMS]; /* distinct values per dimension */
};

/* Copies raw (n_points * n_dims) and scales ordered dimensions to 0..1 (all 0 where they do not vary). 0;
 * -EINVAL: no point, no or too many dimensions, a value that is not finite, a category that is not an integer
 * of 0..32767; -ENOMEM. After a failure space is empty. */
int space_init(struct space *space, const double *raw, size_t n_points, size_t n_dims,
               const enum space_kind *kind);
void space_done(struct space *space);

static inline const double *space_row(const struct space *space, size_t point)
{
    return space->x + point * space->n_dims;
}

/* Numbers the levels that n points (NULL: the first n) have in a dimension from 0 in ascending order, into
 * ret_level[n]. How many there are. scratch: n values, of which the first become those levels. */
size_t space_levels(const struct space *space, size_t dim, const size_t *points, size_t n, double *scratch,
                    size_t *ret_level);
