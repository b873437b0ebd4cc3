/* tuner/search/profiles_scout: a search for one profile passes by the points of the others. */
#ifndef FSTUNE_TUNER_SEARCH_PROFILES_SCOUT_H
#define FSTUNE_TUNER_SEARCH_PROFILES_SCOUT_H

#include "bench/base/err.h"

struct tune;

/* Where several profiles are wanted: climbs from the best point of each to better neighbours, until all
 * neighbours are measured and the first few have the replays to be compared; for at most a third of the time
 * before the confirmation. Returns as tune_measure. */
int profiles_scout(struct tune *tune, struct err *err);

#endif
