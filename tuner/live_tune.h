/* tuner/live_tune: the live view of a search. */
#ifndef FSTUNE_TUNER_LIVE_TUNE_H
#define FSTUNE_TUNER_LIVE_TUNE_H

#include "tuner/tune.h"

#include <stdbool.h>
#include <stddef.h>

/* Before a run of this point; nothing where stderr is no terminal or was drawn on just now. */
void live_tune_show(struct tune *tune, size_t point, bool fresh);

#endif
