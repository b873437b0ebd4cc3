/* Tests of models/search/acquire against closed values and numerical integration. */
#include "models/search/acquire.h"
#include "tests/models/rng.h"

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

TEST(improvement_at_the_incumbent_is_the_normal_density)
{
    assert_close(acquire_expected_improvement(1.0, 1.0, 1.0), 1.0 / sqrt(2.0 * M_PI), 1e-15);
    assert_close(acquire_expected_improvement(1.0, 0.2, 1.0), 0.2 / sqrt(2.0 * M_PI), 1e-15);
}

TEST(improvement_matches_known_values)
{
    /* The unit normal loss function, tabulated: L(0.5) = 0.1978, L(1) = 0.08332, L(2) = 0.008491. */
    assert_close(acquire_expected_improvement(0.0, 1.0, 0.5), 0.1978, 5e-5);
    assert_close(acquire_expected_improvement(0.0, 1.0, 1.0), 0.08332, 5e-6);
    assert_close(acquire_expected_improvement(0.0, 1.0, 2.0), 0.008491, 5e-7);
    assert_close(acquire_expected_improvement(1.0, 1.0, 0.0), 1.08332, 5e-6);
}

TEST(improvement_matches_integration)
{
    for (double incumbent = -3.0; incumbent <= 3.0; incumbent += 0.5)
        assert_close(acquire_expected_improvement(0.3, 0.7, incumbent),
                     integrated_improvement(0.3, 0.7, incumbent), 1e-8);
}

TEST(improvement_without_uncertainty_is_the_gain)
{
    assert_close(acquire_expected_improvement(3.0, 0.0, 1.0), 2.0, 0.0);
    assert_close(acquire_expected_improvement(1.0, 0.0, 3.0), 0.0, 0.0);
}

TEST(improvement_is_never_negative_and_decreases_with_the_incumbent)
{
    double before = INFINITY;

    for (double incumbent = -5.0; incumbent < 37.0; incumbent += 0.01) {
        double now = acquire_expected_improvement(0.0, 1.0, incumbent);

        assert_true(now >= 0.0);
        assert_true(now <= before);
        before = now;
    }
    assert_close(acquire_expected_improvement(0.0, 1.0, 60.0), 0.0, 0.0);
}

TEST(improvement_grows_with_uncertainty)
{
    double before = 0.0;

    for (double std = 0.1; std < 5.0; std += 0.1) {
        double now = acquire_expected_improvement(-1.0, std, 0.0);

        assert_true(now > before);
        before = now;
    }
}

TEST(augmented_without_noise_is_plain)
{
    assert_close(acquire_augmented_improvement(1.0, 0.5, 1.2, 0.0),
                 acquire_expected_improvement(1.0, 0.5, 1.2), 0.0);
    assert_close(acquire_augmented_improvement(3.0, 0.0, 1.0, 0.0), 2.0, 0.0);
}

TEST(augmented_matches_its_definition)
{
    double plain = acquire_expected_improvement(1.0, 0.3, 1.1);

    assert_close(acquire_augmented_improvement(1.0, 0.3, 1.1, 0.4), plain * (1.0 - 0.4 / 0.5), 1e-15);
}

TEST(augmented_does_not_buy_what_is_known)
{
    assert_close(acquire_augmented_improvement(3.0, 0.0, 1.0, 0.1), 0.0, 0.0);
    assert_true(acquire_augmented_improvement(1.0, 0.01, 1.0, 0.1) <
                acquire_augmented_improvement(0.9, 0.2, 1.0, 0.1));
}

/* 1 - 1/sqrt(1 + 1e-18) is 0 in doubles; its true value is 5e-19. */
TEST(augmented_does_not_cancel_for_small_std)
{
    double plain = acquire_expected_improvement(1.0, 1e-9, 0.0);
    double augmented = acquire_augmented_improvement(1.0, 1e-9, 0.0, 1.0);

    assert_close(augmented / (plain * 5e-19), 1.0, 1e-9);
}
