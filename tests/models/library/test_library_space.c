/* Tests of models/library/library_space: factors of numbers, and what does not go with what. */
#include "tests/models/library/library_rig.h"

#include <errno.h>

TEST(reals_stand_at_equal_distances_or_ratios)
{
    struct fst_space *space = fst_space_new();
    struct fst_options options = FST_OPTIONS;
    struct fst_run run;
    assert_int_equal(fst_space_add_reals(space, "share", 0, 1, 5, 0), 0);
    assert_int_equal(fst_space_add_reals(space, "rate", 1e-3, 10, 5, 1), 0);
    struct fst_search *search = fst_search_new(space, &options);
    assert_non_null(search);
    assert_int_equal(fst_search_size(search), 25);
    assert_int_equal(fst_find(search, (const double[]){0.75, 1}, &run), 0);
    assert_int_equal(fst_find(search, (const double[]){1, 10}, &run), 0);
    assert_int_equal(fst_find(search, (const double[]){NAN, 10}, &run), -ENOENT);
    fst_search_free(search);
    assert_int_equal(fst_space_add_reals(space, "share", 0, 1, 5, 1), -EINVAL);
    assert_int_equal(fst_space_add_reals(space, "share", 1, 1, 5, 0), -EINVAL);
    assert_int_equal(fst_space_add_reals(space, "share", 0, 1, 1, 0), -EINVAL);
    assert_int_equal(fst_space_add_reals(space, "share", 0, INFINITY, 5, 0), -EINVAL);
    assert_int_equal(fst_space_add_reals(space, "two\nlines", 0, 1, 5, 0), -EINVAL);
    fst_space_free(space);
}

TEST(values_that_do_not_go_together_are_left_out)
{
    struct fst_space *space = rig_space();
    struct fst_options options = FST_OPTIONS;
    struct fst_run run;
    assert_int_equal(fst_space_not_with(space, 2, 1, 0, 4096), 0);
    assert_int_equal(fst_space_not_with(space, 1, 32, 2, 0), 0);
    assert_int_equal(fst_space_not_with(space, 1, 33, 2, 0), -EINVAL);
    assert_int_equal(fst_space_not_with(space, 1, 32, 3, 0), -EINVAL);
    assert_int_equal(fst_space_not_with(space, 1, 32, 1, 16), -EINVAL);
    struct fst_search *search = fst_search_new(space, &options);
    fst_space_free(space);
    assert_int_equal(fst_search_size(search), RIG_POINTS - 6 - 9);
    assert_int_equal(fst_find(search, (const double[]){4096, 8, 1}, &run), -ENOENT);
    assert_int_equal(fst_find(search, (const double[]){8192, 32, 0}, &run), -ENOENT);
    assert_int_equal(fst_find(search, (const double[]){4096, 8, 0}, &run), 0);
    fst_search_free(search);
}
