/* models/online/waits: whether a setting makes requests wait longer than another one beside it.
 *
 * p99 of the setting is beyond a limit where more than 1 % of its requests are. That is shown where two tests
 * agree at 95 % confidence on one side: the binomial one of all its requests, and Student's over trials,
 * because one stall makes many requests wait that were under way together. It must also have more of them
 * than the slices beside: a load that has become slower is no fault of the setting. */
#pragma once

#include "models/online/latency.h"
#include "models/statistics/student.h"

#include <stdbool.h>

/* Of so many requests, a setting that makes one in twenty wait too long is refused in nine of ten cases. */
#define WAITS_LEAST_REQUESTS 200

struct waits {
    struct latency_share own, beside; /* of all trials */
    struct moments shares, more;      /* own, and own less beside's, by trial */
};

/* One trial more; one without any request says nothing. All zero: none. */
void waits_add(struct waits *waits, struct latency_share own, struct latency_share beside);

/* It is shown that they are too long. */
bool waits_are_long(const struct waits *waits);

/* For one slice alone: so much more than 1 % that nothing has to be computed. */
bool waits_are_clearly_long(struct latency_share share);
