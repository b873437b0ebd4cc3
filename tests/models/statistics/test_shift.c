/* Tests of models/statistics/shift. */
#include "models/statistics/shift.h"
#include "tests/models/rng.h"

#include <errno.h>

#define N_MAX 400

static size_t group[N_MAX];
static double values[N_MAX];

/* n values of 20 groups whose levels differ by far more than their scatter; a search looks at some often. */
static void fill(size_t n, double cv)
{
    for (size_t i = 0; i < n; i++) {
        double u = gsl_rng_uniform(rng);
        group[i] = 100 + (size_t)(20 * u * u);
        values[i] = (double)group[i] / 7 + gsl_ran_gaussian(rng, cv * (1 + (double)(group[i] % 3)));
    }
}

TEST(a_fall_of_all_groups_is_found_where_it_is)
{
    gsl_rng_set(rng, 1);
    size_t found = 0;
    for (int round = 0; round < 200; round++) {
        struct shift shift;
        fill(150, 0.05);
        for (size_t i = 60; i < 150; i++)
            values[i] -= 0.4;
        assert_int_equal(shift_of(group, values, 150, &shift), 0);
        found +=
            shift.shifted && shift.change >= 58 && shift.change <= 62 && fabs(shift.difference + 0.4) < 0.1;
    }
    assert_true(found >= 195);
}

TEST(a_common_line_is_a_drift)
{
    gsl_rng_set(rng, 2);
    size_t found = 0;
    for (int round = 0; round < 200; round++) {
        struct shift shift;
        fill(200, 0.05);
        for (size_t i = 0; i < 200; i++)
            values[i] += 0.5 * (double)i / 199;
        assert_int_equal(shift_of(group, values, 200, &shift), 0);
        found += shift.drifts && !shift.shifted && fabs(shift.difference - 0.5) < 0.1;
    }
    assert_true(found >= 190);
}

/* Also with groups that scatter unequally and with 2 % outliers. */
TEST(scatter_alone_is_no_change)
{
    gsl_rng_set(rng, 3);
    size_t alarms = 0;
    for (int round = 0; round < 2000; round++) {
        struct shift shift;
        fill(40 + (size_t)round % 300, 0.1);
        for (size_t i = 0; i < N_MAX; i++)
            values[i] -= gsl_rng_uniform(rng) < 0.02 ? 0.7 : 0;
        assert_int_equal(shift_of(group, values, 40 + (size_t)round % 300, &shift), 0);
        alarms += shift.shifted || shift.drifts;
    }
    assert_true(alarms <= 4);
}

TEST(one_group_slower_is_no_change_of_all)
{
    struct shift shift;
    for (size_t i = 0; i < 40; i++) {
        group[i] = i < 20 ? 1 : 2;
        values[i] = i < 20 ? 5 : 3;
    }
    assert_int_equal(shift_of(group, values, 40, &shift), 0);
    assert_false(shift.shifted || shift.drifts);
}

TEST(few_values_say_nothing)
{
    struct shift shift;
    size_t same[8] = {0};
    double falls[8] = {1, 1, 1, 1, 0, 0, 0, 0};
    assert_int_equal(shift_of(same, falls, 8, &shift), 0);
    assert_false(shift.shifted);
    assert_int_equal(shift_of(same, falls, 0, &shift), 0);
    assert_false(shift.shifted || shift.drifts);
}

TEST(what_is_not_finite_is_refused)
{
    struct shift shift;
    size_t same[2] = {0};
    double bad[2] = {1, NAN};
    assert_int_equal(shift_of(same, bad, 2, &shift), -EINVAL);
}
