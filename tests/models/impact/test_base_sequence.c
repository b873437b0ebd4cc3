/* PCost gives the figures of the paper's tables, and 0 where nothing was delayed. */
#include "models/impact/base_sequence.h"
#include "tests/test.h"

#include <errno.h>

#define N_TIMES 7

static const double base[N_TIMES] = {0, 3, 16, 56, 61, 70, 155};

static double cost_beside(const double delayed[N_TIMES])
{
    return base_sequence_cost(base, delayed, N_TIMES);
}

/* Table 4; the paper prints 10, 13, 55 and 58 %. */
TEST(compiling_costs_what_the_paper_prints)
{
    static const double delayed[][N_TIMES] = {{0, 3, 19, 59, 64, 73, 158},
                                              {0, 3, 20, 60, 65, 74, 159},
                                              {0, 4, 21, 73, 78, 87, 200},
                                              {0, 4, 21, 72, 77, 87, 198}};
    static const double costs[] = {0.103, 0.133, 0.548, 0.582};
    for (size_t i = 0; i < N_OF(costs); i++)
        assert_close(cost_beside(delayed[i]), costs[i], 0.0005);
}

/* Table 2; the paper draws these without figures, so they are calculated by hand from its formula. */
TEST(capturing_packets_costs_more_with_every_load)
{
    static const double delayed[][N_TIMES] = {{0, 3, 16, 57, 62, 72, 156},
                                              {0, 3, 18, 60, 65, 76, 166},
                                              {0, 3, 18, 60, 66, 77, 168},
                                              {0, 4, 18, 62, 68, 79, 174},
                                              {0, 4, 20, 67, 73, 85, 183}};
    double last = 0;
    for (size_t i = 0; i < N_OF(delayed); i++) {
        const double cost = cost_beside(delayed[i]);
        assert_true(cost > last);
        last = cost;
    }
    assert_close(cost_beside(delayed[0]), 1 / 81.0 + 1 / 19.0 - 1 / 169.0, 1e-12);
    assert_close(cost_beside(delayed[3]), 1 / 7.0 + 1 / 27.0 + 4 / 84.0 + 1 / 11.0 + 2 / 20.0 + 10 / 180.0,
                 1e-12);
}

TEST(sequences_that_are_equal_cost_nothing)
{
    assert_close(cost_beside(base), 0, 0);
}

/* A third as fast: each of two intervals takes three times as long. */
TEST(rates_cost_what_intervals_of_their_mean_length_do)
{
    static const double alone[] = {0, 1, 2}, beside[] = {0, 3, 6};
    assert_close(base_sequence_cost_of_rates(1, 1 / 3.0, 3), base_sequence_cost(alone, beside, 3), 1e-12);
    assert_close(base_sequence_cost_of_rates(5, 5, 7), 0, 1e-12);
    assert_close(base_sequence_cost_of_rates(5, 0, 7), 6, 1e-12);
    assert_close(base_sequence_cost_of_rates(0, 0, 7), 0, 0);
}

TEST(an_interval_of_no_length_in_both_adds_nothing)
{
    static const double times[] = {0, 1, 1, 2};
    assert_close(base_sequence_cost(times, times, N_OF(times)), 0, 0);
}

TEST(sequences_that_run_backwards_or_are_too_short_are_refused_with_their_place)
{
    static const double backwards[] = {0, 2, 1}, endless[] = {0, INFINITY}, lonely[] = {0};
    size_t at = 99;
    assert_int_equal(base_sequence_check(backwards, 3, &at), -EINVAL);
    assert_int_equal(at, 2);
    assert_int_equal(base_sequence_check(endless, 2, &at), -EINVAL);
    assert_int_equal(at, 1);
    assert_int_equal(base_sequence_check(lonely, 1, &at), -EINVAL);
    assert_int_equal(base_sequence_check(base, N_TIMES, &at), 0);
}

TEST(the_interval_over_runs_is_students)
{
    static const double alone[] = {0, 1, 0, 1, 0, 1}, beside[] = {0, 1.5, 0, 2, 0, 3};
    const struct base_sequence_runs runs = {alone, beside, 3, 2};
    struct base_sequence_estimate estimate;
    assert_int_equal(base_sequence_estimate(&runs, 0.95, &estimate), 0);
    const double costs[] = {0.2, 1 / 3.0, 0.5};
    const struct interval expected = student_interval(moments_of(costs, 3), 0.95);
    assert_close(estimate.cost_share, (0.2 + 1 / 3.0 + 0.5) / 3, 1e-12);
    assert_close(estimate.cost.low, expected.low, 1e-12);
    assert_close(estimate.cost.high, expected.high, 1e-12);
    assert_close(estimate.slowdown, 6.5 / 3, 1e-12);
    const struct base_sequence_step step = base_sequence_step_of(&runs, 1);
    assert_close(step.base_s, 1, 1e-12);
    assert_close(step.delayed_s, 6.5 / 3, 1e-12);
    assert_close(step.cost_share, estimate.cost_share, 1e-12);
}

TEST(one_run_has_no_interval)
{
    const struct base_sequence_runs runs = {base, base, 1, N_TIMES};
    struct base_sequence_estimate estimate;
    assert_int_equal(base_sequence_estimate(&runs, 0.95, &estimate), 0);
    assert_true(isnan(estimate.cost.low) && isnan(estimate.cost.high));
}

TEST(a_reference_that_takes_no_time_is_refused)
{
    static const double nothing[] = {5, 5};
    const struct base_sequence_runs runs = {nothing, nothing, 1, 2};
    struct base_sequence_estimate estimate;
    assert_int_equal(base_sequence_estimate(&runs, 0.95, &estimate), -EINVAL);
}

TEST(several_references_count_by_the_mean_of_their_costs)
{
    static const double alone[] = {0, 1, 0, 1, 0, 1}, beside[] = {0, 3, 0, 3, 0, 3};
    const struct base_sequence_runs references[] = {{alone, beside, 3, 2}, {alone, alone, 3, 2}};
    struct interval interval;
    double cost;
    assert_int_equal(base_sequence_average(references, 2, 0.95, &cost, &interval), 0);
    assert_close(cost, 0.25, 1e-12);
    assert_close(interval.low, 0.25, 1e-12);
    assert_int_equal(base_sequence_average(references, 0, 0.95, &cost, &interval), -EINVAL);
}
