/* models/surface: the terms of a quadratic response surface, standardised over the points it is fitted to.
 *
 * Linear, square and pairwise terms of the ordered dimensions; the levels of the categories (dummy coded) and
 * their linear interactions with the ordered dimensions. What does not vary over the points gets no term. */
#ifndef FSTUNE_MODELS_SURFACE_H
#define FSTUNE_MODELS_SURFACE_H

#include "models/space.h"

#include <stddef.h>

struct surface_term;

struct surface {
    const struct space *space;
    size_t n_terms;
    struct surface_term *terms; /* owned; NULL: not initialised */
};

/* 0, -ENOMEM. */
int surface_init(struct surface *surface, const struct space *space, const size_t *points, size_t n);
int surface_copy(struct surface *surface, const struct surface *from);
void surface_done(struct surface *surface);

/* Writes 1 (the intercept) and the n_terms terms of a point. Over the points of surface_init each term has
 * mean 0 and variance 1. */
void surface_row(const struct surface *surface, size_t point, double *ret_row);

#endif
