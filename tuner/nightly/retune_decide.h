/* tuner/nightly/retune_decide: from the replays of tonight and of earlier nights to a verdict. */
#pragma once

#include "models/statistics/nights.h"
#include "tuner/nightly/retune_state.h"
#include "tuner/search/tune.h"

/* Compares with tune->baseline, which is in force and has at least TUNE_MIN_REPLAYS confirming replays: sets
 * the verdict of result with the figures that it rests on, and what is to be remembered of tonight. Returns
 * the point (an index of tune) that should be in force. Has nothing to say about a first night. */
size_t retune_decide(const struct retune_request *request, struct tune *tune,
                     const struct retune_state *memory, struct retune_result *result,
                     struct retune_record *ret_record);

/* What is to be remembered of a first night. */
void retune_decide_first(const struct tune *tune, struct retune_record *record);
