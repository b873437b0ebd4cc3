/* A task takes the sum of its operations, and what changes between kinds cost. */
#include "models/impact/task_vector.h"
#include "tests/test.h"

#include <errno.h>

static struct atomic_cost cost(double s, double low, double high)
{
    return (struct atomic_cost){s, {low, high}};
}

TEST(a_task_of_one_kind_is_a_plain_product)
{
    const struct task_operation operation = {100, cost(0.01, 0.009, 0.012), 0};
    const struct task_mix mix = {{0, 1}, cost(5, 5, 5)};
    struct task_prediction prediction;
    assert_int_equal(task_vector_predict(&operation, 1, &mix, 1, &prediction), 0);
    assert_close(prediction.uncorrected_s, 1, 1e-12);
    assert_close(prediction.seconds, 1, 1e-12);
    assert_close(prediction.interval.low, 0.9, 1e-12);
    assert_close(prediction.interval.high, 1.2, 1e-12);
}

/* Half and half of 1000: 2 x 1000 x 0.25 = 500 changes. */
TEST(a_mix_costs_its_changes)
{
    const struct task_operation operations[] = {{500, cost(0.001, NAN, NAN), 0},
                                                {500, cost(0.002, NAN, NAN), 1}};
    const struct task_mix mix = {{0, 1}, cost(0.0005, NAN, NAN)};
    struct task_prediction prediction;
    assert_int_equal(task_vector_predict(operations, 2, &mix, 1, &prediction), 0);
    assert_close(prediction.uncorrected_s, 1.5, 1e-12);
    assert_close(prediction.n_changes, 500, 1e-9);
    assert_close(prediction.seconds, 1.75, 1e-12);
}

/* The number of changes in a random order, counted. */
TEST(the_expected_changes_are_those_of_a_random_order)
{
    const struct task_operation operations[] = {{3000, cost(0, 0, 0), 0}, {1000, cost(0, 0, 0), 1}};
    const struct task_mix mix = {{0, 1}, cost(1, 1, 1)};
    struct task_prediction prediction;
    uint32_t x = 12345;
    int last = -1, changes = 0;
    for (int i = 0; i < 4000; i++) {
        x = x * 1664525 + 1013904223;
        const int kind = (x >> 16) % 4 == 0;
        changes += last >= 0 && kind != last;
        last = kind;
    }
    assert_int_equal(task_vector_predict(operations, 2, &mix, 1, &prediction), 0);
    assert_close(prediction.n_changes, 1500, 1e-9);
    assert_close(changes, prediction.n_changes, 100);
}

TEST(operations_that_take_part_in_no_mix_make_changes_rarer)
{
    const struct task_operation operations[] = {
        {500, cost(0, 0, 0), 0}, {500, cost(0, 0, 0), 1}, {1000, cost(0, 0, 0), 99}};
    const struct task_mix mix = {{0, 1}, cost(1, 1, 1)};
    struct task_prediction prediction;
    assert_int_equal(task_vector_predict(operations, 3, &mix, 1, &prediction), 0);
    assert_close(prediction.n_changes, 250, 1e-9);
}

TEST(sizes_between_two_lie_on_the_line_between_them)
{
    static const double sizes[] = {4096, 65536, 1048576};
    const struct atomic_cost costs[] = {cost(1, 0.9, 1.1), cost(3, 2.8, 3.3), cost(30, 29, 31)};
    assert_close(task_vector_cost_at(sizes, costs, 3, 512).s, 1, 0);
    assert_close(task_vector_cost_at(sizes, costs, 3, 65536).s, 3, 1e-12);
    assert_close(task_vector_cost_at(sizes, costs, 3, (4096 + 65536) / 2.0).s, 2, 1e-12);
    assert_close(task_vector_cost_at(sizes, costs, 3, (4096 + 65536) / 2.0).interval.low, 1.85, 1e-12);
    assert_close(task_vector_cost_at(sizes, costs, 3, 2 * 1048576).s, 60, 1e-12);
}

TEST(counts_and_costs_that_are_none_are_refused)
{
    const struct task_operation negative = {-1, cost(1, 1, 1), 0}, endless = {1, cost(INFINITY, 1, 1), 0};
    struct task_prediction prediction;
    assert_int_equal(task_vector_predict(&negative, 1, NULL, 0, &prediction), -EINVAL);
    assert_int_equal(task_vector_predict(&endless, 1, NULL, 0, &prediction), -EINVAL);
}
