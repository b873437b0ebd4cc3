/* tuner/search/rate_limit_bursts: rates that come in bursts all through a run.
 *
 * A limit on bytes or requests per second, of a cgroup or of a hypervisor, often lets so much pass at full
 * speed and then stops until its clock's next tick, a tenth of a second or so later. A run of the shortest
 * length sees the burst or the pause behind it, and as the run's own beginning starts the clock, mostly the
 * burst: its rate is far above what lasts. Such runs must last several bursts. */
#pragma once

#include "models/statistics/student.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tune;

/* How long the runs of a search are where rates come in bursts. */
#define RATE_LIMIT_BURSTS_LEAST_NS 200000000ULL
#define RATE_LIMIT_BURSTS_MOST_NS  400000000ULL
/* They warm up for so long, which uses up what a limit has saved up while nothing ran. */
#define RATE_LIMIT_BURSTS_WARMUP_NS 150000000ULL
/* Replays after the choice that a flush ends, which may end anywhere in a slice of 0.1 s. */
#define RATE_LIMIT_BURSTS_FLUSHED_NS 1500000000ULL

/* What the pilot's runs of TUNE_TRANSIENT_RUN_NS show. */
struct rate_limit_bursts {
    struct moments idles; /* share of the time in which each run stood still */
    bool known;           /* a cgroup limits the rate: nothing has to be found */
};

/* Adds a run: the bytes of n windows, and how often its queue turned over. Where that is seldom, requests
 * complete in groups, and the run does not count. */
void rate_limit_bursts_add(struct rate_limit_bursts *bursts, const double *rates, size_t n, double rounds);

/* Whether they stood still for so long that it was bursts. */
bool rate_limit_bursts_seen(const struct rate_limit_bursts *bursts);

/* What runs must last for bursts; 0 where the pilot saw none, or the budget has no room for such runs. */
uint64_t rate_limit_bursts_least_ns(const struct tune *tune);

/* Warns the user of them, once the length of runs is decided. */
void rate_limit_bursts_tell(const struct tune *tune);
