/* What is particular to the Gaussian process. */
#include "models/evidence.h"
#include "tests/models/surrogate_rig.h"

#include <gsl/gsl_linalg.h>

/* Far from all data in the kernel's terms nothing is known but the constant, whose own posterior is that of a
 * normal mean. */
static void gp_knows_little_where_it_saw_nothing(void **unused)
{
    void *state = state_of(&surrogate_gp);
    double near_mean, near_variance, far_mean, far_variance;

    (void)unused;
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
static void gp_predicts_the_conditional_normal_of_three_observations(void **unused)
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
    struct evidence evidence;
    struct kernel kernel;
    struct space line;
    int sign;

    (void)unused;
    assert_int_equal(space_init(&line, raw, 5, 1, &ordered), 0);
    gsl_rng_set(rng, 5);
    assert_int_equal(surrogate_gp.fit(state, &line, three, 3, 1, rng), 0);
    gsl_rng_set(rng, 5);
    assert_int_equal(evidence_init(&evidence, &line, seen, 3, response, noise), 0);
    assert_int_equal(evidence_minimise(&evidence, 0, 2, rng, logs), 0);
    kernel_from_logs(&kernel, &line, logs);
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
    space_done(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gp_knows_little_where_it_saw_nothing),
        cmocka_unit_test(gp_predicts_the_conditional_normal_of_three_observations),
    };

    return cmocka_run_group_tests_name("models/surrogate_gp", tests, setup, teardown);
}
