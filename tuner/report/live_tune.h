/* tuner/report/live_tune: the status line of a search. */
#pragma once

#include "tuner/search/tune.h"

/* Shows the line before a run; nothing where stderr is no terminal or was drawn on just now. */
extern const struct tune_observer live_tune;
