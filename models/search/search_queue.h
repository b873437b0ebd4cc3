/* models/search/search_queue: a list of points handed out one after the other, for the strategies that fix
 * their order beforehand. */
#pragma once

#include "models/search/belief.h"
#include "models/surrogate/design.h"

#include <gsl/gsl_rng.h>
#include <stddef.h>

struct search_queue {
    size_t *points; /* owned */
    size_t n, next;
};

/* Fills it with n points (at most all) of the design. 0, -ENOMEM. */
int search_queue_init(struct search_queue *queue, const struct space *space, const struct design_ops *design,
                      size_t n, gsl_rng *rng);
void search_queue_done(struct search_queue *queue);

/* Takes up to `want` points, passing over those that are measured or excluded by now; their number. */
size_t search_queue_take(struct search_queue *queue, const struct belief *belief, size_t want,
                         size_t *ret_points);
