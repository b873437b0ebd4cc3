/* models/impact/non_negative: least squares, no coefficient below 0 (Lawson and Hanson 1974, chapter 23). */
#pragma once

#include <stddef.h>

/* Minimises |A x - b| over x >= 0. a: [n * k], row by row. 0; -ENOMEM; -EDOM: it does not come to an end. */
int non_negative_fit(const double *a, const double *b, size_t n, size_t k, double *ret_x);
