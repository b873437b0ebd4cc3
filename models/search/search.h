/* models/search/search: which points to measure next (ask); the belief holds what was told.
 *
 * The caller loops, decides how many replays and when to stop. */
#pragma once

#include "models/search/belief.h"

#include <gsl/gsl_rng.h>
#include <stddef.h>

struct search_ops {
    const char *name; /* "gp", "random", "grid" ... */
    size_t state_size;
    const struct surrogate_ops *surrogate; /* what the belief should be fitted with */

    /* state is zeroed by the caller. n_first: size of the first design, for those that have one. 0, -ENOMEM.
     */
    int (*init)(void *state, const struct space *space, size_t n_first, gsl_rng *rng);

    /* Up to `want` distinct, not excluded points worth measuring next, best first. *ret_n = 0: this strategy
     * has no new point left (grid and random: every point was handed out; model: expected improvement is nil
     * everywhere). 0 or -ENOMEM. */
    int (*ask)(void *state, const struct belief *belief, size_t want, gsl_rng *rng, size_t *ret_points,
               size_t *ret_n);

    /* The point that was asked for is not run, and may be asked for again. NULL: every point is run when its
     * turn comes. */
    void (*give_back)(void *state, size_t point);

    /* True while the strategy still hands out its first design. */
    int (*in_first_design)(const void *state);

    void (*done)(void *state);
};

/* auto (the same as gp), gp, quadratic: Sobol design, then augmented expected improvement with kriging
 * believers inside a batch (a point asked for is assumed to come out at its posterior mean); random: without
 * replacement; grid: every point, in random order. Where belief->run_seconds tells what a run costs, it is
 * improvement per second that counts. */
extern const struct search_ops search_auto, search_gp, search_quadratic, search_random, search_grid;

/* The strategies, NULL-terminated. */
extern const struct search_ops *const search_table[];

/* NULL when there is none of that name. */
const struct search_ops *search_find(const char *name);
