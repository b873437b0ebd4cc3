/* tuner/nightly/retune_text: what a night found, in a line for people. */
#pragma once

#include "tuner/nightly/retune_measure.h"
#include "tuner/search/tune.h"

/* Writes evidence, and reason where the current setting has fallen behind, from the figures. rule numbers
 * come from the request. */
void retune_text(const struct retune_request *request, struct retune_result *result);

/* Why a write budget was too small for any verdict, into text; returns it. */
const char *retune_text_too_few(const struct tune *tune, char text[NIGHT_TEXT_SIZE]);

/* Adds to the evidence what the write budget kept the night from, where it did. */
void retune_text_add_writes(const struct tune *tune, struct retune_result *result);
