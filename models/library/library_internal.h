/* What the parts of models/library share. */
#pragma once

#include "models/library/fstune.h"
#include "models/surrogate/space.h"

struct library_factor {
    enum space_kind kind;
    double *levels; /* owned */
    size_t n;
};

struct fst_space {
    struct library_factor factors[FST_MAX_FACTORS];
    char *names[FST_MAX_FACTORS]; /* owned */
    size_t n_factors;
    int (*forbidden)(const double *values, void *context);
    void *context;
};

/* All settings that are not forbidden: ret_values has n_factors values for each, owned by the caller. 0,
 * -EINVAL for an empty space, -E2BIG, -ENOMEM. */
int library_points(const struct fst_space *space, double **ret_values, size_t *ret_n);

/* The same as numbers for the models: choices as they are, others by their place in the list. */
int library_space(const struct fst_space *space, const double *values, size_t n, struct space *ret_space);
