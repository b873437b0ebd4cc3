/* tuner/writes/calibrate_internal: what the calibrate*.c files share with one another and nobody else. */
#pragma once

#include "tuner/writes/calibrate.h"

/* Jobs of a worker (tuner/base/worker.h) on a struct calibration that is prepared. 0 or a negative errno,
 * with words in its err. */

/* Measures everything once, as round n_rounds, which it then counts. */
int calibrate_round_measure(void *calibration);

/* The rate of first touch for some rounds, before all of them: afterwards the host takes back what was
 * touched, and the machine is busy with that, which is waited for. */
int calibrate_round_touch(void *calibration);
