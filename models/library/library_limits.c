/* Limits on what is measured besides: their bounds, and the scale on which an effect is compared with them.
 */
#include "models/library/library_internal.h"

#include <errno.h>
#include <math.h>

#define SOFTENED 0.01 /* of the bound, added to effects, which may be 0 */

int library_limits_init(struct library_limits *limits, const struct fst_limit *given, size_t n,
                        const struct space *space, uint64_t seed)
{
    if (n > FST_MAX_LIMITS || (n > 0 && given == NULL))
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (!(given[i].bound > 0) || !isfinite(given[i].bound) || !library_is_name(given[i].name))
            return -EINVAL;
        limits->bounds[i] = given[i].bound;
        limits->at_least[i] = given[i].at_least != 0;
    }
    return n > 0 ? effects_init(&limits->effects, n, space, seed) : 0;
}

bool library_limits_accept(const struct library_limits *limits, const double *effects)
{
    for (size_t i = 0; i < limits->effects.n; i++) {
        if (effects == NULL || !(effects[i] >= 0) || !isfinite(effects[i]))
            return false;
    }
    return true;
}

int library_limits_tell(struct library_limits *limits, size_t setting, const double *effects)
{
    double within[FST_MAX_LIMITS];
    for (size_t i = 0; i < limits->effects.n; i++) {
        double beyond = log((effects[i] / limits->bounds[i] + SOFTENED) / (1 + SOFTENED));
        within[i] = limits->at_least[i] ? beyond : -beyond;
    }
    return effects_tell(&limits->effects, setting, within);
}
