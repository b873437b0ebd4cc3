/* tuner/session/initial_transient: the part of a run that its warm-up phase left in.
 *
 *
 * Warm-up ends when batch latencies agree with each other, and may miss a slow transient. What is left of it
 * shows in the windows of the whole run (models/statistics/batch_means). */
#pragma once

#include "bench/run/measure.h"

#include <stdint.h>

struct initial_transient {
    double seconds;    /* to leave out at the start; 0: none */
    double rate_ratio; /* of the rest, by the rate of the whole */
};

/* What to leave out of this run. Nothing where the windows do not tell: a flush inside the span, windows
 * without a completion, or too few of them. */
struct initial_transient initial_transient_of(const struct measure_result *result);
