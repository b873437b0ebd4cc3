/* tuner/base/csv: fields of a table for spreadsheets (RFC 4180). The caller writes what stands between
 * fields; a line ends with CSV_END. */
#pragma once

#include <stdio.h>

#define CSV_END "\r\n"

/* In quotes, quotes doubled. A text that a spreadsheet would take for a formula (it begins with = + - @, a
 * tab or a carriage return) gets an apostrophe before it. What a terminal would obey, and what is no UTF-8,
 * becomes '?'; an end of a line is legal here. */
void csv_text(FILE *out, const char *text);

/* 10 digits; empty for what is not finite. */
void csv_number(FILE *out, double value);
