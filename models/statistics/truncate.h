/* models/statistics/truncate: where does the warm-up of a series end?
 *
 * MSER-5 (White, Cobb and Spratt 2000): of all starting points in the first half, in batches of five, the one
 * that minimises the squared standard error of the mean of what is kept. */
#pragma once

#include <stddef.h>

/* 0 and the number of values to leave out (a multiple of 5, at most n/2). -ENODATA when n < 20, or when the
 * best cut is at the end of the allowed half: the series then shows no end of its warm-up. */
int truncate_mser5(const double *values, size_t n, size_t *ret_n_cut);
