/* Tests of models/nights. */
#include "models/nights.h"
#include "tests/check.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

static const struct nights_rule strict = {
    .tolerance_share = 0.03, .nights_needed = 2, .confidence_share = 0.95};

static struct nights_estimate night(double ratio, double std)
{
    return (struct nights_estimate){.log_mean = log(ratio), .variance = std * std, .df = 40};
}

static enum nights_decision decide(const struct nights_rule *rule, double first, double second, double std)
{
    struct nights_estimate nights[] = {night(first, std), night(second, std)};
    struct nights_pooled pooled;
    return nights_decide(rule, nights, 2, 0, &pooled);
}

static void one_night_pools_to_itself(void **state)
{
    (void)state;
    struct nights_estimate nights[] = {night(1.1, 0.02)};
    struct nights_pooled pooled;
    assert_int_equal(nights_pool(nights, 1, 0, 0.95, &pooled), 0);
    assert_close(pooled.log_mean, log(1.1), 1e-12);
    assert_close(pooled.standard_error, 0.02, 1e-12);
    assert_close(pooled.interval.high - pooled.log_mean, 0.02 * student_quantile(0.975, 40), 1e-9);
}

/* Variances v_i + tau^2 are 0.0004 and 0.0009. */
static void nights_pool_by_inverse_variance(void **state)
{
    (void)state;
    struct nights_estimate nights[] = {night(1.10, sqrt(0.0003)), night(1.11, sqrt(0.0008))};
    struct nights_pooled pooled;
    assert_int_equal(nights_pool(nights, 2, 0, 0.95, &pooled), 0);
    assert_close(pooled.between_variance, NIGHTS_LEAST_STD * NIGHTS_LEAST_STD, 1e-15);
    assert_close(pooled.log_mean, (9 * log(1.10) + 4 * log(1.11)) / 13, 1e-9);
    assert_close(pooled.standard_error, 1 / sqrt(1 / 0.0004 + 1 / 0.0009), 1e-9);
}

/* Their one difference has a single degree of freedom. */
static void two_nights_that_disagree_say_nothing_about_other_nights(void **state)
{
    (void)state;
    struct nights_estimate nights[] = {night(1.0, 0.01), night(exp(0.1), 0.01)};
    struct nights_pooled pooled;
    assert_close(nights_between_variance(nights, 2), 0, 1e-15);
    assert_int_equal(nights_pool(nights, 2, 0, 0.95, &pooled), 0);
    assert_close(pooled.standard_error, 0.01, 1e-9);
}

/* By hand, equal variances v: tau^2 = s^2 - v, with s the nights' standard deviation. */
static void three_nights_that_disagree_have_a_variance_of_their_own(void **state)
{
    (void)state;
    struct nights_estimate nights[] = {night(1.0, 0.01), night(exp(0.1), 0.01), night(exp(0.2), 0.01)};
    struct nights_pooled pooled;
    assert_close(nights_between_variance(nights, 3), 0.01 - 0.0001, 1e-9);
    assert_int_equal(nights_pool(nights, 3, 0, 0.95, &pooled), 0);
    assert_close(pooled.standard_error, 0.1 / sqrt(3), 1e-6);
}

static void the_floor_widens_an_interval(void **state)
{
    (void)state;
    struct nights_estimate nights[] = {night(1.1, 0.01), night(1.1, 0.01)};
    struct nights_pooled narrow, wide;
    assert_int_equal(nights_pool(nights, 2, 0, 0.95, &narrow), 0);
    assert_int_equal(nights_pool(nights, 2, 0.0009, 0.95, &wide), 0);
    assert_close(wide.standard_error, sqrt(0.001 / 2), 1e-9);
    assert_true(wide.interval.low < narrow.interval.low);
}

static void no_night_is_enodata(void **state)
{
    (void)state;
    struct nights_estimate bad = {.log_mean = NAN, .variance = 1, .df = 1};
    struct nights_pooled pooled;
    struct nights_expected expected;
    assert_int_equal(nights_pool(NULL, 0, 0, 0.95, &pooled), -ENODATA);
    assert_int_equal(nights_pool(&bad, 1, 0, 0.95, &pooled), -ENODATA);
    assert_int_equal(nights_expect(NULL, 0, 0, 0.95, &expected), -ENODATA);
}

static void a_single_replay_has_no_ratio(void **state)
{
    (void)state;
    struct nights_estimate ratio = nights_difference((struct moments){1, 2, 0}, (struct moments){5, 1, 0.1});
    struct nights_pooled pooled;
    assert_int_equal(nights_pool(&ratio, 1, 0, 0.95, &pooled), -ENODATA);
}

static void a_change_needs_two_nights(void **state)
{
    (void)state;
    struct nights_estimate nights[] = {night(1.5, 0.01)};
    struct nights_pooled pooled;
    assert_int_equal(nights_decide(&strict, nights, 1, 0, &pooled), NIGHTS_PENDING);
    assert_int_equal(decide(&strict, 1.5, 1.5, 0.01), NIGHTS_CHANGE);
}

static void each_night_must_exceed_the_tolerance(void **state)
{
    (void)state;
    assert_int_equal(decide(&strict, 1.5, 1.02, 0.001), NIGHTS_NO);
    assert_int_equal(decide(&strict, 1.02, 1.5, 0.001), NIGHTS_PENDING);
}

static void the_pooled_interval_must_exceed_it_too(void **state)
{
    (void)state;
    struct nights_rule lenient = strict;
    lenient.lenient = true;
    assert_int_equal(decide(&strict, 1.06, 1.06, 0.045), NIGHTS_PENDING);
    assert_int_equal(decide(&lenient, 1.06, 1.06, 0.045), NIGHTS_PENDING);
    assert_int_equal(decide(&strict, 1.06, 1.06, 0.025), NIGHTS_PENDING);
    assert_int_equal(decide(&lenient, 1.06, 1.06, 0.025), NIGHTS_CHANGE);
    assert_int_equal(decide(&strict, 1.06, 1.06, 0.01), NIGHTS_CHANGE);
}

static void a_night_below_the_tolerance_ends_the_row(void **state)
{
    (void)state;
    struct nights_estimate nights[] = {night(1.5, 0.01), night(0.9, 0.01), night(1.1, 0.01)};
    struct nights_pooled pooled;
    assert_int_equal(nights_row_above(nights, 3, 0.03), 1);
    assert_int_equal(nights_decide(&strict, nights, 3, 0, &pooled), NIGHTS_PENDING);
    assert_int_equal(pooled.n, 1);
}

/* A setting that is better by just the tolerance: at most 2.5 % of pairs of nights say change. */
static void at_the_tolerance_changes_are_rare(void **state)
{
    (void)state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t n_changes = 0;
    gsl_rng_set(rng, 1);
    for (size_t i = 0; i < 20000; i++) {
        double first = 1.03 * exp(gsl_ran_gaussian(rng, 0.02));
        double second = 1.03 * exp(gsl_ran_gaussian(rng, 0.02));
        n_changes += decide(&strict, first, second, 0.02) == NIGHTS_CHANGE;
    }
    gsl_rng_free(rng);
    assert_true(n_changes <= 500 && n_changes > 50);
}

static void expectation_needs_three_nights(void **state)
{
    (void)state;
    struct nights_estimate nights[] = {night(1e9, 0.01), night(1.02e9, 0.01), night(0.98e9, 0.01)};
    struct nights_expected expected;
    assert_int_equal(nights_expect(nights, 2, 0.0001, 0.95, &expected), 0);
    assert_true(isnan(expected.interval.low));
    assert_false(nights_is_down(&expected, log(0.1e9), 0.1));
    assert_int_equal(nights_expect(nights, 3, 0.0001, 0.95, &expected), 0);
    assert_close(expected.log_mean, (log(1e9) + log(1.02e9) + log(0.98e9)) / 3, 1e-9);
    assert_true(nights_is_down(&expected, log(0.5e9), 0.1));
}

static void a_small_or_ordinary_loss_is_no_alarm(void **state)
{
    (void)state;
    struct nights_estimate calm[] = {night(1e9, 0.001), night(1e9, 0.001), night(1e9, 0.001)};
    struct nights_estimate wild[] = {night(1e9, 0.001), night(1.5e9, 0.001), night(0.6e9, 0.001)};
    struct nights_expected expected;
    assert_int_equal(nights_expect(calm, 3, 1e-6, 0.95, &expected), 0);
    assert_false(nights_is_down(&expected, log(0.92e9), 0.1));
    assert_true(nights_is_down(&expected, log(0.88e9), 0.1));
    assert_int_equal(nights_expect(wild, 3, 1e-6, 0.95, &expected), 0);
    assert_false(nights_is_down(&expected, log(0.7e9), 0.1));
}

/* Nights that agree by chance say nothing below what one of them can tell. */
static void expected_scatter_is_never_below_that_of_the_replays(void **state)
{
    (void)state;
    struct nights_estimate nights[] = {night(1e9, 0.05), night(1e9, 0.05), night(1e9, 0.05)};
    struct nights_expected expected;
    assert_int_equal(nights_expect(nights, 3, 0, 0.95, &expected), 0);
    assert_close(expected.std, 0.05, 1e-9);
}

/* First alarm of a machine that loses a share every night; 0: none. */
static size_t first_alarm(gsl_rng *rng, double loss, double std, size_t n_nights)
{
    struct nights_estimate nights[60];
    for (size_t n = 0; n < n_nights; n++) {
        struct nights_expected held;
        double newest;
        nights[n] = night(1e9, 0.005);
        nights[n].log_mean += (double)n * log1p(-loss) + gsl_ran_gaussian(rng, std);
        if (nights_expect_held(nights, n + 1, 0.95, &held, &newest) == 0 &&
            nights_is_down(&held, newest, 0.1))
            return n + 1;
    }
    return 0;
}

static void a_slow_drift_is_an_alarm(void **state)
{
    (void)state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 1);
    for (size_t i = 0; i < 200; i++) {
        size_t fast = first_alarm(rng, 0.02, 0.02, 60), slow = first_alarm(rng, 0.004, 0.02, 60);
        assert_true(fast >= NIGHTS_ANCHOR + NIGHTS_NEWEST && fast <= 14);
        assert_true(slow >= 12 && slow <= 50);
    }
    gsl_rng_free(rng);
}

/* 200 machines of 60 nights each: not 1 in 100 nights. */
static void nights_without_a_drift_hardly_alarm(void **state)
{
    (void)state;
    static const double stds[] = {0.02, 0.03, 0.05};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 1);
    for (size_t k = 0; k < 3; k++) {
        size_t n_alarms = 0;
        for (size_t i = 0; i < 200; i++)
            n_alarms += first_alarm(rng, 0, stds[k], 60) > 0;
        assert_true(n_alarms <= (k < 2 ? 2 : 60));
    }
    gsl_rng_free(rng);
}

static void the_best_level_that_was_held_is_the_anchor(void **state)
{
    (void)state;
    struct nights_estimate nights[12];
    struct nights_expected held;
    double newest;
    for (size_t i = 0; i < 12; i++)
        nights[i] = night(i < 2 ? 0.9e9 : i < 8 ? 1e9 : i == 8 ? 2e9 : 0.8e9, 0.01);
    assert_int_equal(nights_expect_held(nights, 7, 0.95, &held, &newest), -ENODATA);
    assert_int_equal(nights_expect_held(nights, 8, 0.95, &held, &newest), 0);
    assert_close(held.log_mean, (2 * log(0.9e9) + 3 * log(1e9)) / 5, 1e-9);
    assert_close(newest, log(1e9), 1e-9);
    /* A single fast night is no level. */
    assert_int_equal(nights_expect_held(nights, 11, 0.95, &held, &newest), 0);
    assert_close(held.log_mean, log(1e9), 1e-9);
    assert_close(newest, (log(2e9) + 2 * log(0.8e9)) / 3, 1e-9);
}

static void behind_needs_estimate_and_interval(void **state)
{
    (void)state;
    struct nights_pooled pooled;
    struct nights_estimate sure = night(1.15, 0.02), vague = night(1.15, 0.08), small = night(1.08, 0.001);
    assert_int_equal(nights_pool(&sure, 1, 0, 0.95, &pooled), 0);
    assert_true(nights_is_behind(&strict, &pooled, 0.1));
    assert_int_equal(nights_pool(&vague, 1, 0, 0.95, &pooled), 0);
    assert_false(nights_is_behind(&strict, &pooled, 0.1));
    assert_int_equal(nights_pool(&small, 1, 0, 0.95, &pooled), 0);
    assert_false(nights_is_behind(&strict, &pooled, 0.1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_night_pools_to_itself),
        cmocka_unit_test(nights_pool_by_inverse_variance),
        cmocka_unit_test(two_nights_that_disagree_say_nothing_about_other_nights),
        cmocka_unit_test(three_nights_that_disagree_have_a_variance_of_their_own),
        cmocka_unit_test(the_floor_widens_an_interval),
        cmocka_unit_test(no_night_is_enodata),
        cmocka_unit_test(a_single_replay_has_no_ratio),
        cmocka_unit_test(a_change_needs_two_nights),
        cmocka_unit_test(each_night_must_exceed_the_tolerance),
        cmocka_unit_test(the_pooled_interval_must_exceed_it_too),
        cmocka_unit_test(a_night_below_the_tolerance_ends_the_row),
        cmocka_unit_test(at_the_tolerance_changes_are_rare),
        cmocka_unit_test(expectation_needs_three_nights),
        cmocka_unit_test(a_small_or_ordinary_loss_is_no_alarm),
        cmocka_unit_test(expected_scatter_is_never_below_that_of_the_replays),
        cmocka_unit_test(a_slow_drift_is_an_alarm),
        cmocka_unit_test(nights_without_a_drift_hardly_alarm),
        cmocka_unit_test(the_best_level_that_was_held_is_the_anchor),
        cmocka_unit_test(behind_needs_estimate_and_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
