/* tuner/nightly/retune_scatter: what the nights of a machine's other targets say about how nights differ. */
#pragma once

#include "tuner/nightly/retune.h"

#define RETUNE_SCATTER_RUNS 120 /* the newest of all targets */
/* Differences that all of them count for at most: a target's own nights know it better. */
#define RETUNE_SCATTER_MOST 6

/* Of all targets of this machine but that one. 0 or a negative errno. */
int retune_scatter_learn(const struct retune_world *world, const char *but_target,
                         struct nights_scatter *ret_scatter, struct err *err);
