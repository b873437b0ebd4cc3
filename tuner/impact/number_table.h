/* tuner/impact/number_table: tables of numbers as CSV, read exactly or refused with the line. */
#pragma once

#include "bench/base/err.h"

#include <stddef.h>

#define NUMBER_TABLE_MAX_BYTES (64U << 20)
#define NUMBER_TABLE_MAX_NAME  64

struct number_table {
    double *values; /* [n_rows * n_columns], row by row */
    size_t n_rows, n_columns;
    char (*names)[NUMBER_TABLE_MAX_NAME]; /* of the columns; NULL: the file has no header */
    size_t *lines;                        /* [n_rows] of the file, for messages */
};

/* Reads the file, "-" for standard input: numbers with commas between them, as many in every line; a first
 * line of words is the header. Empty lines and lines that begin with # are left out. 0; -EINVAL with file and
 * line; other negative errno. */
int number_table_read(const char *path, struct number_table *ret, struct err *err);

/* Accepts a zeroed table. */
void number_table_free(struct number_table *table);
