/* tuner/nightly/retune_process: a process for each target. A request that the kernel does not finish holds
 * that process and its own target; the night goes on, and the program ends in time. */
#pragma once

#include "tuner/nightly/retune.h"

/* As retune_target, in a process of its own, which opens the history by itself: world->history is not
 * touched. No other thread may run. What does not answer in time is ended, or left to the kernel where it
 * cannot be, and the outcome says so. */
bool retune_process_run(const struct retune_world *world, struct retune_outcome *outcome,
                        bool after_own_work);
