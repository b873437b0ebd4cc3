/* What is particular to the Gaussian process. */
#include "models/surrogate/evidence.h"
#include "tests/models/surrogate/surrogate_rig.h"

#include <gsl/gsl_linalg.h>

/* Far from all data in the kernel's terms nothing is known but the constant, whose own posterior is that of a
 * normal mean. */
TEST(gp_knows_little_where_it_saw_nothing)
{
    void *state = state_of(&surrogate_gp);
    double near_mean, near_variance, far_mean, far_variance;

    make_data(0.02);
    for (size_t i = 0; i < 10; i++) { /* one corner, one API */
        data[i].point = i % 3 + N_SIZES * (i / 3);
        data[i].mean = truth(data[i].point);
    }
    assert_int_equal(surrogate_gp.fit(state, &space, data, 10, 1, rng), 0);
    predict_one(&surrogate_gp, state, 10, &near_mean, &near_variance);
    predict_one(&surrogate_gp, state, N_POINTS - 1, &far_mean, &far_variance);
    assert_true(far_variance > 5.0 * near_variance);
    drop(&surrogate_gp, state);
}

/* Predictions for three observations by the textbook formula with a general inverse, with the
 * hyper-parameters found apart from the fit. */
TEST(gp_predicts_the_conditional_normal_of_three_observations)
{
    const double raw[] = {0, 1, 2, 3, 4};
    const enum space_kind ordered = SPACE_ORDERED;
    const struct observation three[] = {{0, 9.0, 0.01}, {2, 10.0, 0.02}, {4, 11.0, 0.03}};
    const size_t seen[] = {0, 2, 4};
    const double response[] = {-1.0, 0.0, 1.0}, noise[] = {0.01, 0.02, 0.03}; /* the std is 1, the mean 10 */
    double logs[KERNEL_MAX_LOGS], cross[3], scratch[9], inverse[9], mean, variance, by_hand = 10.0,
                                                                                    explained = 0.0;
    gsl_matrix_view k = gsl_matrix_view_array(scratch, 3, 3),
                    k_inverse = gsl_matrix_view_array(inverse, 3, 3);
    gsl_permutation *order = gsl_permutation_alloc(3);
    void *state = state_of(&surrogate_gp);
    const struct lattice none = {0};
    struct evidence evidence;
    struct kernel kernel;
    AUTO(space_done) struct space line;
    int sign;

    assert_int_equal(space_init(&line, raw, 5, 1, &ordered), 0);
    gsl_rng_set(rng, 5);
    assert_int_equal(surrogate_gp.fit(state, &line, three, 3, 1, rng), 0);
    gsl_rng_set(rng, 5);
    assert_int_equal(evidence_init(&evidence, &line, &none, seen, 3, response, noise), 0);
    assert_int_equal(evidence_minimise(&evidence, 0, 2, rng, logs), 0);
    kernel_from_logs(&kernel, &line, false, logs);
    for (size_t i = 0; i < 3; i++) {
        cross[i] = kernel_between(&kernel, space_row(&line, seen[i]), space_row(&line, 1));
        for (size_t j = 0; j < 3; j++)
            /* cppcheck-suppress unreadVariable ; read through the matrix view k */
            scratch[3 * i + j] =
                kernel_between(&kernel, space_row(&line, seen[i]), space_row(&line, seen[j])) +
                (i == j ? kernel.roughness + noise[i] : 0.0);
    }
    gsl_linalg_LU_decomp(&k.matrix, order, &sign);
    gsl_linalg_LU_invert(&k.matrix, order, &k_inverse.matrix);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            by_hand += cross[i] * inverse[3 * i + j] * response[j];
            explained += cross[i] * inverse[3 * i + j] * cross[j];
        }
    predict_one(&surrogate_gp, state, 1, &mean, &variance);
    assert_close(mean, by_hand, 1e-9);
    assert_close(variance, kernel.offset + kernel.signal + kernel.roughness - explained, 1e-9);
    evidence_done(&evidence);
    drop(&surrogate_gp, state);
    gsl_permutation_free(order);
}

/* A space with too many levels for a lattice, and a part of it that has one: the same points, observations
 * and hyper-parameters. */
TEST(a_space_without_a_lattice_gives_the_same)
{
    enum { MANY = 1500, FEW = 31 };
    static double raw[MANY];
    const enum space_kind ordered = SPACE_ORDERED;
    const size_t listed[] = {0, 7, 12, 30};
    double mean[2][4], variance[2][4], covariance[2][4], draws[2][8];

    for (size_t i = 0; i < MANY; i++)
        raw[i] = i < FEW ? (double)i : 30.0 * (double)(i - FEW) / (double)MANY + 0.001;
    for (size_t k = 0; k < 2; k++) {
        void *state = state_of(&surrogate_gp);
        AUTO(space_done) struct space line;

        assert_int_equal(space_init(&line, raw, k ? MANY : FEW, 1, &ordered), 0);
        for (size_t i = 0; i < 10; i++)
            data[i] =
                (struct observation){.point = 3 * i, .mean = sin(0.2 * (double)i), .mean_variance = 0.01};
        gsl_rng_set(rng, 3);
        assert_int_equal(surrogate_gp.fit(state, &line, data, 10, 1, rng), 0);
        assert_int_equal(surrogate_gp.predict(state, listed, 4, -INFINITY, mean[k], variance[k]), 0);
        assert_int_equal(surrogate_gp.covariance(state, 12, listed, 4, covariance[k]), 0);
        assert_int_equal(draw_joint(&surrogate_gp, state, listed, 4, 2, draws[k]), 0);
        drop(&surrogate_gp, state);
    }
    for (size_t j = 0; j < 4; j++) {
        assert_close(mean[0][j], mean[1][j], 1e-5);
        assert_close(variance[0][j], variance[1][j], 1e-5);
        assert_close(covariance[0][j], covariance[1][j], 1e-5);
        assert_close(draws[0][j], draws[1][j], 1e-4);
    }
}

/* Beyond the levels that were measured a stiff one goes on along the surface; any other falls back. */
TEST(a_quadratic_goes_on_beyond_the_data)
{
    const struct surrogate_ops *const both[] = {&surrogate_gp, &surrogate_quadratic};
    enum { LEVELS = 31, MEASURED = 8 };
    const enum space_kind ordered = SPACE_ORDERED;
    AUTO(space_done) struct space line;
    double raw[LEVELS], error[2];

    for (size_t i = 0; i < LEVELS; i++)
        raw[i] = (double)i;
    assert_int_equal(space_init(&line, raw, LEVELS, 1, &ordered), 0);
    for (size_t i = 0; i < MEASURED; i++)
        data[i] = (struct observation){
            .point = 2 * i, .mean = gsl_pow_2(2.0 * space_row(&line, 2 * i)[0]), .mean_variance = 1e-4};
    for (size_t k = 0; k < 2; k++) {
        void *state = state_of(both[k]);
        double mean, variance;

        gsl_rng_set(rng, 3);
        assert_int_equal(both[k]->fit(state, &line, data, MEASURED, 1, rng), 0);
        predict_one(both[k], state, LEVELS - 1, &mean, &variance);
        error[k] = fabs(mean - 4.0);
        drop(both[k], state);
    }
    assert_true(error[1] < 0.5 * error[0]);
}

#define N_FAR  125
#define N_WIDE 120
#define N_SEEN 100 /* too many to keep the covariances of each with all points of the large space */

/* Fits the first N_SEEN of the numbered points. */
static void *fit_first(const struct space *of, const size_t *numbers)
{
    struct observation seen[N_SEEN];
    void *state = state_of(&surrogate_gp);

    for (size_t i = 0; i < N_SEEN; i++) {
        const double *x = space_row(of, numbers[i]);

        seen[i] = (struct observation){
            .point = numbers[i], .mean = sin(5.0 * x[0]) + 2.0 * x[1], .mean_variance = 1e-3};
    }
    gsl_rng_set(rng, 3);
    assert_int_equal(surrogate_gp.fit(state, of, seen, N_SEEN, 1, rng), 0);
    return state;
}

/* A space that is a part of another one with the same ends, so that it has the same coordinates. */
TEST(what_is_kept_of_covariances_changes_no_prediction)
{
    const size_t n_levels[] = {N_FAR, N_WIDE};
    size_t in_large[2 * N_SEEN], in_small[2 * N_SEEN];
    double raw[4 * N_SEEN], mean[2][2 * N_SEEN], variance[2][2 * N_SEEN];
    AUTO(space_done) struct space large, small;

    grid_init(&large, kinds, 2, n_levels);
    for (size_t i = 0; i < 2 * N_SEEN; i++) {
        in_small[i] = i;
        in_large[i] = i * (N_FAR * N_WIDE - 1) / (2 * N_SEEN - 1);
        raw[2 * i] = (double)(in_large[i] % N_FAR);
        raw[2 * i + 1] = (double)(in_large[i] / N_FAR);
    }
    assert_int_equal(space_init(&small, raw, 2 * N_SEEN, 2, kinds), 0);
    void *of_large = fit_first(&large, in_large), *of_small = fit_first(&small, in_small);
    assert_int_equal(surrogate_gp.predict(of_large, in_large, 2 * N_SEEN, -INFINITY, mean[0], variance[0]),
                     0);
    assert_int_equal(surrogate_gp.predict(of_small, in_small, 2 * N_SEEN, -INFINITY, mean[1], variance[1]),
                     0);
    for (size_t i = 0; i < 2 * N_SEEN; i++) {
        assert_close(mean[0][i], mean[1][i], 1e-9);
        assert_close(variance[0][i], variance[1][i], 1e-9);
    }
    drop(&surrogate_gp, of_large);
    drop(&surrogate_gp, of_small);
}
