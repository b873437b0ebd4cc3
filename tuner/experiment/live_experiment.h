/* tuner/experiment/live_experiment: the status line of an experiment. */
#pragma once

#include "tuner/experiment/experiment.h"

#include <stddef.h>

/* Before a run (its number in the order); nothing where stderr is no terminal or was drawn on just now. */
void live_experiment_show(const struct experiment *experiment, size_t run, double seconds_left);
