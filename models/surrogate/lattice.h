/* models/surrogate/lattice: the space seen as a lattice of few levels, so that a covariance is looked up
 * instead of calculated.
 *
 * A pair of levels of one dimension has a class: pairs of one class differ by the same amount. The classes in
 * all dimensions fix how far two points are apart, and so their covariance; there are few of them, because
 * differences repeat. */
#pragma once

#include "models/surrogate/kernel.h"
#include "models/surrogate/space.h"

#include <stddef.h>
#include <stdint.h>

/* A dimension that varies. */
struct lattice_axis {
    size_t dim, n_levels, n_classes;
    size_t *level;     /* by point */
    uint32_t *classes; /* n_levels x n_levels, symmetric; times the classes of all axes before */
    double *apart;     /* by class: squared difference, or 1 where a category differs */
};

struct lattice {
    size_t n_dims, n_axes, size; /* size: of classes in all dimensions; 0: empty */
    struct lattice_axis axis[SPACE_MAX_DIMS];
};

/* 0; -ERANGE: too many levels for a table, lattice is empty; -ENOMEM. */
int lattice_init(struct lattice *lattice, const struct space *space);
void lattice_done(struct lattice *lattice); /* accepts a zeroed one */

/* The classes of two points as one number, below the lattice's size. */
static inline size_t lattice_index(const struct lattice *lattice, size_t a, size_t b)
{
    size_t index = 0;

    for (const struct lattice_axis *axis = lattice->axis; axis < lattice->axis + lattice->n_axes; axis++)
        index += axis->classes[axis->level[a] * axis->n_levels + axis->level[b]];
    return index;
}

/* The same of one point with each listed one. */
void lattice_indices(const struct lattice *lattice, size_t point, const size_t *points, size_t n,
                     size_t *ret_indices);

/* How far apart points of these classes are, per dimension. */
void lattice_apart(const struct lattice *lattice, size_t index, double *ret_apart);

/* kernel_between of all classes. ret_table has room for the lattice's size. */
void lattice_tabulate(const struct lattice *lattice, const struct kernel *kernel, double *ret_table);
