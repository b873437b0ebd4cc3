/* tuner/search/tune_writes: what a night of many (tuner/nightly/retune_measure) may write, and what it buys
 * with that.
 *
 * Where the write budget, not the time, ends a search, bytes are the cost. The replays after the choice are
 * reserved first: they alone judge. Runs are then as short as the contract allows, without a pilot and
 * without a warm-up, which costs a queue of large requests as much as the run itself. Searches that are no
 * night keep their shares of the budget as they are. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TUNE_WRITES_SCARCE_RUNS 500 /* fewer of the shortest length in the write budget: it is scarce */

struct tune;

/* True in a night that may write only so much. */
bool tune_writes_are_limited(const struct tune *tune);

/* Looks at one run that no record keeps, unless the length is given; sets tune->writes_are_scarce, and then
 * run and warm-up as short as may be. As tune_measure. */
int tune_writes_look(struct tune *tune, struct err *err);

/* Bytes that a run of a point writes: by its replays, else by the fastest rate of writing seen. */
double tune_writes_of_run(const struct tune *tune, size_t point);

/* What no run may use until the replays after the choice: their share, and at least ENGINE_CONFIRMING_LEAST
 * replays of all points that are known to be among them and of the best so far. Sets the session's limit; to
 * be called again when more is known. */
void tune_writes_reserve(struct tune *tune);

/* Tells the engine what the replays after the choice may write, and what each writes. */
void tune_writes_tell(struct tune *tune);

/* Longest runs of which the budget allows n_runs; infinite where nothing is limited. */
double tune_writes_longest_seconds(const struct tune *tune, size_t n_runs);
