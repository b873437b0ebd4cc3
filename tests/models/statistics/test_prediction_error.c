/* Tests of models/statistics/prediction_error, by hand. */
#include "models/statistics/prediction_error.h"
#include "tests/test.h"

TEST(errors_are_shares_of_what_was_measured)
{
    const double predicted[] = {1, 3, 4}, measured[] = {2, 2, 4};
    struct prediction_error error = prediction_error_of(predicted, measured, 3);
    assert_int_equal(error.n, 3);
    assert_close(error.chunk_share, 1.0 / 3, 1e-15);
    assert_close(error.weighted_share, 2.0 / 8, 1e-15);
    assert_close(error.total_share, 0, 1e-15); /* they cancel */
}

TEST(chunks_that_cost_nothing_are_left_out_of_the_mean_only)
{
    const double predicted[] = {1, 3}, measured[] = {0, 2};
    struct prediction_error error = prediction_error_of(predicted, measured, 2);
    assert_int_equal(error.n, 1);
    assert_close(error.chunk_share, 0.5, 1e-15);
    assert_close(error.weighted_share, 1, 1e-15);
    assert_close(error.total_share, 1, 1e-15);
}

TEST(nothing_measured_is_nan)
{
    const double predicted[] = {1}, measured[] = {0};
    struct prediction_error error = prediction_error_of(predicted, measured, 1);
    assert_true(isnan(error.chunk_share) && isnan(error.weighted_share) && isnan(error.total_share));
    assert_true(isnan(prediction_error_of(NULL, NULL, 0).chunk_share));
}

static const double first[] = {1, 10}, second[] = {2, 20}, third[] = {6, 30};
static const double *const three[] = {first, second, third};

TEST(medians_are_chunk_by_chunk)
{
    double medians[2];
    assert_int_equal(prediction_error_medians(three, 3, 2, medians), 0);
    assert_close(medians[0], 2, 0);
    assert_close(medians[1], 20, 0);
    assert_int_equal(prediction_error_medians(three, 2, 2, medians), 0);
    assert_close(medians[0], 1.5, 0);
}

TEST(scatter_is_the_error_of_a_repetition)
{
    struct prediction_error scatter;
    assert_int_equal(prediction_error_scatter(three, 2, 2, &scatter), 0);
    assert_close(scatter.chunk_share, (0.5 + 1) / 2, 1e-15); /* 1 for 2, then 2 for 1 */
    assert_int_equal(prediction_error_scatter(three, 3, 2, &scatter), 0);
    /* against medians (4, 25), (3.5, 20) and (1.5, 15) of the other two */
    assert_close(scatter.chunk_share,
                 ((3 / 4.0 + 15 / 25.0) / 2 + (1.5 / 3.5 + 0) / 2 + (4.5 / 1.5 + 15 / 15.0) / 2) / 3, 1e-12);
    assert_close(scatter.total_share, (18 / 29.0 + 1.5 / 23.5 + 19.5 / 16.5) / 3, 1e-12);
}

TEST(one_repetition_has_no_scatter)
{
    struct prediction_error scatter = {.chunk_share = 1};
    assert_int_equal(prediction_error_scatter(three, 1, 2, &scatter), 0);
    assert_true(isnan(scatter.chunk_share) && isnan(scatter.total_share));
}

TEST(improvement_is_a_share_of_the_other_error)
{
    assert_close(prediction_error_improvement(0.1, 1), 0.9, 1e-15);
    assert_close(prediction_error_improvement(2, 1), -1, 1e-15);
    assert_true(isnan(prediction_error_improvement(1, 0)));
    assert_true(isnan(prediction_error_improvement(NAN, 1)));
    assert_true(isnan(prediction_error_improvement(1, INFINITY)));
}
