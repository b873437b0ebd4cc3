/* Levels, places and classes of a space. */
#include "models/surrogate/lattice.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these a table would outgrow the caches that make it worth while. */
#define MAX_PLACES 1024
#define MAX_TABLE  (1 << 18)

/* Coordinates span 0..1: closer differences are the same but for rounding. */
#define SAME 1e-9

/* The levels of one dimension. */
struct axis {
    size_t n_levels, n_classes;
    uint32_t *level;   /* by point */
    uint32_t *classes; /* n_levels x n_levels */
    double *values;    /* by level */
    double *apart;     /* by class */
};

static void axis_done(struct axis *axis)
{
    free(axis->level);
    free(axis->classes);
    free(axis->values);
    free(axis->apart);
    *axis = (struct axis){0};
}

static double difference(const struct space *space, size_t dim, double a, double b)
{
    return space->kind[dim] == SPACE_ORDERED ? fabs(a - b) : fabs(a - b) > 0.5;
}

/* Number of different values among n sorted ones, which it moves to the front. */
static size_t keep_different(double *values, size_t n)
{
    size_t kept = 1;

    for (size_t i = 1; i < n; i++)
        if (values[i] - values[kept - 1] > SAME)
            values[kept++] = values[i];
    return kept;
}

/* Index of the last of n ascending values that is not above `value`, but for rounding. */
static uint32_t find(const double *values, size_t n, double value)
{
    size_t low = 0, high = n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (values[middle] <= value + SAME)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static int find_levels(struct axis *axis, const struct space *space, size_t dim)
{
    axis->values = malloc(space->n_points * sizeof(*axis->values));
    axis->level = malloc(space->n_points * sizeof(*axis->level));
    if (!axis->values || !axis->level)
        return -ENOMEM;
    for (size_t i = 0; i < space->n_points; i++)
        axis->values[i] = space_row(space, i)[dim];
    gsl_sort(axis->values, 1, space->n_points);
    axis->n_levels = keep_different(axis->values, space->n_points);
    if (axis->n_levels > MAX_PLACES)
        return -ERANGE;
    for (size_t i = 0; i < space->n_points; i++)
        axis->level[i] = find(axis->values, axis->n_levels, space_row(space, i)[dim]);
    return 0;
}

static int find_classes(struct axis *axis, const struct space *space, size_t dim)
{
    size_t n = axis->n_levels;

    axis->apart = malloc(n * n * sizeof(*axis->apart));
    axis->classes = malloc(n * n * sizeof(*axis->classes));
    if (!axis->apart || !axis->classes)
        return -ENOMEM;
    for (size_t i = 0; i < n * n; i++)
        axis->apart[i] = difference(space, dim, axis->values[i / n], axis->values[i % n]);
    gsl_sort(axis->apart, 1, n * n);
    axis->n_classes = keep_different(axis->apart, n * n);
    for (size_t i = 0; i < n * n; i++)
        axis->classes[i] = find(axis->apart, axis->n_classes,
                                difference(space, dim, axis->values[i / n], axis->values[i % n]));
    for (size_t i = 0; i < axis->n_classes; i++)
        axis->apart[i] *= axis->apart[i];
    return 0;
}

static int axis_init(struct axis *axis, const struct space *space, size_t dim)
{
    int result;

    *axis = (struct axis){0};
    result = find_levels(axis, space, dim);
    return result ? result : find_classes(axis, space, dim);
}

static int face_init(struct lattice_face *face, size_t n_points, size_t n_dims)
{
    *face = (struct lattice_face){.n_places = 1, .n_classes = 1};
    face->place = calloc(n_points, sizeof(*face->place));
    face->classes = calloc(1, sizeof(*face->classes));
    face->apart = calloc(n_dims, sizeof(*face->apart));
    return face->place && face->classes && face->apart ? 0 : -ENOMEM;
}

/* Every class of the face so far with every class of the axis. */
static double *cross_apart(const struct lattice_face *face, const struct axis *axis, size_t dim,
                           size_t n_dims)
{
    size_t n = face->n_classes * axis->n_classes;
    double *apart = malloc(n * n_dims * sizeof(*apart));

    for (size_t i = 0; apart && i < n; i++) {
        memcpy(apart + i * n_dims, face->apart + i / axis->n_classes * n_dims, n_dims * sizeof(*apart));
        apart[i * n_dims + dim] = axis->apart[i % axis->n_classes];
    }
    return apart;
}

static uint32_t *cross_classes(const struct lattice_face *face, const struct axis *axis)
{
    size_t n = face->n_places * axis->n_levels, levels = axis->n_levels;
    uint32_t *classes = malloc(n * n * sizeof(*classes));

    for (size_t i = 0; classes && i < n * n; i++) {
        size_t a = i / n, b = i % n;

        classes[i] = face->classes[a / levels * face->n_places + b / levels] * (uint32_t)axis->n_classes +
                     axis->classes[a % levels * levels + b % levels];
    }
    return classes;
}

static int add_axis(struct lattice_face *face, const struct axis *axis, size_t dim, const struct space *space)
{
    double *apart;
    uint32_t *classes;

    if (face->n_places * axis->n_levels > MAX_PLACES || face->n_classes * axis->n_classes > MAX_TABLE)
        return -ERANGE;
    apart = cross_apart(face, axis, dim, space->n_dims);
    classes = cross_classes(face, axis);
    if (!apart || !classes) {
        free(apart);
        free(classes);
        return -ENOMEM;
    }
    free(face->apart);
    free(face->classes);
    face->apart = apart;
    face->classes = classes;
    face->n_places *= axis->n_levels;
    face->n_classes *= axis->n_classes;
    for (size_t i = 0; i < space->n_points; i++)
        face->place[i] = face->place[i] * (uint32_t)axis->n_levels + axis->level[i];
    return 0;
}

/* Each dimension goes to the face that is smaller so far, those with many levels first. */
static int deal_out(struct lattice *lattice, const struct space *space)
{
    size_t order[SPACE_MAX_DIMS];
    double levels[SPACE_MAX_DIMS];
    int result = 0;

    for (size_t dim = 0; dim < space->n_dims; dim++)
        levels[dim] = -(double)space->n_levels[dim];
    gsl_sort_index(order, levels, 1, space->n_dims);
    for (size_t i = 0; i < space->n_dims && !result; i++) {
        struct lattice_face *face = lattice->face;
        struct axis axis;

        result = axis_init(&axis, space, order[i]);
        if (!result)
            result = add_axis(&face[face[0].n_places > face[1].n_places], &axis, order[i], space);
        axis_done(&axis);
    }
    if (!result && lattice_size(lattice) > MAX_TABLE)
        result = -ERANGE;
    return result;
}

int lattice_init(struct lattice *lattice, const struct space *space)
{
    struct lattice_face *face = lattice->face;
    int result;

    *lattice = (struct lattice){.n_dims = space->n_dims};
    result = face_init(&face[0], space->n_points, space->n_dims);
    if (!result)
        result = face_init(&face[1], space->n_points, space->n_dims);
    if (!result)
        result = deal_out(lattice, space);
    if (result) {
        lattice_done(lattice);
        return result;
    }
    for (size_t i = 0; i < face[0].n_places * face[0].n_places; i++)
        face[0].classes[i] *= (uint32_t)face[1].n_classes;
    return 0;
}

void lattice_done(struct lattice *lattice)
{
    for (size_t k = 0; k < 2; k++) {
        free(lattice->face[k].place);
        free(lattice->face[k].classes);
        free(lattice->face[k].apart);
    }
    *lattice = (struct lattice){0};
}

void lattice_apart(const struct lattice *lattice, size_t index, double *ret_apart)
{
    const struct lattice_face *face = lattice->face;
    const double *a = face[0].apart + index / face[1].n_classes * lattice->n_dims;
    const double *b = face[1].apart + index % face[1].n_classes * lattice->n_dims;

    for (size_t dim = 0; dim < lattice->n_dims; dim++)
        ret_apart[dim] = a[dim] + b[dim];
}

void lattice_tabulate(const struct lattice *lattice, const struct kernel *kernel, double *ret_table)
{
    double apart[SPACE_MAX_DIMS];

    for (size_t i = 0; i < lattice_size(lattice); i++) {
        lattice_apart(lattice, i, apart);
        ret_table[i] = kernel->offset + kernel_at_apart(kernel, apart, NULL);
    }
}
