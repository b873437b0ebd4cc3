/* models/online/waits: whether a setting makes requests wait longer than another one beside it.
 *
 * p99 of the setting is beyond a limit where more than 1 % of its requests are, of either class. That is
 * shown where two tests agree at 95 % confidence on one side: the binomial one of all its requests, and
 * Student's over trials, because one stall makes many requests wait that were under way together. It must
 * also have more of them than the slices beside: a load that has become slower is no fault of the setting. */
#pragma once

#include "models/online/latency.h"
#include "models/statistics/student.h"

#include <stdbool.h>

/* Of so many requests, a setting that makes one in twenty wait too long is refused in nine of ten cases. */
#define WAITS_LEAST_REQUESTS 200

struct waits {
    struct latency_share own, beside; /* of all trials */
    /* Own, and own less beside's, by trial. */
    struct moments shares[LATENCY_N_CLASSES], more[LATENCY_N_CLASSES];
};

/* One trial more; one without any request of a class says nothing of it. All zero: none. */
void waits_add(struct waits *waits, const struct latency_share *own, const struct latency_share *beside);

/* Of a class there were so many requests, in so many trials. */
bool waits_are_known(const struct waits *waits, uint64_t n_requests, uint64_t n_trials);

/* It is shown that they are too long, for a class. */
bool waits_are_long(const struct waits *waits);

/* For one slice alone: so much more than 1 % that nothing has to be computed. */
bool waits_are_clearly_long(const struct latency_share *share);
