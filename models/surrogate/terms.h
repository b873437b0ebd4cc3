/* models/surrogate/terms: the terms of a quadratic response surface, standardised over the points it is
 * fitted to.
 *
 * Linear, square and pairwise terms of the ordered dimensions; the levels of the categories (dummy coded) and
 * their linear interactions with the ordered dimensions. What does not vary over the points gets no term. */
#pragma once

#include "models/surrogate/space.h"

#include <stddef.h>

struct term;

struct terms {
    const struct space *space;
    size_t n_terms;
    struct term *terms; /* owned; NULL: not initialised */
};

/* 0, -ENOMEM. */
int terms_init(struct terms *terms, const struct space *space, const size_t *points, size_t n);
int terms_copy(struct terms *terms, const struct terms *from);
void terms_done(struct terms *terms);

/* Writes 1 (the intercept) and the n_terms terms of a point. Over the points of terms_init each term has
 * mean 0 and variance 1. */
void terms_row(const struct terms *terms, size_t point, double *ret_row);
