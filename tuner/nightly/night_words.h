/* tuner/nightly/night_words: what a night found, in a line for people. */
#ifndef FSTUNE_TUNER_NIGHTLY_NIGHT_WORDS_H
#define FSTUNE_TUNER_NIGHTLY_NIGHT_WORDS_H

#include "tuner/nightly/night.h"
#include "tuner/search/tune.h"

/* Writes evidence, and reason where the settings in force have fallen behind, from the figures. rule numbers
 * come from the request. */
void night_words(const struct night_request *request, struct night_result *result);

/* Why a write budget was too small for any verdict, into text; returns it. */
const char *night_words_too_few(const struct tune *tune, char text[NIGHT_TEXT_SIZE]);

/* Adds to the evidence what the write budget kept the night from, where it did. */
void night_words_add_writes(const struct tune *tune, struct night_result *result);

#endif
