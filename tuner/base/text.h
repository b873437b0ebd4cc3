/* tuner/base/text: lines of text that several commands print. */
#pragma once

#include "bench/base/err.h"
#include "tuner/base/notes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The text with '?' for control characters: names of files may hold any byte, and a terminal obeys some.
 * Returns buffer; what does not fit is cut. */
const char *text_printable(const char *text, char *buffer, size_t size);

/* The next line, without its end. 0; -ENODATA: the input ends before it; -EMSGSIZE: it does not fit, or holds
 * a 0; -EIO. */
int text_line(FILE *in, char *line, size_t size);

/* "1.21 GB/s" for a rate that may be NaN ("-"). */
const char *text_short_rate(double bps, char *buffer);

/* "71.3 us", "-1.2 ms" for a difference, "-" for NaN. */
const char *text_short_duration(double ns, char *buffer);

/* The notes, one per line, wrapped nowhere: "  - text". */
void text_notes(FILE *out, const char *title, const struct notes *notes, bool with_code);

/* Flushes, so that a failed write is not lost silently. 0 or the errno of the failed write. */
int text_finish(FILE *out, struct err *err);
