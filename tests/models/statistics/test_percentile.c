/* Tests of models/statistics/percentile. */
#include "models/statistics/percentile.h"
#include "tests/test.h"

static void assert_ranks(double share, double n, double low, double high)
{
    struct percentile_bounds bounds = percentile_bounds_of(share, n, 1, 0.95);
    assert_close(bounds.low_share * n, low, 1e-6);
    assert_close(bounds.high_share * n, high, 1e-6);
}

static int has_none(struct percentile_bounds bounds)
{
    return isnan(bounds.low_share) && isnan(bounds.high_share);
}

TEST(ranks_of_the_median_match_the_published_table)
{
    /* Conover, Practical Nonparametric Statistics: the ranks of the sign test at 95 %. */
    assert_ranks(0.5, 6, 1, 6);
    assert_ranks(0.5, 10, 2, 9);
    assert_ranks(0.5, 20, 6, 15);
    assert_ranks(0.5, 100, 40, 61);
}

TEST(too_few_values_bound_nothing)
{
    /* 0.99^368 = 0.02477, 0.99^367 = 0.02502; likewise 0.999^3688 and 0.5^6. */
    assert_true(has_none(percentile_bounds_of(0.99, 367, 1, 0.95)));
    assert_close(percentile_bounds_of(0.99, 368, 1, 0.95).high_share, 1, 0);
    assert_true(has_none(percentile_bounds_of(0.999, 3687, 1, 0.95)));
    assert_close(percentile_bounds_of(0.999, 3688, 1, 0.95).high_share, 1, 0);
    assert_true(has_none(percentile_bounds_of(0.5, 5, 1, 0.95)));
    assert_true(has_none(percentile_bounds_of(0.01, 367, 1, 0.95)));
}

TEST(a_design_effect_divides_the_sample)
{
    struct percentile_bounds plain = percentile_bounds_of(0.99, 1000, 1, 0.95);
    struct percentile_bounds worth = percentile_bounds_of(0.99, 7000, 7, 0.95);
    assert_close(plain.low_share, worth.low_share, 0);
    assert_close(plain.high_share, worth.high_share, 0);
    assert_true(has_none(percentile_bounds_of(0.99, 1000, 2.8, 0.95)));
}

TEST(large_samples_continue_the_small_ones)
{
    static const double shares[] = {0.5, 0.99, 0.999};
    for (size_t i = 0; i < 3; i++) {
        /* The ranks are taken from another distribution beyond this size. */
        double n = 1000 / (shares[i] * (1 - shares[i]));
        struct percentile_bounds below = percentile_bounds_of(shares[i], n * 0.999, 1, 0.95);
        struct percentile_bounds above = percentile_bounds_of(shares[i], n * 1.001, 1, 0.95);
        double width = below.high_share - below.low_share;
        assert_close(above.low_share, below.low_share, 0.03 * width);
        assert_close(above.high_share, below.high_share, 0.03 * width);
    }
}

TEST(bounds_enclose_the_percentile_at_every_size)
{
    double last = 2;
    for (double n = 400; n < 1e12; n *= 7) {
        struct percentile_bounds bounds = percentile_bounds_of(0.99, n, 1, 0.95);
        assert_true(bounds.low_share <= 0.99 && bounds.high_share >= 0.99 && bounds.high_share <= 1);
        assert_true(bounds.high_share - bounds.low_share < last);
        last = bounds.high_share - bounds.low_share;
    }
}

TEST(arguments_outside_their_range_bound_nothing)
{
    assert_true(has_none(percentile_bounds_of(0, 1000, 1, 0.95)));
    assert_true(has_none(percentile_bounds_of(1, 1000, 1, 0.95)));
    assert_true(has_none(percentile_bounds_of(0.5, 0, 1, 0.95)));
    assert_true(has_none(percentile_bounds_of(0.5, 1000, 0.5, 0.95)));
    assert_true(has_none(percentile_bounds_of(0.5, 1000, 1, 1)));
    assert_true(has_none(percentile_bounds_of(0.5, NAN, 1, 0.95)));
}

TEST(runs_that_agree_have_no_design_effect)
{
    static const double beyond[] = {10, 10, 10}, n[] = {1000, 1000, 1000}, none[] = {0, 0, 0};
    assert_close(percentile_design_effect(beyond, n, 3, 0.95), 1, 0);
    assert_close(percentile_design_effect(none, n, 3, 0.95), 1, 0);
    assert_close(percentile_design_effect(beyond, n, 1, 0.95), 1, 0);
    assert_close(percentile_design_effect(beyond, n, 0, 0.95), 1, 0);
}

TEST(the_effect_is_the_variance_between_runs)
{
    /* Share 0.01; residuals -10, 0, 10; 3/2 x 200 / (3000 x 0.0099), times (4.30265 / 1.95996)^2. */
    static const double beyond[] = {0, 10, 20}, n[] = {1000, 1000, 1000};
    assert_close(percentile_design_effect(beyond, n, 3, 0.95), 10.10101 * 4.819216, 1e-4);
}

TEST(runs_of_unequal_length_weigh_by_it)
{
    static const double beyond[] = {1, 10, 100}, n[] = {100, 1000, 10000};
    assert_close(percentile_design_effect(beyond, n, 3, 0.95), 1, 0);
}
