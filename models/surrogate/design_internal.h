/* models/surrogate/design_internal: from places in the unit cube to points of the space, for the designs that
 * fill it. */
#pragma once

#include "models/surrogate/design.h"

#include <stdbool.h>

/* Turns a place in the unit cube into coordinates of the space: levels and categories take equal parts. */
void design_place_to_target(const struct space *space, const double *place, double *ret_target);

/* The point nearest to the target that is not taken; there must be one. */
size_t design_nearest_free(const struct space *space, const double *target, const bool *taken);
