/* bench/io/pace: the times at which requests are due. */
#include "bench/io/pace.h"

#include <math.h>

#define LATE_MOMENTS 10000U

void pace_init(struct pace *pace, double rate, uint32_t lane, uint32_t n_lanes, uint64_t start_ns)
{
    *pace = (struct pace){.start_ns = start_ns};
    if (rate <= 0)
        return;
    pace->interval_ns = fmax(1e9 * n_lanes / rate, 1);
    pace->next_ns = pace->interval_ns / n_lanes * lane;
}

void pace_randomise(struct pace *pace, uint64_t seed)
{
    pace->random = true;
    rng_init(&pace->rng, seed);
    pace->next_ns = 0;
    pace_step(pace);
}

void pace_step(struct pace *pace)
{
    pace->next_ns += pace->random ? -log1p(-rng_uniform(&pace->rng)) * pace->interval_ns : pace->interval_ns;
}

/* Of very many, those that were due beside each other count as one moment. */
uint64_t pace_count_late(struct pace *pace, uint64_t end_ns, uint64_t n_each, struct histogram *latency)
{
    uint64_t due_ns = pace_due_ns(pace);
    if (!pace_is_on(pace) || due_ns >= end_ns)
        return 0;
    uint64_t n = (uint64_t)ceil((double)(end_ns - due_ns) / pace->interval_ns);
    for (uint64_t done = 0, part; done < n; done += part) {
        part = n / LATE_MOMENTS + 1 < n - done ? n / LATE_MOMENTS + 1 : n - done;
        histogram_add(latency, end_ns - due_ns - (uint64_t)((double)done * pace->interval_ns), part * n_each);
    }
    return n * n_each;
}
