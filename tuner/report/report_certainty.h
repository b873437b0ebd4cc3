/* tuner/report/report_certainty: how sure an answer is, and what more time would bring. */
#pragma once

#include "tuner/report/answer.h"

#include <stdio.h>

/* "95 % sure of at least 94 % of the best possible here, measured or not", of a latency "of at most 6 % above
 * the lowest"; or that it is not known. Rounded to the safe side, with a decimal only where the tolerance has
 * one, so that it never seems to meet a tolerance that it misses. */
void report_certainty_line(FILE *out, const struct tune *tune);

/* The line "Limited to" where a limit on the rate, set by the control group or shown by the runs, holds the
 * recommended setting. */
void report_certainty_limit(FILE *out, const struct tune *tune);

/* The line "Fastest" where that is the recommended setting, and what may be faster all the same. Nothing
 * where what is in use may be it. */
void report_certainty_fastest(FILE *out, const struct answer *answer);

/* The lines "How sure": that, whether it is conclusive, and what more time (or --max-write) would make of it.
 */
void report_certainty_text(FILE *out, const struct tune *tune);
