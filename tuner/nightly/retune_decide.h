/* tuner/nightly/retune_decide: from the replays of tonight and of earlier nights to a verdict. */
#pragma once

#include "models/statistics/nights.h"
#include "tuner/nightly/retune_state.h"
#include "tuner/search/tune.h"

/* Compares with tune->engine.baseline, which is the current setting and has at least ENGINE_MIN_REPLAYS
 * confirming replays: sets the verdict of result with the figures that it rests on, and what is to be
 * remembered of tonight. Returns the point (an index of tune) that should be the current setting. Has nothing
 * to say about a first night. */
size_t retune_decide(const struct retune_request *request, struct tune *tune,
                     const struct retune_state *memory, struct retune_result *result,
                     struct retune_record *ret_record);

/* What is to be remembered of a first night. */
void retune_decide_first(const struct tune *tune, struct retune_record *record);

/* --- retune_text: what a night found, in a line for people --- */

/* Writes evidence, and reason where the current setting has fallen behind, from the figures. rule numbers
 * come from the request. */
void retune_text(const struct retune_request *request, struct retune_result *result);

/* Why a write budget was too small for any verdict, into text; returns it. */
const char *retune_text_too_few(const struct tune *tune, char text[NIGHT_TEXT_SIZE]);

/* Adds to the evidence what the write budget kept the night from, where it did. */
void retune_text_add_writes(const struct tune *tune, struct retune_result *result);
/* And what the night cost the neighbours, where it was measured. */
void retune_text_add_neighbours(const struct tune *tune, struct retune_result *result);
