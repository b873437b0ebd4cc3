/* tests/models/online/latencies: requests that take as long as a test wants. */
#pragma once

#include "models/online/latency.h"

/* n reads or writes more of `ns` nanoseconds. */
static inline void latencies_add(struct latency_counts *counts, uint64_t ns, uint32_t n)
{
    counts->n[LATENCY_MOVES][latency_bucket(ns)] += n;
}

/* Of both classes. */
static inline struct latency_limits latencies_from(uint64_t ns)
{
    return (struct latency_limits){{latency_bucket(ns), latency_bucket(ns)}};
}
