/* tuner/nightly/retune_act: what is done with a night's answer. */
#pragma once

#include "tuner/nightly/retune.h"

/* Applies or records the advice of outcome->night, and records the night. run_id: of the history, 0: none.
 * Sets action and text; 0, or a negative errno where it could not be applied or recorded. */
int retune_act(const struct retune_world *world, struct retune_outcome *outcome, int64_t run_id,
               struct err *err);

/* Brings back what a night that was stopped in the middle of applying has left; nothing to do mostly. */
int retune_act_recover(const struct retune_world *world, const struct retune_target *target, struct err *err);

/* Adds to the history that this night was not measured, and counts such nights in a row. */
int retune_act_skip(const struct retune_world *world, struct retune_outcome *outcome, struct err *err);
