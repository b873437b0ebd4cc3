/* A belief with figures from elsewhere: better where they predict, the same where they do not. */
#include "models/search/belief.h"
#include "tests/models/grid.h"
#include "tests/models/rng.h"

#include <errno.h>
#include <gsl/gsl_math.h>

enum { N_POINTS = 64, N_TOLD = 8 };

static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED};
static double truth[N_POINTS], other[N_POINTS];

GRID_SPACE(space, kinds, 8, 8)

FIXTURE(setup)
{
    gsl_rng_set(rng, 9);
    for (size_t i = 0; i < N_POINTS; i++) {
        /* Bumpy, so that eight points do not tell the rest. */
        truth[i] = 20.0 + sin(1.7 * (double)(i % 8)) + cos(2.3 * (double)(i / 8));
        other[i] = 20.0 + gsl_ran_gaussian(rng, 1.0);
    }
    return 0;
}

GROUP(setup, NULL);

/* A belief told of every eighth point, with or without a prior; its root mean square error. */
static double error_with(struct belief *belief, const double *prior, double shift)
{
    double mean[N_POINTS], squares = 0.0;

    gsl_rng_set(rng, 5);
    assert_int_equal(belief_init(belief, &space, &surrogate_gp, 0.1), 0);
    if (prior) {
        for (size_t i = 0; i < N_POINTS; i++)
            mean[i] = prior[i] + shift;
        assert_int_equal(belief_prior_add(belief, mean), 0);
    }
    for (size_t i = 0; i < N_TOLD; i++)
        belief_tell(belief, i * 8 + i, truth[i * 8 + i] + gsl_ran_gaussian(rng, 0.05));
    assert_int_equal(belief_update(belief, true, rng), 0);
    for (size_t i = 0; i < N_POINTS; i++)
        squares += gsl_pow_2(belief->mean[i] - truth[i]) / N_POINTS;
    return sqrt(squares);
}

TEST(a_prior_that_predicts_replaces_measuring)
{
    struct belief with, without;
    double better = error_with(&with, truth, 1.5), plain = error_with(&without, NULL, 0.0);

    print_message("# error with a true prior %.3f, without %.3f\n", better, plain);
    assert_true(better < 0.1);
    assert_true(better < plain / 3.0);
    assert_true(with.prior.transfer[0].weight > 0.95);
    assert_int_equal(with.prior.transfer[0].n, N_TOLD);
    assert_int_equal(with.n_measured, N_TOLD);
    belief_done(&with);
    belief_done(&without);
}

TEST(the_source_that_predicts_best_is_used)
{
    AUTO(belief_done) struct belief belief;

    error_with(&belief, other, 0.0);
    assert_int_equal(belief_prior_add(&belief, truth), 0);
    assert_int_equal(belief_update(&belief, true, rng), 0);
    assert_int_equal(belief.prior.used, 1);
    assert_true(belief.prior.transfer[1].weight > belief.prior.transfer[0].weight);
}

TEST(a_prior_turned_round_changes_nothing)
{
    struct belief with, without;
    double turned[N_POINTS];

    for (size_t i = 0; i < N_POINTS; i++)
        turned[i] = -truth[i];
    assert_close(error_with(&with, turned, 0.0), error_with(&without, NULL, 0.0), 1e-12);
    assert_null(with.prior.offset);
    belief_done(&with);
    belief_done(&without);
}

TEST(draws_are_around_the_mean_that_is_told)
{
    enum { DRAWS = 400 };
    const size_t points[] = {3, 17, 40};
    double draws[DRAWS * 3], sum[3] = {0};
    AUTO(belief_done) struct belief belief;

    error_with(&belief, truth, 2.0);
    assert_non_null(belief.prior.offset);
    assert_int_equal(belief_sample(&belief, points, 3, DRAWS, rng, draws), 0);
    for (size_t i = 0; i < DRAWS * 3; i++)
        sum[i % 3] += draws[i] / DRAWS;
    for (size_t i = 0; i < 3; i++)
        assert_close(sum[i], belief.mean[points[i]], 4.0 * sqrt(belief.variance[points[i]] / DRAWS));
}

TEST(a_dropped_prior_leaves_the_belief_of_what_was_measured)
{
    struct belief with, without;
    double plain = error_with(&without, NULL, 0.0), squares = 0.0;

    error_with(&with, truth, 0.0);
    belief_prior_drop(&with);
    assert_int_equal(belief_update(&with, true, rng), 0);
    assert_null(with.prior.offset);
    assert_true(with.prior.transfer[0].weight > 0.9); /* still to be reported */
    for (size_t i = 0; i < N_POINTS; i++)
        squares += gsl_pow_2(with.mean[i] - truth[i]) / N_POINTS;
    assert_true(sqrt(squares) > plain / 2.0);
    belief_done(&with);
    belief_done(&without);
}

TEST(before_three_points_nothing_is_believed)
{
    AUTO(belief_done) struct belief belief;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.1), 0);
    assert_int_equal(belief_prior_add(&belief, truth), 0);
    belief_tell(&belief, 1, truth[1]);
    belief_tell(&belief, 2, truth[2]);
    assert_int_equal(belief_update(&belief, true, rng), -ENODATA);
    assert_null(belief.prior.offset);
    assert_int_equal(belief.prior.transfer[0].n, 0);
}

TEST(sources_without_end_or_number_are_refused)
{
    AUTO(belief_done) struct belief belief;
    double bad[N_POINTS] = {0};

    bad[7] = INFINITY;
    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.1), 0);
    assert_int_equal(belief_prior_add(&belief, bad), -EINVAL);
    for (int i = 0; i < BELIEF_PRIOR_MAX; i++)
        assert_int_equal(belief_prior_add(&belief, truth), 0);
    assert_int_equal(belief_prior_add(&belief, truth), -ENOSPC);
}
