/* The conformance suite that every surrogate passes. */
#include "tests/models/surrogate/surrogate_rig.h"

#include <errno.h>

static const struct surrogate_ops *const strategies[] = {&surrogate_gp, &surrogate_quadratic};

#define EACH_SURROGATE(ops) for (size_t s = 0; s < N_OF(strategies) && ((ops) = strategies[s]) != NULL; s++)

/* A fresh state of each in turn, which goes with its round. */
#define EACH_STATE(ops, state)                                                                               \
    EACH_SURROGATE(ops)                                                                                      \
    for (void *state = state_of(ops); state != NULL; state = drop(ops, state))

static const struct surrogate_ops *ops;

TEST(too_few_observations_are_enodata)
{
    make_data(0.05);
    EACH_STATE(ops, state)
    {
        assert_int_equal(ops->fit(state, &space, data, 0, 1, rng), -ENODATA);
        assert_int_equal(ops->fit(state, &space, data, 2, 1, rng), -ENODATA);
        assert_int_equal(ops->fit(state, &space, data, 5, 1, rng), 0);
    }
}

TEST(zeroed_state_can_be_done_twice)
{
    EACH_STATE(ops, state)
    {
        ops->done(state);
    }
}

TEST(a_failed_fit_leaves_the_last_one_in_force)
{
    make_data(0.05);
    EACH_STATE(ops, state)
    {
        double mean[2], variance[2];

        assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
        predict_one(ops, state, 5, &mean[0], &variance[0]);
        assert_int_equal(ops->fit(state, &space, data, 1, 1, rng), -ENODATA);
        predict_one(ops, state, 5, &mean[1], &variance[1]);
        assert_close(mean[1], mean[0], 0.0);
        assert_close(variance[1], variance[0], 0.0);
    }
}

TEST(predictions_come_near_a_smooth_truth)
{
    make_data(0.02);
    EACH_STATE(ops, state)
    {
        double squares = 0.0, scaled = 0.0;

        assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
        for (size_t point = 0; point < N_POINTS; point++) {
            double mean, variance;

            predict_one(ops, state, point, &mean, &variance);
            assert_true(variance > 0.0);
            squares += gsl_pow_2(mean - truth(point)) / N_POINTS;
            scaled += gsl_pow_2(mean - truth(point)) / variance / N_POINTS;
        }
        assert_true(sqrt(squares) < 0.05);
        assert_true(scaled > 0.05 && scaled < 4.0); /* the variance tells about the error */
    }
}

TEST(an_exact_observation_is_interpolated)
{
    make_data(0.02);
    data[3].mean += 1.0; /* no smooth surface reaches this one */
    data[3].mean_variance = 1e-10;
    EACH_STATE(ops, state)
    {
        double mean, variance;

        assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
        predict_one(ops, state, data[3].point, &mean, &variance);
        assert_close(mean, data[3].mean, 1e-4);
        assert_close(variance, 1e-10, 1e-9);
    }
}

TEST(a_noisy_outlier_moves_less_than_a_certain_one)
{
    EACH_SURROGATE(ops)
    {
        double mean[2], variance[2];
        size_t point = 0;

        for (int noisy = 0; noisy < 2; noisy++) {
            void *state = state_of(ops);

            make_data(0.02);
            point = data[10].point;
            data[10].mean += 0.5;
            data[10].mean_variance = noisy ? 0.25 : 1e-4;
            assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
            predict_one(ops, state, point, &mean[noisy], &variance[noisy]);
            drop(ops, state);
        }
        assert_true(fabs(mean[0] - truth(point) - 0.5) < 0.1);
        assert_true(fabs(mean[1] - truth(point)) < 0.1);
        assert_true(variance[0] < variance[1]);
    }
}

TEST(units_do_not_matter)
{
    EACH_SURROGATE(ops)
    {
        double mean[2], variance[2];

        for (int scaled = 0; scaled < 2; scaled++) {
            void *state = state_of(ops);

            make_data(0.02);
            for (size_t i = 0; scaled && i < N_DATA; i++) {
                data[i].mean = 1000.0 * data[i].mean - 5e4;
                data[i].mean_variance *= 1e6;
            }
            gsl_rng_set(rng, 11);
            assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
            predict_one(ops, state, 77, &mean[scaled], &variance[scaled]);
            drop(ops, state);
        }
        assert_close((mean[1] + 5e4) / 1000.0, mean[0], 1e-3);
        assert_close(variance[1] / 1e6, variance[0], 0.01 * variance[0]);
    }
}

TEST(leave_one_out_equals_fits_without_the_one)
{
    make_data(0.05);
    for (size_t i = 0; i < N_DATA; i++)
        data[i].mean_variance *= 1.0 + (double)(i % 3);
    EACH_STATE(ops, state)
    {
        double density, rmse, sum = 0.0, squares = 0.0;

        assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
        assert_int_equal(ops->leave_one_out(state, &density, &rmse), 0);
        for (size_t left = 0; left < N_DATA; left++) {
            struct observation rest[N_DATA];
            double mean, variance, residual;

            memcpy(rest, data, sizeof(data));
            rest[left] = data[N_DATA - 1];
            assert_int_equal(ops->fit(state, &space, rest, N_DATA - 1, 0, rng), 0);
            predict_one(ops, state, data[left].point, &mean, &variance);
            variance += data[left].mean_variance;
            residual = data[left].mean - mean;
            sum += log(gsl_ran_gaussian_pdf(residual, sqrt(variance))) / N_DATA;
            squares += gsl_pow_2(residual) / N_DATA;
        }
        assert_close(density, sum, 1e-6);
        assert_close(rmse, sqrt(squares), 1e-6);
    }
}

TEST(covariance_of_a_point_with_itself_is_its_variance)
{
    make_data(0.05);
    EACH_STATE(ops, state)
    {
        const size_t measured_and_not[] = {data[4].point, 5};

        assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
        for (size_t k = 0; k < 2; k++) {
            double mean, variance, covariance[2];

            predict_one(ops, state, measured_and_not[k], &mean, &variance);
            assert_int_equal(ops->covariance(state, measured_and_not[k], measured_and_not, 2, covariance), 0);
            assert_close(covariance[k], variance, 1e-9);
            assert_true(fabs(covariance[1 - k]) < variance);
        }
    }
}

/* What kriging believers rest on: a further observation at the posterior mean takes cov^2 / (var + noise) off
 * the variance. */
TEST(covariance_foretells_what_a_further_observation_does)
{
    EACH_STATE(ops, state)
    {
        const size_t listed[] = {5, 7, 60};
        double mean[3], variance[3], after_mean[3], after[3], covariance[3];

        make_data(0.05);
        assert_int_equal(ops->fit(state, &space, data, N_DATA - 1, 1, rng), 0);
        assert_int_equal(ops->predict(state, listed, 3, -INFINITY, mean, variance), 0);
        assert_int_equal(ops->covariance(state, 7, listed, 3, covariance), 0);
        data[N_DATA - 1] = (struct observation){.point = 7, .mean = mean[1], .mean_variance = 0.01};
        assert_int_equal(ops->fit(state, &space, data, N_DATA, 0, rng), 0);
        assert_int_equal(ops->predict(state, listed, 3, -INFINITY, after_mean, after), 0);
        for (size_t i = 0; i < 3; i++) {
            assert_close(after_mean[i], mean[i], 1e-9);
            assert_close(after[i], variance[i] - gsl_pow_2(covariance[i]) / (variance[1] + 0.01), 1e-9);
        }
    }
}

/* Nothing but rounding is left of the posterior covariance of what was measured without noise. */
TEST(points_known_exactly_are_drawn_as_they_are)
{
    static double draws[2 * N_DATA];
    size_t listed[N_DATA];

    make_data(0.0);
    for (size_t i = 0; i < N_DATA; i++) {
        data[i].mean_variance = 1e-15;
        listed[i] = data[i].point;
    }
    EACH_STATE(ops, state)
    {
        assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
        assert_int_equal(draw_joint(ops, state, listed, N_DATA, 2, draws), 0);
        for (size_t i = 0; i < 2 * N_DATA; i++)
            assert_close(draws[i], data[i % N_DATA].mean, 0.01);
    }
}

TEST(only_variances_that_cannot_reach_the_floor_are_too_large)
{
    static size_t all[N_POINTS];
    static double mean[2][N_POINTS], variance[2][N_POINTS];

    make_data(0.02);
    for (size_t i = 0; i < N_POINTS; i++)
        all[i] = i;
    EACH_STATE(ops, state)
    {
        const double floor = 22.0;
        size_t n_above = 0;

        assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
        assert_int_equal(ops->predict(state, all, N_POINTS, -INFINITY, mean[0], variance[0]), 0);
        assert_int_equal(ops->predict(state, all, N_POINTS, floor, mean[1], variance[1]), 0);
        for (size_t i = 0; i < N_POINTS; i++) {
            double reach = mean[1][i] + SURROGATE_HOPELESS_STDS * sqrt(variance[1][i]);

            assert_close(mean[1][i], mean[0][i], 0.0);
            assert_true(variance[1][i] >= variance[0][i] * (1.0 - 1e-9));
            if (reach < floor)
                continue;
            n_above++;
            assert_close(variance[1][i], variance[0][i], 1e-12);
        }
        assert_in_range(n_above, 1, N_POINTS - 1);
    }
}

TEST(samples_have_the_posterior_moments)
{
    enum { N_DRAWS = 20000 };
    static double draws[N_DRAWS * 3];

    make_data(0.05);
    EACH_STATE(ops, state)
    {
        const size_t listed[] = {data[4].point, 5, 6};
        double mean[3], variance[3], covariance[3], sum[3] = {0}, products[3] = {0};

        assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
        assert_int_equal(ops->predict(state, listed, 3, -INFINITY, mean, variance), 0);
        assert_int_equal(ops->covariance(state, 5, listed, 3, covariance), 0);
        assert_int_equal(draw_joint(ops, state, listed, 3, N_DRAWS, draws), 0);
        for (size_t draw = 0; draw < N_DRAWS; draw++)
            for (size_t i = 0; i < 3; i++) {
                sum[i] += draws[draw * 3 + i] / N_DRAWS;
                products[i] += (draws[draw * 3 + i] - mean[i]) * (draws[draw * 3 + 1] - mean[1]) / N_DRAWS;
            }
        for (size_t i = 0; i < 3; i++) {
            assert_close(sum[i], mean[i], 5.0 * sqrt(variance[i] / N_DRAWS));
            assert_close(products[i], covariance[i], 6.0 * sqrt(variance[i] * variance[1] / N_DRAWS));
        }
    }
}

TEST(equal_responses_are_no_difficulty)
{
    make_data(0.05);
    for (size_t i = 0; i < N_DATA; i++)
        data[i] = (struct observation){.point = i, .mean = 3.0, .mean_variance = 1e-4};
    EACH_STATE(ops, state)
    {
        double mean, variance;

        assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
        predict_one(ops, state, N_POINTS - 1, &mean, &variance);
        assert_close(mean, 3.0, 1e-3);
    }
}

TEST(equal_seeds_give_equal_fits)
{
    make_data(0.05);
    EACH_SURROGATE(ops)
    {
        double mean[2], variance[2];

        for (int run = 0; run < 2; run++) {
            void *state = state_of(ops);

            gsl_rng_set(rng, 3);
            assert_int_equal(ops->fit(state, &space, data, N_DATA, 1, rng), 0);
            predict_one(ops, state, 50, &mean[run], &variance[run]);
            drop(ops, state);
        }
        assert_close(mean[1], mean[0], 0.0);
        assert_close(variance[1], variance[0], 0.0);
    }
}
