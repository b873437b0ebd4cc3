/* The time in a virtual machine is the time on the host and what each activity costs more. */
#include "models/impact/atomic.h"
#include "tests/test.h"

#include <errno.h>

static struct atomic_cost cost(double s, double low, double high)
{
    return (struct atomic_cost){s, {low, high}};
}

TEST(each_activity_adds_its_count_times_the_difference)
{
    const struct atomic_term terms[] = {{1000, cost(1e-6, NAN, NAN), cost(1e-4, NAN, NAN)},
                                        {10, cost(0.01, NAN, NAN), cost(0.02, NAN, NAN)}};
    struct atomic_prediction prediction;
    assert_int_equal(atomic_predict(cost(1, NAN, NAN), terms, 2, &prediction), 0);
    assert_close(prediction.vm_s, 1 + 0.099 + 0.1, 1e-12);
    assert_close(prediction.explained_s, 0.101, 1e-12);
    assert_close(prediction.interval.low, prediction.vm_s, 1e-12);
}

TEST(intervals_of_the_parts_add_as_squares)
{
    const struct atomic_term term = {2, cost(1, 0.9, 1.2), cost(3, 2.6, 3.3)};
    struct atomic_prediction prediction;
    assert_int_equal(atomic_predict(cost(10, 9, 12), &term, 1, &prediction), 0);
    assert_close(prediction.vm_s, 14, 1e-12);
    assert_close(prediction.interval.low, 14 - sqrt(1 + 4 * (0.16 + 0.04)), 1e-12);
    assert_close(prediction.interval.high, 14 + sqrt(4 + 4 * (0.09 + 0.01)), 1e-12);
}

TEST(a_program_without_counts_takes_as_long_as_on_the_host)
{
    struct atomic_prediction prediction;
    assert_int_equal(atomic_predict(cost(2, 1.9, 2.1), NULL, 0, &prediction), 0);
    assert_close(prediction.vm_s, 2, 0);
    assert_close(prediction.explained_s, 0, 0);
}

TEST(a_cost_that_noise_hides_counts_as_it_was_measured)
{
    const struct atomic_term term = {10, cost(-0.01, -0.03, 0.01), cost(0.02, 0.01, 0.03)};
    struct atomic_prediction prediction;
    assert_int_equal(atomic_predict(cost(1, NAN, NAN), &term, 1, &prediction), 0);
    assert_close(prediction.vm_s, 1.3, 1e-12);
    assert_close(prediction.interval.high, 1.3 + sqrt(100 * (0.0001 + 0.0004)), 1e-12);
}

TEST(costs_and_counts_that_are_none_are_refused)
{
    const struct atomic_term wrong[] = {{-1, cost(1, NAN, NAN), cost(1, NAN, NAN)},
                                        {1, cost(NAN, NAN, NAN), cost(1, NAN, NAN)},
                                        {1, cost(1, NAN, NAN), cost(INFINITY, NAN, NAN)}};
    struct atomic_prediction prediction;
    for (size_t i = 0; i < N_OF(wrong); i++)
        assert_int_equal(atomic_predict(cost(1, NAN, NAN), &wrong[i], 1, &prediction), -EINVAL);
    assert_int_equal(atomic_predict(cost(INFINITY, NAN, NAN), NULL, 0, &prediction), -EINVAL);
}
