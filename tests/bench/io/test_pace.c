/* Tests of bench/io/pace: when requests are due, and what those that come too late count. */
#include "bench/io/pace.h"
#include "tests/test.h"

#define START 5000000ULL

TEST(lanes_take_turns_at_equal_distances)
{
    struct pace pace[2];
    for (uint32_t lane = 0; lane < 2; lane++)
        pace_init(&pace[lane], 1000, lane, 2, START);
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(pace_due_ns(&pace[i % 2]), START + i * 1000000);
        pace_step(&pace[i % 2]);
    }
}

/* An interval in whole nanoseconds would be 0.05 % too short, and late by half a millisecond here. */
TEST(a_rate_is_kept_over_a_long_time)
{
    struct pace pace;
    pace_init(&pace, 700001, 0, 1, 0);
    for (uint32_t i = 0; i < 700001; i++)
        pace_step(&pace);
    assert_in_range(pace_due_ns(&pace), CLOCK_NS_PER_S - 10, CLOCK_NS_PER_S + 10);
}

TEST(no_rate_is_no_pace)
{
    struct pace pace;
    struct histogram latency;
    histogram_init(&latency);
    pace_init(&pace, 0, 0, 1, START);
    assert_false(pace_is_on(&pace));
    pace_step(&pace);
    assert_int_equal(pace_due_ns(&pace), START);
    pace_count_late(&pace, START + CLOCK_NS_PER_S, 1, &latency);
    assert_int_equal(latency.n, 0);
}

/* Distances of a Poisson process: mean and standard deviation are both the interval, and none is negative. */
TEST(random_distances_are_exponential)
{
    struct pace pace;
    double sum = 0, squares = 0, n = 200000, beyond = 0;
    pace_init(&pace, 1e5, 0, 1, 0);
    pace_randomise(&pace, 42);
    double before = pace.next_ns;
    for (int i = 0; i < (int)n; i++) {
        pace_step(&pace);
        double distance = (pace.next_ns - before) / 1e4;
        before = pace.next_ns;
        assert_true(distance >= 0);
        sum += distance;
        squares += distance * distance;
        beyond += distance > 2;
    }
    assert_close(sum / n, 1, 0.01);
    assert_close(sqrt(squares / n - 1), 1, 0.02);
    assert_close(beyond / n, exp(-2), 0.003);
}

TEST(what_was_due_and_has_not_begun_counts_as_late)
{
    struct pace pace;
    struct histogram latency;
    double mean_ns;
    histogram_init(&latency);
    pace_init(&pace, 1000, 0, 1, START);
    pace_count_late(&pace, START + 10 * 1000000 + 1, 1, &latency);
    assert_int_equal(latency.n, 11);
    assert_int_equal(latency.max_ns, 10 * 1000000 + 1);
    assert_int_equal(histogram_mean_ns(&latency, &mean_ns), 0);
    assert_close(mean_ns, 5e6, 1);
    pace_count_late(&pace, START, 1, &latency);
    assert_int_equal(latency.n, 11);
}

TEST(very_many_late_ones_are_all_counted)
{
    struct pace pace;
    struct histogram latency;
    double mean_ns;
    histogram_init(&latency);
    pace_init(&pace, 1e9, 0, 1, 0);
    pace_count_late(&pace, 10000000, 2, &latency);
    assert_int_equal(latency.n, 20000000);
    assert_int_equal(histogram_mean_ns(&latency, &mean_ns), 0);
    assert_close(mean_ns, 5e6, 1e4);
}
