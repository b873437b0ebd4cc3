/* tuner/report/live_tune: the live view of a search. */
#ifndef FSTUNE_TUNER_REPORT_LIVE_TUNE_H
#define FSTUNE_TUNER_REPORT_LIVE_TUNE_H

#include "tuner/search/tune.h"

#include <stdbool.h>
#include <stddef.h>

/* Shows the view before a run; nothing where stderr is no terminal or was drawn on just now. */
extern const struct tune_observer live_tune;

#endif
