/* tests/models/online/latencies: requests that take as long as a test wants. */
#pragma once

#include "models/online/latency.h"

/* n more of `ns` nanoseconds. */
static inline void latencies_add(struct latency_counts *counts, uint64_t ns, uint32_t n)
{
    counts->n[latency_bucket(ns)] += n;
}
