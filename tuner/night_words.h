/* tuner/night_words: what a night found, in a line for people. */
#ifndef FSTUNE_TUNER_NIGHT_WORDS_H
#define FSTUNE_TUNER_NIGHT_WORDS_H

#include "tuner/night.h"

/* Writes evidence, and reason where the settings in force have fallen behind, from the figures. rule numbers
 * come from the request. */
void night_words(const struct night_request *request, struct night_result *result);

#endif
