/* What is particular to the response surface. */
#include "tests/models/surrogate/surrogate_rig.h"

TEST(quadratic_recovers_an_exact_quadratic)
{
    void *state = state_of(&surrogate_quadratic);

    make_data(0.0);
    for (size_t i = 0; i < N_DATA; i++)
        data[i].mean_variance = 1e-12;
    assert_int_equal(surrogate_quadratic.fit(state, &space, data, N_DATA, 1, rng), 0);
    for (size_t point = 0; point < N_POINTS; point++) {
        double mean, variance;

        predict_one(&surrogate_quadratic, state, point, &mean, &variance);
        assert_close(mean, truth(point), 1e-4);
        assert_true(sqrt(variance) < 1e-3);
    }
    drop(&surrogate_quadratic, state);
}

TEST(quadratic_has_a_solution_when_terms_outnumber_data)
{
    void *state = state_of(&surrogate_quadratic);
    double density, rmse;

    make_data(0.05);
    for (size_t n = 5; n <= 14; n++) {
        assert_int_equal(surrogate_quadratic.fit(state, &space, data, n, 1, rng), 0);
        assert_int_equal(surrogate_quadratic.leave_one_out(state, &density, &rmse), 0);
        assert_true(isfinite(density) && isfinite(rmse));
    }
    drop(&surrogate_quadratic, state);
}

TEST(quadratic_reports_lack_of_fit_as_variance)
{
    void *state = state_of(&surrogate_quadratic);
    double mean, variance;

    make_data(0.0);
    for (size_t i = 0; i < N_DATA; i++) {
        data[i].mean += i % 2 ? 0.2 : -0.2; /* a pattern no quadratic follows */
        data[i].mean_variance = 1e-8;
    }
    assert_int_equal(surrogate_quadratic.fit(state, &space, data, N_DATA, 1, rng), 0);
    predict_one(&surrogate_quadratic, state, 5, &mean, &variance);
    assert_true(sqrt(variance) > 0.15 && sqrt(variance) < 0.4);
    drop(&surrogate_quadratic, state);
}
