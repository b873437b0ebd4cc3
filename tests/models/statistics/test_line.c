/* Tests of models/statistics/line: changes that are known by construction. */
#include "models/statistics/line.h"
#include "models/statistics/student.h"
#include "tests/models/rng.h"

TEST(short_and_empty_series_show_no_change)
{
    double values[40] = {1};
    struct line line = line_of(values, LINE_LEAST - 1);
    assert_true(line.held);
    assert_int_equal(line.start, 0);
    assert_close(line.off, 1 - 1.0 / (LINE_LEAST - 1), 1e-12);
    line = line_of(values + 1, 39);
    assert_true(line.held);
    assert_close(line.off, 0, 0);
    assert_true(line_of(values, 0).held);
}

TEST(a_constant_series_is_a_line)
{
    double values[40];
    for (size_t i = 0; i < 40; i++)
        values[i] = 0.1;
    struct line line = line_of(values, 40);
    assert_true(line.held);
    assert_int_equal(line.start, 0);
    assert_close(line.off, 0, 1e-12);
}

TEST(a_start_ends_where_it_does_and_twice_that_is_left_out)
{
    double values[100];
    for (size_t i = 0; i < 100; i++)
        values[i] = i < 15 ? 10 : 100 + (double)(i % 2);
    struct line line = line_of(values, 100);
    assert_true(line.held);
    assert_int_equal(line.change, 15);
    assert_int_equal(line.start, 30);
    for (size_t i = 0; i < 30; i++)
        values[i] = 10;
    assert_int_equal(line_of(values, 100).start, 50);
}

/* A late drop, a ramp that has just ended, a slope without end. */
TEST(a_change_in_the_second_half_is_no_line)
{
    double drop[100], ramp[100], slope[100];
    for (size_t i = 0; i < 100; i++) {
        drop[i] = i < 80 ? 100 : 50;
        ramp[i] = i < 60 ? (double)i : 60;
        slope[i] = 100 - (double)i / 2;
    }
    assert_false(line_of(drop, 100).held);
    assert_int_equal(line_of(drop, 100).start, 0);
    /* 80 windows of 100 of 90 % of the bytes. */
    assert_close(line_of(drop, 100).off, 80.0 / 90 - 0.8, 1e-12);
    assert_false(line_of(ramp, 100).held);
    assert_false(line_of(slope, 100).held);
}

/* Turns of 20 windows, of which 8 hold all: the sum is ahead by 0.6 x 8 / 20 of a turn, five of which fit. */
TEST(turns_are_far_off_the_line_by_their_share)
{
    double values[100];
    for (size_t i = 0; i < 100; i++)
        values[i] = i % 20 < 8 ? 2.5 : 0;
    assert_close(line_of(values, 100).off, 0.6 / 5, 1e-12);
}

TEST(noise_is_a_line)
{
    size_t n_changed = 0;
    for (unsigned seed = 1; seed <= 1000; seed++) {
        double values[127];
        gsl_rng_set(rng, seed);
        for (size_t i = 0; i < 127; i++)
            values[i] = 1 + gsl_ran_gaussian(rng, 0.2);
        struct line line = line_of(values, 127);
        n_changed += line.start > 0 || !line.held;
    }
    assert_true(n_changed <= 30);
}

/* An oracle keeps 80 % of these. */
TEST(cuts_of_noisy_ramps_waste_little)
{
    double kept = 0, sum = 0;
    for (unsigned seed = 1; seed <= 200; seed++) {
        double values[200];
        gsl_rng_set(rng, seed);
        for (size_t i = 0; i < 200; i++)
            values[i] = (i < 40 ? 0.2 + 0.02 * (double)i : 1) * (1 + gsl_ran_gaussian(rng, 0.05));
        struct line line = line_of(values, 200);
        kept += (double)(200 - line.change) / 200 / 200;
        sum += moments_of(values + line.start, 200 - line.start).mean / 200;
    }
    assert_true(kept > 0.8 / 1.2);
    assert_true(kept < 0.85);
    assert_close(sum, 1, 0.005);
}
