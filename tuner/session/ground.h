/* tuner/session/ground: collects what is known of the file, the device and the machine for the rules of
 * tuner/session/doubts. */
#ifndef FSTUNE_TUNER_SESSION_GROUND_H
#define FSTUNE_TUNER_SESSION_GROUND_H

#include "bench/target/target.h"
#include "tuner/session/doubts.h"

#include <stdbool.h>

/* Of an opened target, before the first run; takes some 0.1 s of looking at the idle device. Never fails:
 * what cannot be learnt stays unknown. */
void ground_collect(struct doubts_ground *ground, const struct target *target,
                    const struct hostinfo_device *device);

/* After the last run: how much the file broke up meanwhile. */
void ground_finish(struct doubts_ground *ground, const struct target *target);

#endif
