/* tuner/session/percentiles: p50, p99 and p99.9 of a record's requests, as far as they support them. */
#pragma once

#include "tuner/session/samples.h"

/* Replays below which a percentile has no interval: requests of one run share its luck, and what that costs
 * shows between runs only. */
#define PERCENTILES_LEAST_RUNS 3

/* Quantile of one run's requests; NaN where no order statistics would bound it at 95 % even if the requests
 * were independent. */
double percentiles_of_run(const struct histogram *latency, double share);

/* Fills p50, p99, p999 and their intervals from the pooled latencies of all replays, or of those after the
 * choice. What the sample does not support becomes NaN. 0 or -ENOMEM. */
int percentiles_fill(const struct record *record, bool confirming, double confidence,
                     const struct histogram *pooled, struct latency_row *row);
