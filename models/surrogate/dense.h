/* models/surrogate/dense: the few operations on dense matrices that a step of the search spends its time in,
 * in loops that the compiler turns into vector instructions; GSL's own are several times slower.
 *
 * Matrices are row-major; `stride` is the distance between rows in doubles. A positive definite matrix and
 * its factor stand in the upper triangle: K = U' U. The same input gives the same bits on every processor of
 * one architecture. */
#pragma once

#include <stddef.h>

/* c (rows x columns) += sign * a' b, with a inner x rows and b inner x columns; c overlaps neither. */
void dense_add_product(double sign, size_t rows, size_t columns, size_t inner, const double *a,
                       size_t a_stride, const double *b, size_t b_stride, double *c, size_t c_stride);

/* Upper triangle of c (n x n) += sign * a' a, with a inner x n; the rest of c is left alone. */
void dense_add_gram(double sign, size_t n, size_t inner, const double *a, size_t a_stride, double *c,
                    size_t c_stride);

/* Upper Cholesky factor in place; what is below the diagonal is neither read nor written. 0; -EDOM: not
 * positive definite, the upper triangle is lost. */
int dense_factorise(double *u, size_t n, size_t stride);

/* Rows first..last-1 of x (columns wide), of which those before `first` are solved: x = U'^-1 x. */
void dense_solve_rows(const double *u, size_t u_stride, size_t first, size_t last, double *x, size_t columns,
                      size_t x_stride);

/* vector = (U' U)^-1 vector. */
void dense_solve_vector(const double *u, size_t n, size_t stride, double *vector);

/* Upper triangle of ret_inverse (n x n) = (U' U)^-1; scratch has room for n * n. Nothing overlaps. */
void dense_invert(const double *u, size_t n, size_t stride, double *scratch, double *ret_inverse);
