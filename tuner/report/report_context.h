/* tuner/report/report_context: lines about what an answer is of: what was measured and asked for, and what
 * limits it. */
#pragma once

#include "tuner/search/tune.h"

#include <stdio.h>

/* After the place: what was measured instead of a device, or may have been; or nothing. */
void report_context_subject(FILE *out, const struct notes *warnings);

/* The line "Limited to" where a limit on the rate, set by the control group or shown by the runs, holds the
 * recommended setting. */
void report_context_limit(FILE *out, const struct tune *tune);

/* The line "Asked": the command as it was given. */
void report_context_asked(FILE *out, const struct settings *settings);
