/* tuner/session/known_limits: the limits that a cgroup sets for the device, which no rate lasts above. */
#pragma once

#include "bench/run/measure.h"
#include "bench/target/storage_stack.h"

bool known_limits_exist(const struct storage_stack *stack);

/* A limit lets through at once what was not used before, as between runs. A run that took its bytes through
 * the limits at a higher rate shows such a burst: its throughput and IOPS become what lasts, and burst_bps
 * what they were. Nothing changes where requests may have met the page cache, whose rates no limit binds. */
void known_limits_apply(const struct storage_stack *stack, const struct measure_plan *plan,
                        struct measure_result *result);

/* Whether a run showed a burst worth telling of. */
bool known_limits_shows_burst(const struct measure_result *result);

/* How long the device has to rest after a run, so that a burst of it (burst_bps) is not made up for by the
 * next run, which would be as much slower. 0 after a run without. */
uint64_t known_limits_debt_ns(const struct measure_result *result);

/* The rate in bytes per second that no run of the pattern with this setting lasts above; INFINITY where none
 * is known. cold: what is read was not in the page cache. */
double known_limits_ceiling(const struct storage_stack *stack, const struct pattern *pattern,
                            const struct point *point, bool cold);
