/* Tests of models/surrogate/space: scaling, levels, and what it refuses. */
#include "models/surrogate/space.h"
#include "tests/test.h"

#include <errno.h>

static const enum space_kind ordered_and_category[] = {SPACE_ORDERED, SPACE_CATEGORY};

TEST(ordered_dimensions_are_scaled_and_categories_kept)
{
    const double raw[] = {12, 0, 14, 4, 22, 4, 17, 3};
    const double expected[] = {0.0, 0, 0.2, 4, 1.0, 4, 0.5, 3};
    AUTO(space_done) struct space space;

    assert_int_equal(space_init(&space, raw, 4, 2, ordered_and_category), 0);
    assert_int_equal(space.n_points, 4);
    assert_int_equal(space.n_dims, 2);
    assert_int_equal(space.kind[0], SPACE_ORDERED);
    assert_int_equal(space.kind[1], SPACE_CATEGORY);
    for (size_t i = 0; i < 8; i++)
        assert_close(space.x[i], expected[i], 1e-15);
    assert_close(space_row(&space, 2)[1], 4.0, 0.0);
}

TEST(levels_are_distinct_values)
{
    const double raw[] = {3, 1, 1, 1, 2, 0, 3, 7, 1, 1};
    AUTO(space_done) struct space space;

    assert_int_equal(space_init(&space, raw, 5, 2, ordered_and_category), 0);
    assert_int_equal(space.n_levels[0], 3);
    assert_int_equal(space.n_levels[1], 3);
}

TEST(dimension_that_does_not_vary_is_zero)
{
    const double raw[] = {16, 2, 16, 2, 16, 2};
    AUTO(space_done) struct space space;

    assert_int_equal(space_init(&space, raw, 3, 2, ordered_and_category), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_close(space_row(&space, i)[0], 0.0, 0.0);
        assert_close(space_row(&space, i)[1], 2.0, 0.0);
    }
    assert_int_equal(space.n_levels[0], 1);
    assert_int_equal(space.n_levels[1], 1);
}

TEST(one_point_is_a_space)
{
    const double raw[] = {-5, 0};
    AUTO(space_done) struct space space;

    assert_int_equal(space_init(&space, raw, 1, 2, ordered_and_category), 0);
    assert_close(space.x[0], 0.0, 0.0);
    assert_int_equal(space.n_levels[0], 1);
}

TEST(raw_numbers_are_copied)
{
    double raw[] = {0, 0, 1, 1};
    AUTO(space_done) struct space space;

    assert_int_equal(space_init(&space, raw, 2, 2, ordered_and_category), 0);
    memset(raw, 0xff, sizeof(raw));
    assert_close(space.x[2], 1.0, 0.0);
    assert_close(space.x[3], 1.0, 0.0);
}

TEST(bad_arguments_are_refused_and_leave_an_empty_space)
{
    static const struct {
        const char *what;
        double first, category;
        size_t n_points, n_dims;
    } cases[] = {
        {"no points", 0, 0, 0, 2},          {"no dimensions", 0, 0, 1, 0},
        {"nine dimensions", 0, 0, 1, 9},    {"not a number", NAN, 0, 1, 2},
        {"infinite", -INFINITY, 0, 1, 2},   {"half a category", 0, 0.5, 1, 2},
        {"negative category", 0, -1, 1, 2}, {"category NaN", 0, NAN, 1, 2},
        {"huge category", 0, 1e300, 1, 2},  {"size overflows", 0, 0, SIZE_MAX / 4, 2},
    };

    for (size_t i = 0; i < N_OF(cases); i++) {
        const double raw[] = {cases[i].first, cases[i].category};
        AUTO(space_done) struct space space;

        memset(&space, 0xff, sizeof(space));
        if (space_init(&space, raw, cases[i].n_points, cases[i].n_dims, ordered_and_category) != -EINVAL)
            fail_msg("%s was accepted", cases[i].what);
        assert_null(space.x);
        assert_int_equal(space.n_points, 0);
    }
}

TEST(done_accepts_null_and_twice)
{
    const double raw[] = {0, 0};
    struct space space;

    assert_int_equal(space_init(&space, raw, 1, 2, ordered_and_category), 0);
    space_done(&space);
    assert_null(space.x);
    space_done(&space);
    space_done(NULL);
}
