/* tuner/report/report_certainty: how sure an answer is, and what more time would bring. */
#pragma once

#include "tuner/search/tune.h"

#include <stdio.h>

/* "95 % sure of at least 94 % of the best possible here, measured or not", of a latency "of at most 6 % above
 * the lowest"; or that it is not known. Rounded to the safe side, with a decimal only where the tolerance has
 * one, so that it never seems to meet a tolerance that it misses. */
void report_certainty_line(FILE *out, const struct tune *tune);

/* The lines "How sure": that, whether it is conclusive, and what more time (or --max-write) would change. */
void report_certainty_text(FILE *out, const struct tune *tune);
