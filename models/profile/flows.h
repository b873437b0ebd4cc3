/* models/profile/flows: bytes that threads move over sockets, summed up by thread and direction. */
#pragma once

#include "models/profile/events_row.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOWS_MOST 512U /* a power of two */

struct flow {
    uint32_t process, thread, direction; /* direction: EVENTS_IN or EVENTS_OUT; 0: this one is free */
    uint64_t n, n_bytes;
};

struct flows {
    struct flow flow[FLOWS_MOST];
};

/* False: there is no room for another thread, or for so many bytes in one row of events, until the table is
 * emptied. */
bool flows_add(struct flows *flows, const struct flow *more);
