/* tuner/report/report_table: the order and the standing of measured settings, and the answer of `recommend`
 * as a table: for people, for a spreadsheet and for a page in Markdown. */
#pragma once

#include "bench/base/err.h"
#include "tuner/report/answer.h"

#include <stdio.h>

/* Numbers of the measured settings, by what the answer took them to be worth, the best first; those without a
 * figure of it come last. The caller frees *ret_order, also after a failure. 0 or -ENOMEM. */
int report_table_order(const struct tune *tune, size_t **ret_order, size_t *ret_n, struct err *err);

#define REPORT_MORE_SIZE 60

/* "12 % more in the replays": the rate of the fastest setting beside the recommended one; returns text. */
const char *report_table_more(const struct tune *tune, char text[REPORT_MORE_SIZE]);

#define REPORT_STANDING_SIZE 40

/* What the answer made of a setting, in words that agree with the share; returns text. */
const char *report_table_standing(const struct tune *tune, size_t i, char text[REPORT_STANDING_SIZE]);

/* For people: the ten best and the named settings, and what their words mean. 0 or -ENOMEM. */
int report_table_text(FILE *out, const struct answer *answer, struct err *err);

/* One line for each measured setting, the best by the objective first. Columns are called as members of a row
 * in JSON, with their units; role says what the answer made of the setting: recommended, best, baseline. 0 or
 * the errno of a failed write; -ENOMEM. */
int report_table_csv(FILE *out, const struct answer *answer, struct err *err);

/* The most important lines as a list, and a table of at most ten settings, the named ones among them. As
 * above. */
int report_table_markdown(FILE *out, const struct answer *answer, struct err *err);
