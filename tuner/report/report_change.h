/* tuner/report/report_change: what a profiled program would have to change, and what it would gain by that.
 */
#pragma once

#include "tuner/report/answer.h"

#include <stdio.h>

/* Nothing without --for, or where the gain is unknown. */
void report_change_print(FILE *out, const struct answer *answer);
