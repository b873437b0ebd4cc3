/* models/profile/flows: a table with open addresses. */
#include "models/profile/flows.h"

#include <stddef.h>

/* NULL: there is no room. */
static struct flow *find(struct flows *flows, const struct flow *wanted)
{
    uint32_t at = wanted->thread * 2654435761U ^ wanted->direction;
    for (uint32_t i = 0; i < FLOWS_MOST; i++) {
        struct flow *flow = &flows->flow[(at + i) % FLOWS_MOST];
        if (flow->direction == 0)
            *flow = (struct flow){wanted->process, wanted->thread, wanted->direction, 0, 0};
        if (flow->process == wanted->process && flow->thread == wanted->thread &&
            flow->direction == wanted->direction)
            return flow;
    }
    return NULL;
}

bool flows_add(struct flows *flows, const struct flow *more)
{
    struct flow *flow = find(flows, more);
    if (flow == NULL || more->n_bytes > EVENTS_FILE_BYTES - flow->n_bytes)
        return false;
    flow->n += more->n;
    flow->n_bytes += more->n_bytes;
    return true;
}
