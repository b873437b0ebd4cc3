/* models/surrogate/design: the random and the Sobol first design. */
#include "models/surrogate/design_internal.h"

#include <errno.h>
#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Cost of a wrong category: more than all ordered dimensions together can cost, each of which is at most 1.
 */
#define CATEGORY_COST ((double)SPACE_MAX_DIMS)

/* GSL's Sobol numbers are multiples of 2^-30. */
#define SOBOL_BITS 30

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int draw_random(const struct space *space, size_t n, gsl_rng *rng, size_t *ret_points, size_t *ret_n)
{
    size_t n_drawn = smaller(n, space->n_points);
    size_t *deck = malloc(space->n_points * sizeof(*deck));

    if (deck == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < space->n_points; i++)
        deck[i] = i;

    /* The first n_drawn steps of a shuffle. */
    for (size_t i = 0; i < n_drawn; i++) {
        size_t j = i + gsl_rng_uniform_int(rng, space->n_points - i);

        ret_points[i] = deck[j];
        deck[j] = deck[i];
    }
    free(deck);
    *ret_n = n_drawn;
    return 0;
}

/* The value of the category of this rank, counted from 0: values may have gaps where the space has no such
 * points. */
static double category_value(const struct space *space, size_t dim, size_t rank)
{
    double value = -1.0;

    for (size_t k = 0; k <= rank; k++) {
        double next = INFINITY;

        for (size_t i = 0; i < space->n_points; i++) {
            double x = space_row(space, i)[dim];

            if (x > value && x < next)
                next = x;
        }
        value = next;
    }
    return value;
}

/* A Sobol number with the shift's bits flipped, in the middle of its step. Unlike a shift by addition this
 * keeps every box of the binary grid as evenly filled as the sequence fills it, and so the combinations of
 * categories in proportion. */
static double shifted(double sobol, unsigned long shift)
{
    unsigned long bits = (unsigned long)ldexp(sobol, SOBOL_BITS) ^ shift;

    return ldexp((double)bits + 0.5, -SOBOL_BITS);
}

void design_place_to_target(const struct space *space, const double *place, double *ret_target)
{
    for (size_t dim = 0; dim < space->n_dims; dim++) {
        double levels = (double)space->n_levels[dim];
        double scaled = place[dim] * levels;

        if (space->kind[dim] == SPACE_CATEGORY)
            ret_target[dim] = category_value(space, dim, (size_t)scaled);
        else if (levels > 1.0)
            /* Stretched, then clamped: the outermost levels get as large a share as the inner ones. */
            ret_target[dim] = fmin(fmax((scaled - 0.5) / (levels - 1.0), 0.0), 1.0);
        else
            ret_target[dim] = 0.0;
    }
}

static double distance(const struct space *space, size_t point, const double *target)
{
    const double *x = space_row(space, point);
    double sum = 0.0;

    for (size_t dim = 0; dim < space->n_dims; dim++) {
        double delta = x[dim] - target[dim];

        if (space->kind[dim] == SPACE_ORDERED)
            sum += delta * delta;
        else if (fabs(delta) > 0.5)
            sum += CATEGORY_COST;
    }
    return sum;
}

size_t design_nearest_free(const struct space *space, const double *target, const bool *taken)
{
    double best_distance = INFINITY;
    size_t best = 0;

    for (size_t i = 0; i < space->n_points; i++) {
        double d;

        if (taken[i])
            continue;
        d = distance(space, i, target);
        if (d < best_distance) {
            best_distance = d;
            best = i;
        }
    }
    return best;
}

static int draw_sobol(const struct space *space, size_t n, gsl_rng *rng, size_t *ret_points, size_t *ret_n)
{
    size_t n_drawn = smaller(n, space->n_points);
    gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)space->n_dims);
    bool *taken = calloc(space->n_points, sizeof(*taken));
    /* GSL leaves out the origin, without which the first 2^k points are not balanced: it is the first place
     * here. */
    double sobol[SPACE_MAX_DIMS] = {0}, place[SPACE_MAX_DIMS], target[SPACE_MAX_DIMS];
    unsigned long shift[SPACE_MAX_DIMS];
    int r = 0;

    if (sequence == NULL || taken == NULL) {
        r = -ENOMEM;
        goto out;
    }
    for (size_t dim = 0; dim < space->n_dims; dim++)
        shift[dim] = gsl_rng_uniform_int(rng, 1UL << SOBOL_BITS);

    for (size_t i = 0; i < n_drawn; i++) {
        for (size_t dim = 0; dim < space->n_dims; dim++)
            place[dim] = shifted(sobol[dim], shift[dim]);
        design_place_to_target(space, place, target);
        ret_points[i] = design_nearest_free(space, target, taken);
        taken[ret_points[i]] = true;
        gsl_qrng_get(sequence, sobol);
    }
    *ret_n = n_drawn;
out:
    free(taken);
    if (sequence != NULL)
        gsl_qrng_free(sequence);
    return r;
}

const struct design_ops design_random = {.name = "random", .draw = draw_random};
const struct design_ops design_sobol = {.name = "sobol", .draw = draw_sobol};
