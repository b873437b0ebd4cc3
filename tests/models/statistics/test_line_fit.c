/* Tests of models/statistics/line_fit: made-up costs with a known line, scatter and outliers. */
#include "models/statistics/line_fit.h"
#include "tests/test.h"

#include <errno.h>

#define N 40

static double x[N], y[N];

/* Scatter of a fixed pattern whose mean is 0 in every group of four. */
static void fill(double intercept, double slope, double scatter)
{
    static const double pattern[] = {-1, 1, 0.5, -0.5};
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)(1 << (i / 4));
        y[i] = (intercept + slope * x[i]) * (1 + scatter * pattern[i % 4]);
    }
}

TEST(an_exact_line_is_found)
{
    struct line_fit fit;
    fill(3e-5, 2e-9, 0);
    assert_int_equal(line_fit(x, y, N, &fit), 0);
    assert_close(fit.intercept / 3e-5, 1, 1e-9);
    assert_close(fit.slope / 2e-9, 1, 1e-6);
    assert_close(fit.residual_share, 0, 1e-9);
    assert_int_equal(fit.n, N);
}

/* An unweighted line would be ruled by the large costs: its intercept would be off by their scatter. */
TEST(large_costs_do_not_rule_the_intercept)
{
    struct line_fit fit;
    fill(1, 1, 0.05);
    y[N - 1] *= 1.1;
    assert_int_equal(line_fit(x, y, N, &fit), 0);
    assert_false(fit.robust);
    assert_close(fit.intercept, 1, 0.1);
    assert_close(fit.slope, 1, 0.03);
    assert_true(fit.residual_share > 0.03 && fit.residual_share < 0.08);
    assert_true(fit.slope_error > 0 && fit.slope_error < 0.05);
}

TEST(heavy_outliers_hardly_move_the_line)
{
    struct line_fit fit;
    fill(1, 1, 0.01);
    y[3] *= 20;
    y[33] *= 10;
    assert_int_equal(line_fit(x, y, N, &fit), 0);
    assert_true(fit.robust);
    assert_int_equal(fit.n_outliers, 2);
    assert_close(fit.intercept, 1, 0.05);
    assert_close(fit.slope, 1, 0.02);
    assert_true(fit.residual_share > 0.5);
}

TEST(a_line_below_zero_at_the_origin_is_allowed)
{
    struct line_fit fit;
    fill(-0.5, 1, 0);
    assert_int_equal(line_fit(x, y, N, &fit), 0);
    assert_close(fit.intercept, -0.5, 1e-9);
}

TEST(what_is_no_sample_is_refused)
{
    struct line_fit fit = {.n = 7};
    fill(1, 1, 0);
    assert_int_equal(line_fit(x, y, 2, &fit), -EINVAL);
    assert_int_equal(line_fit(x, y, 4, &fit), -EINVAL); /* one size only */
    y[5] = 0;
    assert_int_equal(line_fit(x, y, N, &fit), -EINVAL);
    y[5] = NAN;
    assert_int_equal(line_fit(x, y, N, &fit), -EINVAL);
    assert_int_equal(fit.n, 7);
}
