/* The covariance function against values worked out by hand. */
#include "models/surrogate/kernel.h"
#include "tests/test.h"

static const double raw[] = {0, 0, 1, 0, 2, 0, 0, 1, 1, 2};
static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_CATEGORY};
static struct space space;

FIXTURE(setup)
{
    return space_init(&space, raw, 5, 2, kinds);
}

FIXTURE(teardown)
{
    space_done(&space);
    return 0;
}

GROUP(setup, teardown);

static struct kernel kernel_with(double length, double theta, double signal, double roughness)
{
    const double logs[] = {log(length), log(theta), log(signal), log(roughness)};
    struct kernel kernel;

    kernel_from_logs(&kernel, &space, false, logs);
    return kernel;
}

static double smooth(const struct kernel *kernel, size_t a, size_t b)
{
    return kernel_between(kernel, space_row(&space, a), space_row(&space, b)) - kernel->offset;
}

TEST(covariance_of_a_point_with_itself_is_the_signal)
{
    struct kernel kernel = kernel_with(0.5, 1.0, 2.5, 0.1);

    for (size_t i = 0; i < space.n_points; i++)
        assert_close(smooth(&kernel, i, i), 2.5, 1e-12);
    assert_close(kernel.roughness, 0.1, 1e-12);
    assert_close(kernel.offset, KERNEL_OFFSET, 0.0);
}

TEST(one_length_apart_gives_the_matern_value_at_one)
{
    struct kernel kernel = kernel_with(0.5, 1.0, 1.0, 0.1);

    assert_close(smooth(&kernel, 0, 1), 0.52399411, 1e-8); /* (1 + 2.236068 + 1.666667) exp(-2.236068) */
    assert_close(smooth(&kernel, 0, 2), 0.13866022, 1e-8); /* r = 2 */
}

TEST(another_level_costs_its_theta_once)
{
    struct kernel kernel = kernel_with(0.5, 0.7, 1.0, 0.1);

    assert_close(smooth(&kernel, 0, 3), exp(-0.7), 1e-12);
    /* Level 2 is no farther than level 1: categories have no order. */
    assert_close(smooth(&kernel, 1, 4), exp(-0.7), 1e-12);
    assert_close(smooth(&kernel, 0, 4), 0.52399411 * exp(-0.7), 1e-8);
}

TEST(covariance_is_symmetric)
{
    struct kernel kernel = kernel_with(0.3, 0.2, 1.3, 0.1);

    for (size_t i = 0; i < space.n_points; i++)
        for (size_t j = 0; j < i; j++)
            assert_close(smooth(&kernel, i, j), smooth(&kernel, j, i), 0.0);
}

TEST(slope_is_minus_twice_the_derivative_by_squared_distance)
{
    struct kernel kernel = kernel_with(0.3, 0.2, 1.3, 0.1);
    const double step = 1e-6;

    for (double r2 = 0.05; r2 < 9.0; r2 *= 2.0) {
        double slope;
        double by_difference =
            (kernel_at(&kernel, r2 + step, 0.4, NULL) - kernel_at(&kernel, r2 - step, 0.4, NULL)) /
            (2.0 * step);

        kernel_at(&kernel, r2, 0.4, &slope);
        assert_close(slope, -2.0 * by_difference, 1e-8);
    }
}

TEST(every_log_has_a_proper_prior)
{
    assert_int_equal(kernel_n_logs(&space), 4);
    for (size_t i = 0; i < kernel_n_logs(&space); i++) {
        assert_true(isfinite(kernel_prior_of(&space, i).mean));
        assert_true(kernel_prior_of(&space, i).std > 0.0);
    }
}
