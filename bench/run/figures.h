/* bench/run/figures: what the workers of a run add up to: rates, latencies and depth of all, and of each
 * member. */
#pragma once

#include "bench/run/workers.h"

/* The bytes of the whole run, also of one that failed. */
void figures_count_totals(struct measure_result *ret, const struct workers *workers);

/* The rest of a run that ended well, the members' figures in its environment among it. end_ns: the end of
 * each member's flush in the span, 0 where there was none. */
void figures_gather(struct measure_result *ret, const struct workers *workers, const uint64_t *end_ns,
                    struct histogram *latency);
