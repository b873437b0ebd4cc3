/* tuner/base/style: bold and dim letters, where a terminal shows them. */
#pragma once

#include <stdio.h>

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM };

/* What is written to `out` from here on has this style: the text to write there for it, "" unless `out` is a
 * terminal that knows styles. A file, a pipe, TERM=dumb, and NO_COLOR that is not empty (no-color.org) have
 * none. */
const char *style_text(FILE *out, enum style style);
