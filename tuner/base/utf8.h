/* tuner/base/utf8: what is a character in the texts of others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Length of the UTF-8 character that begins here, 0 where none does. Continuation bytes alone, overlong
 * forms, surrogates and what lies above U+10FFFF are none. The terminating zero has length 1. */
size_t utf8_length(const char *characters);

/* A character of that length, as utf8_length gave it, that stays in its line in every format: no control
 * character, no line separator of Unicode's (YAML ends lines there), nothing that XML forbids. */
bool utf8_is_plain(const char *text, size_t length);
