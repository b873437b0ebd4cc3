/* Products, factors and inverses against the definition, in all the sizes around a tile and a block. */
#include "models/surrogate/dense.h"
#include "tests/models/rng.h"

#include <errno.h>

enum { MOST = 70, STRIDE = 77, INNER = 300 };

static const size_t sizes[] = {1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 64, MOST};
enum { N_SIZES = N_OF(sizes) };

static double a[INNER * STRIDE], b[INNER * STRIDE], c[MOST * STRIDE], before[MOST * STRIDE];

static void fill(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = gsl_rng_uniform(rng) - 0.5;
}

static double column_product(const double *left, size_t i, const double *right, size_t j, size_t inner)
{
    double sum = 0.0;

    for (size_t k = 0; k < inner; k++)
        sum += left[k * STRIDE + i] * right[k * STRIDE + j];
    return sum;
}

static void make_operands(void)
{
    fill(a, INNER * STRIDE);
    fill(b, INNER * STRIDE);
    fill(c, MOST * STRIDE);
    memcpy(before, c, sizeof(c));
}

TEST(product_is_the_sum_of_products_and_touches_nothing_else)
{
    for (size_t s = 0; s < N_SIZES * N_SIZES; s++) {
        size_t rows = sizes[s / N_SIZES], columns = sizes[s % N_SIZES], inner = s % 5 == 0 ? INNER : s % 7;

        make_operands();
        dense_add_product(-1.0, rows, columns, inner, a, STRIDE, b, STRIDE, c, STRIDE);
        for (size_t i = 0; i < MOST; i++)
            for (size_t j = 0; j < STRIDE; j++) {
                int inside = i < rows && j < columns;

                assert_close(c[i * STRIDE + j],
                             before[i * STRIDE + j] - (inside ? column_product(a, i, b, j, inner) : 0.0),
                             inside ? 1e-12 : 0.0);
            }
    }
}

TEST(gram_fills_the_upper_triangle_and_touches_nothing_else)
{
    for (size_t s = 0; s < N_SIZES; s++) {
        size_t n = sizes[s], inner = s % 2 ? INNER : 9;

        make_operands();
        dense_add_gram(2.0, n, inner, a, STRIDE, c, STRIDE);
        for (size_t i = 0; i < MOST; i++)
            for (size_t j = 0; j < STRIDE; j++) {
                int inside = i <= j && j < n;

                assert_close(c[i * STRIDE + j],
                             before[i * STRIDE + j] +
                                 (inside ? 2.0 * column_product(a, i, a, j, inner) : 0.0),
                             inside ? 1e-12 : 0.0);
            }
    }
}

/* A positive definite matrix in `before` and `c`, both triangles. */
static void make_definite(size_t n)
{
    fill(a, INNER * STRIDE);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            before[i * STRIDE + j] = column_product(a, i, a, j, MOST + 10) + (i == j ? 0.1 : 0.0);
    memcpy(c, before, sizeof(c));
}

TEST(factor_times_itself_is_the_matrix_and_the_lower_triangle_stays)
{
    for (size_t s = 0; s < N_SIZES; s++) {
        size_t n = sizes[s];

        make_definite(n);
        assert_int_equal(dense_factorise(c, n, STRIDE), 0);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                if (j < i)
                    assert_close(c[i * STRIDE + j], before[i * STRIDE + j], 0.0);
                else
                    assert_close(column_product(c, i, c, j, i + 1), before[i * STRIDE + j], 1e-11);
            }
    }
}

TEST(indefinite_and_endless_matrices_are_edom)
{
    for (size_t s = 0; s < N_SIZES; s++) {
        size_t n = sizes[s];

        make_definite(n);
        c[(n - 1) * STRIDE + n - 1] = -1.0;
        assert_int_equal(dense_factorise(c, n, STRIDE), -EDOM);
        make_definite(n);
        c[(n / 2) * STRIDE + n / 2] = NAN;
        assert_int_equal(dense_factorise(c, n, STRIDE), -EDOM);
        make_definite(n);
        c[(n / 2) * STRIDE + n / 2] = INFINITY;
        assert_int_equal(dense_factorise(c, n, STRIDE), -EDOM);
    }
}

TEST(solved_rows_give_the_right_side_back_whatever_the_parts)
{
    static const size_t widths[] = {1, 6, 40};
    double x[MOST * STRIDE];

    for (size_t s = 0; s < 3 * N_SIZES; s++) {
        size_t n = sizes[s / 3], width = widths[s % 3], part = n / 3 + 1;

        make_definite(n);
        assert_int_equal(dense_factorise(c, n, STRIDE), 0);
        fill(b, INNER * STRIDE);
        memcpy(x, b, sizeof(x));
        for (size_t first = 0; first < n; first += part)
            dense_solve_rows(c, STRIDE, first, first + part < n ? first + part : n, x, width, STRIDE);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < width; j++)
                assert_close(column_product(c, i, x, j, i + 1), b[i * STRIDE + j], 1e-10);
    }
}

TEST(vector_and_inverse_solve_the_matrix)
{
    double inverse[MOST * MOST], scratch[MOST * MOST], vector[MOST];

    for (size_t s = 0; s < N_SIZES; s++) {
        size_t n = sizes[s];

        make_definite(n);
        assert_int_equal(dense_factorise(c, n, STRIDE), 0);
        fill(b, n);
        memcpy(vector, b, n * sizeof(*vector));
        dense_solve_vector(c, n, STRIDE, vector);
        dense_invert(c, n, STRIDE, scratch, inverse);
        for (size_t i = 0; i < n; i++) {
            double right = 0.0, solved = 0.0;

            for (size_t j = 0; j < n; j++) {
                right += before[i * STRIDE + j] * vector[j];
                solved += inverse[(i < j ? i : j) * n + (i < j ? j : i)] * b[j];
            }
            assert_close(right, b[i], 1e-9);
            assert_close(solved, vector[i], 1e-9);
        }
    }
}
