/* Tests of models/statistics/skew. */
#include "models/statistics/skew.h"
#include "tests/test.h"

static const double leaning[] = {1, 1, 2, 2, 3, 12}; /* std / mean far above the limit, skewed upwards */
#define N_LEANING (sizeof leaning / sizeof leaning[0])

TEST(skewness_matches_values_worked_by_hand)
{
    /* Of 0, 0, 3: deviations -1, -1, 2; squares 6 / 3; cubes 6 / 3; 2 / 2^1.5. */
    static const double values[] = {0, 0, 3}, mirrored[] = {0, 0, -3}, even[] = {1, 2, 3};
    assert_close(skew_of(values, 3), 0.70710678118654752, 1e-14);
    assert_close(skew_of(mirrored, 3), -0.70710678118654752, 1e-14);
    assert_close(skew_of(even, 3), 0, 1e-15);
}

TEST(skewness_of_two_or_of_equal_values_is_0)
{
    static const double values[] = {5, 5, 5, 5}, two[] = {1, 9};
    assert_close(skew_of(values, 4), 0, 0);
    assert_close(skew_of(two, 2), 0, 0);
}

TEST(without_skewness_the_bounds_are_symmetric)
{
    struct interval interval = skew_shift(10, 2, 2.5, 0, 9);
    assert_close(interval.low, 5, 1e-12);
    assert_close(interval.high, 15, 1e-12);
}

TEST(the_shift_solves_the_cubic_of_hall)
{
    /* Inverse of G: with r = (mean - bound) / error, t = r + 2 a r^2 + 4/3 a^2 r^3 + a. */
    double skewness = 1.2, a = skewness / (6 * sqrt(16.0));
    struct interval interval = skew_shift(0, 1, 2.0, skewness, 16);
    double r_low = -interval.low, r_high = -interval.high;
    assert_close(r_low + 2 * a * r_low * r_low + 4.0 / 3 * a * a * pow(r_low, 3) + a, 2, 1e-12);
    assert_close(r_high + 2 * a * r_high * r_high + 4.0 / 3 * a * a * pow(r_high, 3) + a, -2, 1e-12);
    assert_true(interval.high > 2 && interval.low > -2);
}

TEST(a_mirrored_sample_has_the_mirrored_interval)
{
    struct interval right = skew_shift(3, 1, 2.2, 0.9, 12), left = skew_shift(-3, 1, 2.2, -0.9, 12);
    assert_close(left.low, -right.high, 1e-12);
    assert_close(left.high, -right.low, 1e-12);
}

TEST(little_spread_leaves_students_interval)
{
    static const double values[] = {100, 101, 99, 130};
    bool corrected = true;
    struct interval interval = skew_interval(values, 4, 0.95, &corrected);
    struct interval plain = student_interval(moments_of(values, 4), 0.95);
    assert_false(corrected);
    assert_close(interval.low, plain.low, 0);
    assert_close(interval.high, plain.high, 0);
}

TEST(the_interval_grows_on_the_side_of_the_skew)
{
    static const double slow_ones[] = {12, 12, 11, 11, 10, 1};
    bool corrected = false;
    struct interval plain = student_interval(moments_of(leaning, N_LEANING), 0.5);
    struct interval interval = skew_interval(leaning, N_LEANING, 0.5, &corrected);
    assert_true(corrected);
    assert_true(interval.high > 1.1 * plain.high);
    assert_close(interval.low, plain.low, 1e-12);
    plain = student_interval(moments_of(slow_ones, 6), 0.95);
    interval = skew_interval(slow_ones, 6, 0.95, NULL);
    assert_true(interval.low < plain.low);
    assert_close(interval.high, plain.high, 1e-12);
}

TEST(a_corrected_interval_does_not_reach_below_0)
{
    assert_true(student_interval(moments_of(leaning, N_LEANING), 0.95).low < 0);
    assert_close(skew_interval(leaning, N_LEANING, 0.95, NULL).low, 0, 0);
}

TEST(every_interval_is_finite_and_contains_the_mean)
{
    for (size_t n = 3; n <= 40; n++) {
        double values[40];
        for (size_t i = 0; i < n; i++)
            values[i] = i + 1 == n ? 1e6 : 1; /* no sample of n leans more */
        for (double confidence = 0.5; confidence < 0.9999; confidence += 0.07) {
            struct interval interval = skew_interval(values, n, confidence, NULL);
            double mean = moments_of(values, n).mean;
            assert_true(isfinite(interval.low) && isfinite(interval.high));
            assert_true(interval.low <= mean && interval.high >= mean);
        }
    }
}

TEST(two_values_have_no_interval)
{
    bool corrected = true;
    assert_true(isnan(skew_interval(leaning + 4, 2, 0.95, &corrected).low));
    assert_false(corrected);
}
