/* models/surrogate/design: the Latin hypercube and the half fraction. */
#include "models/surrogate/design_internal.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <stdlib.h>
#include <string.h>

/* GSL's shuffle counts down from n - 1. */
static void shuffle(gsl_rng *rng, size_t *values, size_t n)
{
    if (n > 1)
        gsl_ran_shuffle(rng, values, n, sizeof *values);
}

static int draw_latin(const struct space *space, size_t n, gsl_rng *rng, size_t *ret_points, size_t *ret_n)
{
    size_t n_drawn = n < space->n_points ? n : space->n_points;
    size_t *strata = calloc(n_drawn * space->n_dims + 1, sizeof *strata);
    bool *taken = calloc(space->n_points, sizeof *taken);
    int result = strata != NULL && taken != NULL ? 0 : -ENOMEM;
    for (size_t dim = 0; result == 0 && dim < space->n_dims; dim++) {
        for (size_t i = 0; i < n_drawn; i++)
            strata[dim * n_drawn + i] = i;
        shuffle(rng, strata + dim * n_drawn, n_drawn);
    }
    for (size_t i = 0; result == 0 && i < n_drawn; i++) {
        double place[SPACE_MAX_DIMS], target[SPACE_MAX_DIMS];
        for (size_t dim = 0; dim < space->n_dims; dim++)
            place[dim] = ((double)strata[dim * n_drawn + i] + gsl_rng_uniform(rng)) / (double)n_drawn;
        design_place_to_target(space, place, target);
        ret_points[i] = design_nearest_free(space, target, taken);
        taken[ret_points[i]] = true;
    }
    free(strata);
    free(taken);
    if (result == 0)
        *ret_n = n_drawn;
    return result;
}

/* Sums of level numbers; the caller frees them. */
static int sum_ranks(const struct space *space, size_t **ret_sums)
{
    size_t n = space->n_points, *sums = calloc(n, sizeof *sums), *level = calloc(n, sizeof *level);
    double *scratch = calloc(n, sizeof *scratch);
    int result = sums != NULL && level != NULL && scratch != NULL ? 0 : -ENOMEM;
    for (size_t dim = 0; result == 0 && dim < space->n_dims; dim++) {
        space_levels(space, dim, NULL, n, scratch, level);
        for (size_t i = 0; i < n; i++)
            sums[i] += level[i];
    }
    free(level);
    free(scratch);
    if (result == 0)
        *ret_sums = sums;
    else
        free(sums);
    return result;
}

int design_fraction_size(const struct space *space, size_t *ret_n)
{
    size_t *sums = NULL, n = 0;
    int result = sum_ranks(space, &sums);
    if (result < 0)
        return result;
    for (size_t i = 0; i < space->n_points; i++)
        n += sums[i] % 2 == 0;
    free(sums);
    *ret_n = n;
    return 0;
}

static int draw_fraction(const struct space *space, size_t n, gsl_rng *rng, size_t *ret_points, size_t *ret_n)
{
    size_t *sums = NULL, *order = calloc(space->n_points, sizeof *order), n_even = 0, n_odd = 0;
    int result = order != NULL ? sum_ranks(space, &sums) : -ENOMEM;
    if (result < 0) {
        free(order);
        return result;
    }
    for (size_t i = 0; i < space->n_points; i++) {
        if (sums[i] % 2 == 0)
            order[n_even++] = i;
        else
            order[space->n_points - ++n_odd] = i;
    }
    shuffle(rng, order, n_even);
    shuffle(rng, order + n_even, n_odd);
    *ret_n = n < space->n_points ? n : space->n_points;
    memcpy(ret_points, order, *ret_n * sizeof *order);
    free(sums);
    free(order);
    return 0;
}

const struct design_ops design_latin = {.name = "latin", .draw = draw_latin};
const struct design_ops design_fraction = {.name = "fraction", .draw = draw_fraction};
