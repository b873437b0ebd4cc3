/* tuner/report/report_change: whether a change is worth it, what else changes with it than the rate, and what
 * a profiled program would have to change. */
#pragma once

#include "tuner/report/answer.h"

#include <stdio.h>

#define REPORT_CHANGE_SIZE 400

/* "the default, 64k x 1, buffered, psync: the setting below is not shown to be faster": what may be kept; ""
 * where the recommended setting is shown to be better than it, or is the same one. Returns text. */
const char *report_change_keep(const struct answer *answer, char text[REPORT_CHANGE_SIZE]);

/* What direct and buffered settings promise, where the answer compares the one with the other; else "".
 * Returns text. */
const char *report_change_promises(const struct answer *answer, char text[REPORT_CHANGE_SIZE]);

/* Nothing without --for, or where the gain is unknown. */
void report_change_print(FILE *out, const struct answer *answer);
