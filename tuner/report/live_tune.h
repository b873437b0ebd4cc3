/* tuner/report/live_tune: the status line of a search. */
#ifndef FSTUNE_TUNER_REPORT_LIVE_TUNE_H
#define FSTUNE_TUNER_REPORT_LIVE_TUNE_H

#include "tuner/search/tune.h"

/* Shows the line before a run; nothing where stderr is no terminal or was drawn on just now. */
extern const struct tune_observer live_tune;

#endif
