/* Tests of models/search/acquire against closed values and numerical integration. */
#include "models/search/acquire.h"
#include "tests/check.h"

#include <gsl/gsl_errno.h>
#include <math.h>

static int silence_gsl(void **state)
{
    (void)state;
    gsl_set_error_handler_off();
    return 0;
}

/* E[max(0, mean + std*Z - incumbent)] by the trapezium rule, from where the gain starts to 12 standard
 * deviations. */
static double integrated_improvement(double mean, double std, double incumbent)
{
    enum { N_STEPS = 200000 };
    double start = fmax(-12.0, (incumbent - mean) / std);
    double step = (12.0 - start) / N_STEPS;
    double sum = 0.0;

    for (int i = 0; i <= N_STEPS; i++) {
        double z = start + i * step;
        double weight = i == 0 || i == N_STEPS ? 0.5 : 1.0;

        sum += weight * fmax(0.0, mean + std * z - incumbent) * exp(-0.5 * z * z);
    }
    return sum * step / sqrt(2.0 * M_PI);
}

static void improvement_at_the_incumbent_is_the_normal_density(void **state)
{
    (void)state;
    assert_close(acquire_expected_improvement(1.0, 1.0, 1.0), 1.0 / sqrt(2.0 * M_PI), 1e-15);
    assert_close(acquire_expected_improvement(1.0, 0.2, 1.0), 0.2 / sqrt(2.0 * M_PI), 1e-15);
}

static void improvement_matches_known_values(void **state)
{
    (void)state;
    /* The unit normal loss function, tabulated: L(0.5) = 0.1978, L(1) = 0.08332, L(2) = 0.008491. */
    assert_close(acquire_expected_improvement(0.0, 1.0, 0.5), 0.1978, 5e-5);
    assert_close(acquire_expected_improvement(0.0, 1.0, 1.0), 0.08332, 5e-6);
    assert_close(acquire_expected_improvement(0.0, 1.0, 2.0), 0.008491, 5e-7);
    assert_close(acquire_expected_improvement(1.0, 1.0, 0.0), 1.08332, 5e-6);
}

static void improvement_matches_integration(void **state)
{
    (void)state;
    for (double incumbent = -3.0; incumbent <= 3.0; incumbent += 0.5)
        assert_close(acquire_expected_improvement(0.3, 0.7, incumbent),
                     integrated_improvement(0.3, 0.7, incumbent), 1e-8);
}

static void improvement_without_uncertainty_is_the_gain(void **state)
{
    (void)state;
    assert_close(acquire_expected_improvement(3.0, 0.0, 1.0), 2.0, 0.0);
    assert_close(acquire_expected_improvement(1.0, 0.0, 3.0), 0.0, 0.0);
}

static void improvement_is_never_negative_and_decreases_with_the_incumbent(void **state)
{
    double before = INFINITY;

    (void)state;
    for (double incumbent = -5.0; incumbent < 37.0; incumbent += 0.01) {
        double now = acquire_expected_improvement(0.0, 1.0, incumbent);

        assert_true(now >= 0.0);
        assert_true(now <= before);
        before = now;
    }
    assert_close(acquire_expected_improvement(0.0, 1.0, 60.0), 0.0, 0.0);
}

static void improvement_grows_with_uncertainty(void **state)
{
    double before = 0.0;

    (void)state;
    for (double std = 0.1; std < 5.0; std += 0.1) {
        double now = acquire_expected_improvement(-1.0, std, 0.0);

        assert_true(now > before);
        before = now;
    }
}

static void augmented_without_noise_is_plain(void **state)
{
    (void)state;
    assert_close(acquire_augmented_improvement(1.0, 0.5, 1.2, 0.0),
                 acquire_expected_improvement(1.0, 0.5, 1.2), 0.0);
    assert_close(acquire_augmented_improvement(3.0, 0.0, 1.0, 0.0), 2.0, 0.0);
}

static void augmented_matches_its_definition(void **state)
{
    double plain = acquire_expected_improvement(1.0, 0.3, 1.1);

    (void)state;
    assert_close(acquire_augmented_improvement(1.0, 0.3, 1.1, 0.4), plain * (1.0 - 0.4 / 0.5), 1e-15);
}

static void augmented_does_not_buy_what_is_known(void **state)
{
    (void)state;
    assert_close(acquire_augmented_improvement(3.0, 0.0, 1.0, 0.1), 0.0, 0.0);
    assert_true(acquire_augmented_improvement(1.0, 0.01, 1.0, 0.1) <
                acquire_augmented_improvement(0.9, 0.2, 1.0, 0.1));
}

/* 1 - 1/sqrt(1 + 1e-18) is 0 in doubles; its true value is 5e-19. */
static void augmented_does_not_cancel_for_small_std(void **state)
{
    double plain = acquire_expected_improvement(1.0, 1e-9, 0.0);
    double augmented = acquire_augmented_improvement(1.0, 1e-9, 0.0, 1.0);

    (void)state;
    assert_close(augmented / (plain * 5e-19), 1.0, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(improvement_at_the_incumbent_is_the_normal_density),
        cmocka_unit_test(improvement_matches_known_values),
        cmocka_unit_test(improvement_matches_integration),
        cmocka_unit_test(improvement_without_uncertainty_is_the_gain),
        cmocka_unit_test(improvement_is_never_negative_and_decreases_with_the_incumbent),
        cmocka_unit_test(improvement_grows_with_uncertainty),
        cmocka_unit_test(augmented_without_noise_is_plain),
        cmocka_unit_test(augmented_matches_its_definition),
        cmocka_unit_test(augmented_does_not_buy_what_is_known),
        cmocka_unit_test(augmented_does_not_cancel_for_small_std),
    };

    return cmocka_run_group_tests_name("models/search/acquire", tests, silence_gsl, NULL);
}
