/* tuner/nightly/retune_trial: finds out before a night what would fail after it. */
#pragma once

#include "bench/base/err.h"
#include "tuner/nightly/retune_config.h"

/* Whether the target's `emit`, with its image, bus and version, can express an answer of its pattern. 0;
 * -EINVAL where it refuses whatever answer a night may find, with its reason; -ENOMEM. */
int retune_trial_snippet(const struct retune_target *target, struct err *err);
