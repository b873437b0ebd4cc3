/* tuner/session/target_facts: collects what is known of the file, the device and the machine for the rules of
 * tuner/session/warnings. */
#pragma once

#include "bench/target/target.h"
#include "tuner/session/warnings.h"

#include <stdbool.h>

/* Collects them for an opened target, before the first run, which takes some 0.1 s of looking at the idle
 * device. Never fails: what cannot be learnt stays unknown. */
void target_facts_collect(struct target_facts *target_facts, const struct target *target,
                          const struct hostinfo_device *device);

/* After the last run: how much the file broke up meanwhile. */
void target_facts_finish(struct target_facts *target_facts, const struct target *target);
