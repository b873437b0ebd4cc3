/* models/surrogate/lattice: the space seen as a lattice of few levels, so that a covariance is looked up
 * instead of calculated.
 *
 * The dimensions are dealt out to two faces. A point has one place on each face, and a pair of places on a
 * face has a class: pairs of one class differ by the same amounts. Two classes, one of each face, fix how far
 * two points are apart, and so their covariance; there are few of them, because levels repeat. */
#pragma once

#include "models/surrogate/kernel.h"
#include "models/surrogate/space.h"

#include <stddef.h>
#include <stdint.h>

struct lattice_face {
    size_t n_places, n_classes;
    uint32_t *place;   /* by point */
    uint32_t *classes; /* n_places x n_places, symmetric; on the first face times n_classes of the second */
    double *apart;     /* n_classes x dimensions of the space: squared difference, or 1 where a category
                        * differs; 0 in dimensions of the other face */
};

struct lattice {
    size_t n_dims;
    struct lattice_face face[2];
};

/* 0; -ERANGE: too many levels for a table, lattice is empty; -ENOMEM. */
int lattice_init(struct lattice *lattice, const struct space *space);
void lattice_done(struct lattice *lattice); /* accepts a zeroed one */

/* Pairs of classes; 0 for an empty lattice. */
static inline size_t lattice_size(const struct lattice *lattice)
{
    return lattice->face[0].n_classes * lattice->face[1].n_classes;
}

/* The pair of classes of two points, below lattice_size. */
static inline size_t lattice_index(const struct lattice *lattice, size_t a, size_t b)
{
    const struct lattice_face *face = lattice->face;

    return face[0].classes[face[0].place[a] * face[0].n_places + face[0].place[b]] +
           face[1].classes[face[1].place[a] * face[1].n_places + face[1].place[b]];
}

/* How far apart points of a pair of classes are, per dimension. */
void lattice_apart(const struct lattice *lattice, size_t index, double *ret_apart);

/* kernel_between of every pair of classes. ret_table has room for lattice_size. */
void lattice_tabulate(const struct lattice *lattice, const struct kernel *kernel, double *ret_table);
