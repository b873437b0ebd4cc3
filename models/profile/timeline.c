/* models/profile/timeline: counts over time in constant memory (the way of Darshan's heat map). */
#include "models/profile/timeline.h"

#include "models/profile/cells.h"

#include <string.h>

static void join(struct timeline_interval *into, const struct timeline_interval *a,
                 const struct timeline_interval *b)
{
    struct timeline_interval sum = {.n_bytes = a->n_bytes + b->n_bytes};
    for (int kind = 0; kind < TIMELINE_N_KINDS; kind++)
        sum.n[kind] = a->n[kind] + b->n[kind];
    *into = sum;
}

static void double_length(struct timeline *timeline, struct timeline_interval *intervals)
{
    uint64_t half = timeline->n_intervals / 2;
    for (uint64_t i = 0; i < half; i++)
        join(&intervals[i], &intervals[2 * i], &intervals[2 * i + 1]);
    memset(&intervals[half], 0, half * sizeof *intervals);
    __atomic_store_n(&timeline->log2_ns, timeline->log2_ns + 1, __ATOMIC_RELEASE);
}

void timeline_take(struct timeline *timeline, struct timeline_interval *intervals, uint64_t since_ns,
                   enum timeline_kind kind, uint64_t n_bytes)
{
    uint64_t at = since_ns >> cells_read(&timeline->log2_ns);
    if (at >= timeline->n_intervals) {
        if (!cells_take(&timeline->lock)) {
            cells_add(&timeline->n_lost, 1);
            return;
        }
        while (since_ns >> timeline->log2_ns >= timeline->n_intervals)
            double_length(timeline, intervals);
        cells_give(&timeline->lock);
        at = since_ns >> cells_read(&timeline->log2_ns);
    }
    cells_add(&intervals[at].n[kind], 1);
    cells_add(&intervals[at].n_bytes, n_bytes);
}
