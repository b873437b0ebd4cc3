/* tuner/base/json: pieces of JSON that several commands print. Every one is a new reference, NULL when memory
 * ran out. NaN and infinite numbers become null. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/factors.h"
#include "bench/base/pattern.h"
#include "tuner/base/notes.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

json_t *json_number(double value);
json_t *json_numbers(const double *values, size_t n);        /* an array of them */
json_t *json_interval(double mean, double low, double high); /* {"mean", "ci_low", "ci_high"} */
json_t *json_text(const char *text);                         /* what is not UTF-8 becomes '?' */
json_t *json_pattern(const struct pattern *pattern);
json_t *json_point(const struct point *point);

/* A member of a document: NaN where it is no number; `missing` where it is no text, which is borrowed. */
double json_read_number(const json_t *object, const char *key);
const char *json_read_text(const json_t *object, const char *key, const char *missing);

/* The warnings: code, text and whether points are disqualified by it. */
json_t *json_warnings(const struct notes *notes);
json_t *json_notes(const struct notes *notes, const char *code_key, const char *text_key);

/* Prints the document and a newline, and releases it. 0, -ENOMEM for NULL, or the errno of a failed write. */
int json_print(FILE *out, json_t *document, struct err *err);
/* The same on one line, for documents of a million numbers. */
int json_print_line(FILE *out, json_t *document, struct err *err);

/* Whether one of them has written to standard output, be it in vain. */
bool json_was_printed(void);

/* A document from a file; NULL with one line in err where it cannot be read or is no JSON. Owned by the
 * caller. */
json_t *json_read_file(const char *path, struct err *err);
