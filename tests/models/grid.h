/* tests/models/grid: spaces that are all combinations of the levels 0, 1, ... of each dimension. */
#pragma once

#include "models/surrogate/space.h"
#include "tests/test.h"

/* The levels of the first dimension change fastest. */
static inline void grid_init(struct space *ret_space, const enum space_kind *kinds, size_t n_dims,
                             const size_t *n_levels)
{
    size_t n = 1;
    for (size_t dim = 0; dim < n_dims; dim++)
        n *= n_levels[dim];
    double *raw = malloc(n * n_dims * sizeof(*raw));
    if (raw == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        for (size_t dim = 0, rest = i; dim < n_dims; rest /= n_levels[dim++])
            raw[i * n_dims + dim] = (double)(rest % n_levels[dim]);
    if (space_init(ret_space, raw, n, n_dims, kinds) != 0)
        abort();
    free(raw);
}

#define GRID_INIT(space, kinds, ...)                                                                         \
    grid_init(space, kinds, N_OF(((const size_t[]){__VA_ARGS__})), (const size_t[]){__VA_ARGS__})

/* A space of the whole program. */
#define GRID_SPACE(name, kinds, ...)                                                                         \
    static struct space name;                                                                                \
    __attribute__((constructor)) static void name##_make(void)                                               \
    {                                                                                                        \
        GRID_INIT(&name, kinds, __VA_ARGS__);                                                                \
    }                                                                                                        \
    __attribute__((destructor)) static void name##_drop(void)                                                \
    {                                                                                                        \
        space_done(&name);                                                                                   \
    }
