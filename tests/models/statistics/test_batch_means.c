/* Tests of models/statistics/batch_means. How often its intervals hold the truth:
 * tests/tuner/commands/test_coverage.c. */
#include "models/statistics/batch_means.h"
#include "tests/models/rng.h"

#include <errno.h>

#define LENGTH 1000

static double series[LENGTH];

/* First-order autoregression around 100 with standard deviation 5. */
static void fill(double rho, unsigned long seed)
{
    gsl_rng_set(rng, seed);
    double z = gsl_ran_gaussian(rng, 1);
    for (size_t i = 0; i < LENGTH; i++) {
        series[i] = 100 + 5 * z;
        z = rho * z + sqrt(1 - rho * rho) * gsl_ran_gaussian(rng, 1);
    }
}

static struct batch_means batch_means(size_t n)
{
    struct batch_means result;
    assert_int_equal(batch_means_of(series, n, 0.95, &result), 0);
    return result;
}

static double half_width(struct batch_means result)
{
    return (result.interval.high - result.interval.low) / 2;
}

TEST(independent_values_stay_single)
{
    fill(0, 1);
    struct batch_means result = batch_means(LENGTH);
    assert_int_equal(result.batch_size, 1);
    assert_int_equal(result.n_batches, LENGTH);
    assert_int_equal(result.n_cut, 0);
    assert_close(result.mean, moments_of(series, LENGTH).mean, 1e-12);
    assert_close(half_width(result), 1.96 * 5 / sqrt(LENGTH), 0.05);
}

TEST(correlated_values_are_batched_and_widen_the_interval)
{
    fill(0.9, 2);
    struct batch_means result = batch_means(LENGTH);
    assert_true(result.batch_size > 5 && result.n_batches >= BATCH_MEANS_BATCHES);
    assert_true(result.n_effective >= BATCH_MEANS_LEAST && result.n_effective <= (double)result.n_batches);
    /* The standard error is sqrt(19) times that of independent values. */
    assert_true(half_width(result) > 2.5 * 1.96 * 5 / sqrt(LENGTH));
}

TEST(a_warmup_is_left_out)
{
    fill(0, 3);
    for (size_t i = 0; i < LENGTH; i++)
        series[i] *= 1 + exp(-3.0 * (double)i / 100);
    struct batch_means result = batch_means(LENGTH);
    assert_true(result.n_cut >= 100 && result.n_cut <= LENGTH / 2);
    assert_true(result.interval.low < 100 && result.interval.high > 100);
}

TEST(a_warmup_without_end_has_no_interval)
{
    fill(0, 4);
    for (size_t i = 0; i < LENGTH; i++)
        series[i] += (double)i;
    assert_true(isnan(batch_means(LENGTH).interval.low));
}

TEST(a_random_walk_has_no_interval)
{
    gsl_rng_set(rng, 5);
    for (size_t i = 0; i < LENGTH; i++)
        series[i] = (i > 0 ? series[i - 1] : 1000) + gsl_ran_gaussian(rng, 1);
    struct batch_means result = batch_means(LENGTH);
    assert_true(isnan(result.interval.low) && isnan(result.interval.high));
    assert_true(isfinite(result.mean));
}

TEST(equal_values_are_known_exactly)
{
    for (size_t i = 0; i < LENGTH; i++)
        series[i] = 7e9;
    struct batch_means result = batch_means(LENGTH);
    assert_close(result.interval.low, 7e9, 0);
    assert_close(result.interval.high, 7e9, 0);
    assert_close(result.lag1, 0, 0);
}

TEST(twenty_values_are_the_least)
{
    fill(0, 5);
    for (size_t n = 1; n < 20; n++) {
        struct batch_means result = batch_means(n);
        assert_true(isnan(result.interval.low));
        assert_close(result.mean, moments_of(series, n).mean, 1e-12);
    }
    assert_true(isfinite(batch_means(20).interval.low));
}

TEST(the_unit_does_not_matter)
{
    fill(0.5, 6);
    struct batch_means before = batch_means(LENGTH);
    for (size_t i = 0; i < LENGTH; i++)
        series[i] *= 1e9;
    struct batch_means after = batch_means(LENGTH);
    assert_int_equal(before.n_batches, after.n_batches);
    assert_close(after.interval.low / 1e9, before.interval.low, 1e-6);
    assert_close(after.interval.high / 1e9, before.interval.high, 1e-6);
}

TEST(what_cannot_be_judged_is_refused)
{
    struct batch_means result = {.mean = 3};
    fill(0, 7);
    assert_int_equal(batch_means_of(series, 0, 0.95, &result), -EINVAL);
    assert_int_equal(batch_means_of(series, 50, 1, &result), -EINVAL);
    assert_int_equal(batch_means_of(series, 50, NAN, &result), -EINVAL);
    series[3] = INFINITY;
    assert_int_equal(batch_means_of(series, 50, 0.95, &result), -EINVAL);
    assert_close(result.mean, 3, 0);
}
