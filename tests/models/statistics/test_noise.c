/* Tests of models/statistics/noise: the prior is found again, and shrinking helps. */
#include "models/statistics/noise.h"
#include "models/statistics/student.h"
#include "tests/models/rng.h"

/* Sample stds of points whose true variances scatter as d0 * s0^2 / chi^2(d0) (d0 = 0: all alike). */
static void simulate(double d0, double s0, size_t n_points, size_t replays, double *ret_true_variance,
                     double *ret_std, size_t *ret_n)
{
    for (size_t i = 0; i < n_points; i++) {
        double variance = d0 > 0.0 ? d0 * s0 * s0 / gsl_ran_chisq(rng, d0) : s0 * s0;

        ret_true_variance[i] = variance;
        ret_std[i] = sqrt(variance * gsl_ran_chisq(rng, (double)(replays - 1)) / (double)(replays - 1));
        ret_n[i] = replays;
    }
}

enum { MANY = 20000 };

static double true_variance[MANY], std[MANY];
static size_t n[MANY];

TEST(prior_is_found_again)
{
    static const double d0s[] = {3.0, 8.0, 20.0};

    for (size_t i = 0; i < N_OF(d0s); i++) {
        struct noise_prior prior;

        gsl_rng_set(rng, 100 + i);
        simulate(d0s[i], 0.1, MANY, 9, true_variance, std, n);
        prior = noise_fit(std, n, MANY, 1.0);
        assert_close(prior.df / d0s[i], 1.0, 0.15);
        assert_close(prior.variance / 0.01, 1.0, 0.05);
    }
}

TEST(points_that_scatter_alike_give_a_firm_prior)
{
    struct noise_prior prior;

    gsl_rng_set(rng, 5);
    simulate(0.0, 0.2, MANY, 5, true_variance, std, n);
    prior = noise_fit(std, n, MANY, 1.0);
    assert_true(prior.df >= 50.0);
    assert_close(prior.variance / 0.04, 1.0, 0.05);
}

TEST(shrinking_brings_variances_nearer_to_the_truth)
{
    enum { N_POINTS = 40, REPLAYS = 4 };
    size_t n_better = 0;
    double raw_sum = 0.0, shrunk_sum = 0.0;

    gsl_rng_set(rng, 77);
    for (size_t round = 0; round < 50; round++) {
        struct noise_prior prior;
        double raw = 0.0, shrunk = 0.0;

        simulate(6.0, 0.1, N_POINTS, REPLAYS, true_variance, std, n);
        prior = noise_fit(std, n, N_POINTS, 1.0);
        for (size_t i = 0; i < N_POINTS; i++) {
            double df;

            raw += pow(log(std[i] * std[i] / true_variance[i]), 2);
            shrunk += pow(log(noise_variance(&prior, std[i], n[i], &df) / true_variance[i]), 2);
        }
        n_better += shrunk < raw;
        raw_sum += raw;
        shrunk_sum += shrunk;
    }
    assert_int_equal(n_better, 50);
    assert_true(shrunk_sum < 0.4 * raw_sum);
}

/* Three replays a point, variances of their own: the t interval on the shrunk variance and its df must still
 * cover. */
TEST(shrunk_variance_and_df_give_honest_intervals)
{
    enum { N_POINTS = 50, REPLAYS = 3, ROUNDS = 80 };
    size_t n_covered = 0;

    gsl_rng_set(rng, 4242);
    for (size_t round = 0; round < ROUNDS; round++) {
        struct noise_prior prior;

        simulate(5.0, 0.1, N_POINTS, REPLAYS, true_variance, std, n);
        prior = noise_fit(std, n, N_POINTS, 1.0);
        for (size_t i = 0; i < N_POINTS; i++) {
            double error = gsl_ran_gaussian(rng, sqrt(true_variance[i] / REPLAYS));
            double df, variance = noise_variance(&prior, std[i], n[i], &df);

            n_covered += fabs(error) <= student_quantile(0.975, df) * sqrt(variance / REPLAYS);
        }
    }
    assert_in_range(n_covered, 3740, 3860);
}

TEST(without_replays_the_fallback_holds)
{
    const double stds[] = {0.0, 0.0, 0.0, 0.0};
    const size_t ones[] = {1, 1, 1, 0};
    struct noise_prior prior = noise_fit(stds, ones, 4, 0.3);
    struct noise_prior none = noise_fit(NULL, NULL, 0, 0.3);

    assert_close(prior.variance, 0.09, 1e-15);
    assert_close(prior.df, 1.0, 0.0);
    assert_close(none.variance, 0.09, 1e-15);
    assert_close(none.df, 1.0, 0.0);
    assert_true(noise_fit(NULL, NULL, 0, 0.0).variance > 0.0);
}

TEST(few_points_are_pooled)
{
    const double stds[] = {0.1, 0.2, 0.0};
    const size_t replays[] = {3, 5, 1};
    struct noise_prior one = noise_fit(stds, replays, 1, 1.0);
    struct noise_prior two = noise_fit(stds, replays, 3, 1.0);

    assert_close(one.variance, 0.01, 1e-15);
    assert_close(one.df, 1.0, 0.0);
    assert_close(two.variance, (2 * 0.01 + 4 * 0.04) / 6, 1e-15);
    assert_close(two.df, 1.0, 0.0);
}

/* Points that could not be more alike: the more there are, the firmer the prior. */
TEST(equal_spreads_give_a_firm_prior)
{
    double stds[100];
    size_t replays[100];
    struct noise_prior few, many;

    for (size_t i = 0; i < 100; i++) {
        stds[i] = 0.1;
        replays[i] = 5;
    }
    few = noise_fit(stds, replays, 4, 1.0);
    many = noise_fit(stds, replays, 100, 1.0);
    assert_close(few.variance, 0.01, 0.001);
    assert_true(few.df > 8.0);
    assert_close(many.variance, 0.01, 0.0003);
    assert_true(many.df > 90.0 && many.df <= 100.0);
}

/* Pairs that agree by chance say little: with few replays a point, the pooled scatter must not follow them.
 */
TEST(pairs_give_a_steady_prior)
{
    enum { N_POINTS = 13, ROUNDS = 200 };
    size_t n_far = 0;

    gsl_rng_set(rng, 31);
    for (size_t round = 0; round < ROUNDS; round++) {
        struct noise_prior prior;

        simulate(0.0, 0.1, N_POINTS, 2, true_variance, std, n);
        prior = noise_fit(std, n, N_POINTS, 1.0);
        n_far += prior.variance < 0.01 * 0.3 || prior.variance > 0.01 * 2.0;
    }
    assert_true(n_far < ROUNDS / 20);
}

TEST(zero_spread_keeps_the_variance_positive)
{
    const double stds[] = {0.0, 0.0, 0.0, 0.0, 0.0};
    const size_t replays[] = {3, 4, 5, 3, 2};
    double df, variance;

    for (size_t n_points = 1; n_points <= 5; n_points++) {
        struct noise_prior prior = noise_fit(stds, replays, n_points, 1.0);

        assert_true(prior.variance > 0.0 && prior.variance < 1e-12);
        assert_true(prior.df >= 1.0 && prior.df <= 100.0);
        variance = noise_variance(&prior, 0.0, 5, &df);
        assert_true(variance > 0.0);
    }
}

TEST(one_lucky_point_does_not_ruin_the_prior)
{
    const double stds[] = {0.10, 0.12, 0.09, 0.11, 0.10, 0.13, 0.08, 0.10, 0.11, 0.0};
    const size_t replays[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    struct noise_prior prior = noise_fit(stds, replays, 10, 1.0);
    double df, variance = noise_variance(&prior, 0.0, 5, &df);

    assert_true(prior.variance > 0.0005);
    assert_true(variance > 1e-5);
}

TEST(wild_spreads_keep_df_in_range)
{
    const double stds[] = {1e-6, 1e-3, 1.0, 30.0, 1e-5};
    const size_t replays[] = {5, 5, 5, 5, 5};
    struct noise_prior prior = noise_fit(stds, replays, 5, 1.0);

    assert_close(prior.df, 1.0, 0.001);
    assert_true(isfinite(prior.variance) && prior.variance > 0.0);
}

TEST(posterior_is_the_weighted_mean)
{
    struct noise_prior prior = {.variance = 0.04, .df = 6.0};
    double df;

    assert_close(noise_variance(&prior, 0.1, 5, &df), (6 * 0.04 + 4 * 0.01) / 10, 1e-15);
    assert_close(df, 10.0, 0.0);
    assert_close(noise_variance(&prior, 0.0, 1, &df), 0.04, 1e-15);
    assert_close(df, 6.0, 0.0);
    assert_close(noise_variance(&prior, 0.0, 0, &df), 0.04, 1e-15);
    assert_close(df, 6.0, 0.0);
}
