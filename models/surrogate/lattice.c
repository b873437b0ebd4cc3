/* Levels of a space, and the classes of their differences. */
#include "models/surrogate/lattice.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these a table would outgrow the caches that make it worth while. */
#define MAX_LEVELS 128
#define MAX_TABLE  (1 << 18)

/* Coordinates span 0..1: closer differences are the same but for rounding. */
#define SAME 1e-9

static double difference(const struct space *space, size_t dim, double a, double b)
{
    return space->kind[dim] == SPACE_ORDERED ? fabs(a - b) : fabs(a - b) > 0.5;
}

/* The class of this difference, which is appended where it is new. */
static size_t class_of(struct lattice_axis *axis, double apart)
{
    size_t found = 0;

    while (found < axis->n_classes && fabs(axis->apart[found] - apart) > SAME)
        found++;
    if (found == axis->n_classes)
        axis->apart[axis->n_classes++] = apart;
    return found;
}

/* stride: the classes of all axes before. */
static int axis_init(struct lattice_axis *axis, const struct space *space, size_t stride)
{
    size_t n = axis->n_levels;
    double *values = malloc(space->n_points * sizeof(*values));

    axis->level = malloc(space->n_points * sizeof(*axis->level));
    axis->classes = malloc(n * n * sizeof(*axis->classes));
    axis->apart = malloc(n * n * sizeof(*axis->apart));
    if (!values || !axis->level || !axis->classes || !axis->apart) {
        free(values);
        return -ENOMEM;
    }
    space_levels(space, axis->dim, NULL, space->n_points, values, axis->level);
    for (size_t i = 0; i < n * n; i++) {
        double apart = difference(space, axis->dim, values[i / n], values[i % n]);

        axis->classes[i] = (uint32_t)(class_of(axis, apart) * stride);
    }
    for (size_t i = 0; i < axis->n_classes; i++)
        axis->apart[i] *= axis->apart[i];
    free(values);
    return stride * axis->n_classes > MAX_TABLE ? -ERANGE : 0;
}

int lattice_init(struct lattice *lattice, const struct space *space)
{
    int result = 0;

    *lattice = (struct lattice){.n_dims = space->n_dims, .size = 1};
    for (size_t dim = 0; dim < space->n_dims && !result; dim++) {
        struct lattice_axis *axis = &lattice->axis[lattice->n_axes];

        if (space->n_levels[dim] < 2)
            continue;
        *axis = (struct lattice_axis){.dim = dim, .n_levels = space->n_levels[dim]};
        lattice->n_axes++;
        result = axis->n_levels > MAX_LEVELS ? -ERANGE : axis_init(axis, space, lattice->size);
        lattice->size *= axis->n_classes;
    }
    if (result)
        lattice_done(lattice);
    return result;
}

void lattice_done(struct lattice *lattice)
{
    for (size_t k = 0; k < lattice->n_axes; k++) {
        free(lattice->axis[k].level);
        free(lattice->axis[k].classes);
        free(lattice->axis[k].apart);
    }
    *lattice = (struct lattice){0};
}

void lattice_indices(const struct lattice *lattice, size_t point, const size_t *points, size_t n,
                     size_t *ret_indices)
{
    memset(ret_indices, 0, n * sizeof(*ret_indices));
    for (size_t k = 0; k < lattice->n_axes; k++) {
        const size_t *level = lattice->axis[k].level;
        const uint32_t *classes = lattice->axis[k].classes + level[point] * lattice->axis[k].n_levels;

        for (size_t j = 0; j < n; j++)
            ret_indices[j] += classes[level[points[j]]];
    }
}

void lattice_apart(const struct lattice *lattice, size_t index, double *ret_apart)
{
    memset(ret_apart, 0, lattice->n_dims * sizeof(*ret_apart));
    for (size_t k = 0; k < lattice->n_axes; k++) {
        const struct lattice_axis *axis = &lattice->axis[k];

        ret_apart[axis->dim] = axis->apart[index % axis->n_classes];
        index /= axis->n_classes;
    }
}

void lattice_tabulate(const struct lattice *lattice, const struct kernel *kernel, double *ret_table)
{
    double apart[SPACE_MAX_DIMS];

    for (size_t i = 0; i < lattice->size; i++) {
        lattice_apart(lattice, i, apart);
        ret_table[i] = kernel->offset + kernel_at_apart(kernel, apart, NULL);
    }
}
