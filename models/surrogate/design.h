/* models/surrogate/design: which points to measure before there is anything to learn from. */
#pragma once

#include "models/surrogate/space.h"

#include <gsl/gsl_rng.h>
#include <stddef.h>

struct design_ops {
    const char *name;
    /* Writes up to n distinct point indices to ret_points; *ret_n = min(n, n_points) of them. 0, -ENOMEM. */
    int (*draw)(const struct space *space, size_t n, gsl_rng *rng, size_t *ret_points, size_t *ret_n);
};

/* random: without replacement. sobol: the origin and gsl_qrng's Sobol points with a random digital shift
 * (L'Ecuyer and Lemieux 2002), each mapped to the nearest point not taken yet; levels and categories take
 * equal strata of the unit interval, and a point of another category is nearest only where those of the right
 * one are used up. latin: a Latin hypercube (McKay, Beckman and Conover 1979) of n places, each dimension's n
 * strata met once in random pairings, mapped as Sobol's. fraction: first the regular half fraction - the
 * points whose level numbers have an even sum, so that main effects stay free of each other (Box and Hunter
 * 1961) -, then the other half, each in random order. */
extern const struct design_ops design_random, design_sobol, design_latin, design_fraction;

/* How many points the half fraction has. 0, -ENOMEM. */
int design_fraction_size(const struct space *space, size_t *ret_n);
