/* tuner/report/report_table: the answer of `recommend` for a spreadsheet, and for a page in Markdown. */
#pragma once

#include "bench/base/err.h"
#include "tuner/report/answer.h"

#include <stdio.h>

/* One line for each measured setting, the best by the objective first. Columns are called as members of a row
 * in JSON, with their units; role says what the answer made of the setting: recommended, best, baseline. 0 or
 * the errno of a failed write; -ENOMEM. */
int report_table_csv(FILE *out, const struct answer *answer, struct err *err);

/* The most important lines as a list, and a table of at most ten settings, the named ones among them. As
 * above. */
int report_table_markdown(FILE *out, const struct answer *answer, struct err *err);
