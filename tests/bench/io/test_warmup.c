/* Tests of bench/io/warmup: sums over batches, and the edge between warm and not warm. The original program's
 * own test table is in test_pump.c. */
#include "bench/io/warmup.h"
#include "tests/test.h"

#include <errno.h>

TEST(std_divides_by_n_minus_1)
{
    struct batch_stats stats;
    batch_stats_init(&stats);
    assert_close(batch_stats_std_ns(&stats), 0, 0);
    batch_stats_add(&stats, 2);
    assert_close(batch_stats_std_ns(&stats), 0, 0);
    batch_stats_add(&stats, 4);
    assert_close(batch_stats_std_ns(&stats), sqrt(2), 1e-15);
    assert_close(stats.min_ns, 2, 0);
    assert_close(stats.max_ns, 4, 0);
}

TEST(small_spread_on_a_large_mean_is_not_lost)
{
    struct batch_stats stats;
    batch_stats_init(&stats);
    for (int i = 0; i < 1000; i++)
        batch_stats_add(&stats, 1e12 + (i % 2 ? 1 : -1));
    assert_close(batch_stats_std_ns(&stats), sqrt(1000.0 / 999), 1e-3);
}

TEST(settings_out_of_range_are_einval)
{
    struct warmup warmup;
    assert_int_equal(warmup_init(&warmup, 0.0, 8), -EINVAL);
    assert_int_equal(warmup_init(&warmup, -0.1, 8), -EINVAL);
    assert_int_equal(warmup_init(&warmup, NAN, 8), -EINVAL);
    assert_int_equal(warmup_init(&warmup, 0.15, 1), -EINVAL);
    assert_int_equal(warmup_init(&warmup, 0.15, WARMUP_WINDOW_MAX + 1), -EINVAL);
    assert_int_equal(warmup_init(&warmup, 0.15, 2), 0);
    assert_int_equal(warmup_init(&warmup, 0.15, WARMUP_WINDOW_MAX), 0);
}

TEST(constant_latency_is_warm_when_the_window_is_full)
{
    struct warmup warmup;
    assert_int_equal(warmup_init(&warmup, 0.15, 8), 0);
    for (int i = 0; i < 7; i++)
        assert_false(warmup_add(&warmup, 100));
    assert_true(warmup_add(&warmup, 100));
    assert_true(warmup_add(&warmup, 100));
}

TEST(a_slow_start_must_leave_the_window)
{
    struct warmup warmup;
    assert_int_equal(warmup_init(&warmup, 0.15, 4), 0);
    assert_false(warmup_add(&warmup, 1e12));
    for (int i = 0; i < 3; i++)
        assert_false(warmup_add(&warmup, 100));
    /* 1e12 would leave an error of 1e-4 relative to it in a running sum, far more than 100. */
    assert_true(warmup_add(&warmup, 100));
}

TEST(the_threshold_is_std_over_mean)
{
    /* {90, 110}: mean 100, std sqrt(200) = 14.14. */
    struct warmup warmup;
    assert_int_equal(warmup_init(&warmup, 0.1415, 2), 0);
    warmup_add(&warmup, 90);
    assert_true(warmup_add(&warmup, 110));
    assert_int_equal(warmup_init(&warmup, 0.1414, 2), 0);
    warmup_add(&warmup, 90);
    assert_false(warmup_add(&warmup, 110));
}

TEST(steady_growth_is_never_warm)
{
    struct warmup warmup;
    assert_int_equal(warmup_init(&warmup, WARMUP_COEF_DEFAULT, WARMUP_WINDOW_DEFAULT), 0);
    double latency = 1;
    for (int i = 0; i < 500; i++, latency *= 1.1)
        assert_false(warmup_add(&warmup, latency));
}

TEST(a_broken_latency_is_not_warm)
{
    struct warmup warmup;
    assert_int_equal(warmup_init(&warmup, 0.15, 2), 0);
    warmup_add(&warmup, 100);
    assert_false(warmup_add(&warmup, NAN));
    assert_false(warmup_add(&warmup, 100));
    assert_true(warmup_add(&warmup, 100));
}
