/* Regressions find what made their rows, are not moved by outliers where robust, and refuse what says
 * nothing. */
#include "models/impact/non_negative.h"
#include "models/impact/regression.h"
#include "tests/models/rng.h"

#include <errno.h>

#define N_ROWS 24

static double metrics[N_ROWS * 2], targets[N_ROWS];
static struct regression regression;
static size_t collinear;

/* Two unrelated metrics; target = 3 + 2 a - b + noise. */
static void make_rows(double noise)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        metrics[2 * i] = (double)i;
        metrics[2 * i + 1] = (double)((i * 7) % 11);
        targets[i] = 3 + 2 * metrics[2 * i] - metrics[2 * i + 1] + noise * (i % 2 == 0 ? 1 : -1);
    }
}

static int fit(enum regression_method method)
{
    const struct regression_rows rows = {metrics, targets, N_ROWS, 2};
    return regression_fit(&rows, method, 0.95, &regression, &collinear);
}

TEST(least_squares_find_the_coefficients_and_their_intervals)
{
    make_rows(0.5);
    assert_int_equal(fit(REGRESSION_LEAST_SQUARES), 0);
    static const double expected[] = {3, 2, -1};
    for (size_t j = 0; j < 3; j++) {
        assert_true(regression.interval[j].low < expected[j] && expected[j] < regression.interval[j].high);
        assert_close(regression.coefficient[j], expected[j], 0.5);
    }
    assert_true(regression.r_squared > 0.99);
    assert_true(regression.left_out_error < 0.1);
    const double metric[] = {10, 5};
    const struct regression_prediction prediction = regression_predict(&regression, metric, 0.95);
    assert_close(prediction.value, 18, 0.5);
    assert_true(prediction.interval.low < 18 && prediction.interval.high > 18);
    assert_false(prediction.extrapolates);
}

TEST(an_outlier_moves_least_squares_and_not_the_robust_fit)
{
    make_rows(0.1);
    targets[3] = 500;
    assert_int_equal(fit(REGRESSION_LEAST_SQUARES), 0);
    assert_true(fabs(regression.coefficient[1] - 2) > 0.2);
    assert_int_equal(fit(REGRESSION_ROBUST), 0);
    assert_close(regression.coefficient[1], 2, 0.05);
    assert_close(regression.coefficient[2], -1, 0.05);
}

TEST(what_was_left_out_is_mispredicted_more_than_what_was_fitted)
{
    make_rows(0.5);
    assert_int_equal(fit(REGRESSION_LEAST_SQUARES), 0);
    double fitted[N_ROWS];
    for (size_t i = 0; i < N_ROWS; i++)
        fitted[i] = fabs(regression_predict(&regression, metrics + 2 * i, 0.95).value / targets[i] - 1);
    assert_true(regression.left_out_error > median_of(fitted, N_ROWS));
}

TEST(a_metric_that_the_others_tell_is_refused_by_name)
{
    make_rows(0.1);
    for (size_t i = 0; i < N_ROWS; i++)
        metrics[2 * i + 1] = 5 - 3 * metrics[2 * i];
    assert_int_equal(fit(REGRESSION_LEAST_SQUARES), -EDOM);
    for (size_t i = 0; i < N_ROWS; i++)
        metrics[2 * i + 1] = 1e9;
    assert_int_equal(fit(REGRESSION_ROBUST), -EDOM);
    assert_int_equal(collinear, 1);
}

TEST(metrics_of_very_unlike_sizes_are_not_collinear)
{
    make_rows(0.1);
    for (size_t i = 0; i < N_ROWS; i++)
        metrics[2 * i + 1] *= 1e12;
    assert_int_equal(fit(REGRESSION_LEAST_SQUARES), 0);
    assert_close(regression.coefficient[2] * 1e12, -1, 0.1);
}

TEST(too_few_rows_are_refused)
{
    const struct regression_rows rows = {metrics, targets, 4, 2};
    make_rows(0);
    assert_int_equal(regression_fit(&rows, REGRESSION_LEAST_SQUARES, 0.95, &regression, &collinear), -EINVAL);
}

TEST(a_program_beyond_the_training_is_told)
{
    const double beyond[] = {10, 99};
    make_rows(0.1);
    assert_int_equal(fit(REGRESSION_LEAST_SQUARES), 0);
    const struct regression_prediction prediction = regression_predict(&regression, beyond, 0.95);
    assert_true(prediction.extrapolates);
    assert_int_equal(prediction.beyond, 1);
}

TEST(no_coefficient_of_a_non_negative_fit_is_below_0)
{
    make_rows(0.1);
    assert_int_equal(fit(REGRESSION_NON_NEGATIVE), 0);
    assert_close(regression.coefficient[0], 0, 0);
    assert_true(regression.coefficient[1] > 0);
    assert_close(regression.coefficient[2], 0, 0);
    assert_true(isnan(regression.interval[1].low));
}

/* At the minimum no coefficient can be raised with profit, and those above 0 not be lowered either (Karush,
 * Kuhn and Tucker). */
TEST(a_non_negative_fit_is_the_best_there_is)
{
    enum { N = 30, K = 6 };
    double a[N * K], b[N], x[K];
    gsl_rng_set(rng, 1);
    for (int trial = 0; trial < 50; trial++) {
        for (size_t i = 0; i < N * K; i++)
            a[i] = gsl_ran_gaussian(rng, 1);
        for (size_t i = 0; i < N; i++)
            b[i] = gsl_ran_gaussian(rng, 1);
        assert_int_equal(non_negative_fit(a, b, N, K, x), 0);
        for (size_t j = 0; j < K; j++) {
            double gradient = 0;
            for (size_t i = 0; i < N; i++) {
                double rest = b[i];
                for (size_t m = 0; m < K; m++)
                    rest -= a[i * K + m] * x[m];
                gradient += a[i * K + j] * rest;
            }
            assert_true(x[j] >= 0);
            assert_true(gradient < 1e-9);
            if (x[j] > 0)
                assert_close(gradient, 0, 1e-9);
        }
    }
}
