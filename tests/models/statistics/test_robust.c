/* Tests of models/statistics/robust: outliers are seen, cost nothing where there are none, and levels are not
 * outliers. */
#include "models/statistics/robust.h"
#include "models/statistics/student.h"
#include "tests/models/rng.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>

enum { N_POINTS = 40, MAX_RUNS = 20 };

static const struct robust_prior prior = {
    .noise = {.variance = 0.04, .df = 20.0}, .low_share = 0.05, .high_share = 0.005};

static double values[N_POINTS][MAX_RUNS];
static struct robust_sample samples[N_POINTS];

static struct robust_point point_of(const double *sorted, size_t n)
{
    struct robust_point point;

    robust_point_of(&prior, (struct robust_sample){.values = sorted, .n = n}, &point);
    return point;
}

/* Points at 0; every run of the first n_levelled points is lower by `drop` with probability level_share,
 * every run of the others with probability outlier_share. */
static void simulate(size_t n, double std, double drop, double outlier_share, size_t n_levelled,
                     double level_share)
{
    for (size_t i = 0; i < N_POINTS; i++) {
        for (size_t k = 0; k < n; k++) {
            double share = i < n_levelled ? level_share : outlier_share;

            values[i][k] = gsl_ran_gaussian(rng, std) - (gsl_rng_uniform(rng) < share ? drop : 0.0);
        }
        gsl_sort(values[i], 1, n);
        samples[i] = (struct robust_sample){.values = values[i], .n = n};
    }
}

TEST(without_far_runs_it_is_the_plain_mean)
{
    const double sorted[] = {9.7, 9.9, 10.0, 10.05, 10.15};
    struct moments moments = moments_of(sorted, 5);
    struct robust_point point = point_of(sorted, 5);
    double df, variance = noise_variance(&prior.noise, moments.std, 5, &df);

    assert_close(point.location, moments.mean, 1e-12);
    assert_close(point.location_variance, variance / 5.0, 1e-12);
    assert_close(point.df, df, 0.0);
    assert_close(point.std, moments.std, 1e-12);
    assert_int_equal(point.std_df, 4);
    assert_close(point.n_low + point.n_high, 0.0, 0.0);
    assert_false(point.two_levels);
}

TEST(no_runs_leave_the_prior)
{
    struct robust_point point = point_of(NULL, 0);

    assert_close(point.location, 0.0, 0.0);
    assert_close(point.location_variance, 0.04, 0.0);
    assert_close(point.df, 20.0, 0.0);
}

TEST(one_run_is_taken_as_it_is)
{
    const double value = 3.0;
    struct robust_point point = point_of(&value, 1);

    assert_close(point.location, 3.0, 1e-15);
    assert_close(point.location_variance, 0.04, 1e-15);
    assert_int_equal(point.std_df, 0);
}

TEST(one_slow_run_hardly_moves_the_location)
{
    const double sorted[] = {8.9, 9.95, 10.0, 10.05};
    struct robust_point point = point_of(sorted, 4);

    assert_close(point.location, 10.0, 0.02);
    assert_close(point.n_low, 1.0, 0.03);
    assert_close(point.n_high, 0.0, 0.01);
    assert_int_equal(point.std_df, 2);
    assert_close(point.location_variance, 0.04 / 3.0, 0.003);
}

TEST(one_fast_run_is_an_outlier_too)
{
    const double sorted[] = {9.95, 10.0, 10.05, 11.6};
    struct robust_point point = point_of(sorted, 4);

    assert_close(point.location, 10.0, 0.02);
    assert_close(point.n_high, 1.0, 0.02);
}

TEST(of_two_far_runs_the_faster_is_believed_but_not_firmly)
{
    const double sorted[] = {9.0, 10.1};
    struct robust_point point = point_of(sorted, 2);

    assert_in_range(1000 * point.location, 9800, 10050);
    assert_true(point.location_variance > 0.04 + 0.05);
}

TEST(nothing_depends_on_where_zero_is)
{
    const double sorted[] = {8.9, 9.95, 10.0, 10.3}, moved[] = {20.9, 21.95, 22.0, 22.3};
    struct robust_point a = point_of(sorted, 4), b = point_of(moved, 4);

    assert_close(a.location + 12.0, b.location, 1e-9);
    assert_close(a.location_variance, b.location_variance, 1e-9);
}

/* Where points are known to scatter very differently, a far run is less of a surprise. */
TEST(a_loose_prior_is_slow_to_see_outliers)
{
    const double sorted[] = {9.0, 9.95, 10.0};
    struct robust_prior loose = {
        .noise = {.variance = 0.04, .df = 1.0}, .low_share = 0.05, .high_share = 0.005};
    struct robust_point point, firm = point_of(sorted, 3);

    robust_point_of(&loose, (struct robust_sample){.values = sorted, .n = 3}, &point);
    assert_true(firm.n_low > 0.9);
    assert_true(point.n_low < firm.n_low);
    assert_true(point.location_variance > firm.location_variance);
}

TEST(two_levels_are_seen_and_keep_the_mean_of_all)
{
    const double sorted[] = {8.85, 8.9, 8.95, 9.95, 10.0, 10.02, 10.05};
    struct moments moments = moments_of(sorted, 7);
    struct robust_point point = point_of(sorted, 7);

    assert_true(point.two_levels);
    assert_close(point.location, moments.mean, 0.1);
    assert_true(point.location_variance > 0.5 * moments.std * moments.std / 7.0);
    assert_true(point.std < 0.1); /* inside the levels */
}

TEST(two_slow_runs_of_ten_are_outliers_not_a_level)
{
    const double sorted[] = {8.9, 8.92, 9.8, 9.85, 9.9, 9.95, 10.0, 10.05, 10.1, 10.2};
    struct robust_point point = point_of(sorted, 10);

    assert_false(point.two_levels);
    assert_close(point.n_low, 2.0, 0.6);
}

TEST(many_runs_are_no_burden)
{
    enum { MANY = 600, SLOW = 30 };
    double sorted[MANY];
    struct robust_point point;

    gsl_rng_set(rng, 11);
    for (size_t i = 0; i < MANY; i++)
        sorted[i] = gsl_ran_gaussian(rng, 0.1) - (i < SLOW ? 1.0 + 0.02 * (double)i : 0.0);
    gsl_sort(sorted, 1, MANY);
    point = point_of(sorted, MANY);
    assert_close(point.location, 0.0, 0.02);
    assert_close(point.n_low, SLOW, 4.0);
}

/* The pooled scatter is that of ordinary runs, and the shares are found again. */
TEST(outliers_do_not_inflate_the_pooled_scatter)
{
    double variance = 0.0, low_share = 0.0, high_share = 0.0;

    gsl_rng_set(rng, 5);
    for (int round = 0; round < 10; round++) {
        struct robust_prior found;

        simulate(6, 0.1, log(3.0), 0.05, 0, 0.0);
        assert_int_equal(robust_fit(samples, N_POINTS, 1.0, &found), 0);
        variance += found.noise.variance / 10.0;
        low_share += found.low_share / 10.0;
        high_share += found.high_share / 10.0;
    }
    assert_close(sqrt(variance), 0.1, 0.01);
    assert_close(low_share, 0.05, 0.012);
    assert_true(high_share < 0.004);
}

TEST(rough_points_are_not_taken_for_outliers)
{
    struct robust_prior found;
    struct robust_point rough;
    double df;

    gsl_rng_set(rng, 6);
    simulate(6, 0.05, 0.0, 0.0, 0, 0.0);
    for (size_t i = 0; i < 10; i++)
        for (size_t k = 0; k < 6; k++)
            values[i][k] *= 8.0;
    assert_int_equal(robust_fit(samples, N_POINTS, 1.0, &found), 0);
    assert_true(found.noise.df < 10.0);
    robust_point_of(&found, samples[0], &rough);
    assert_true(6.0 * rough.location_variance > 4.0 * noise_variance(&found.noise, 0.05, 6, &df));
}

/* Mean square error of the locations, relative to that of plain means around the same truth. */
static double relative_error(size_t n, double std, double outlier_share, size_t rounds)
{
    double robust = 0.0, plain = 0.0;

    for (size_t round = 0; round < rounds; round++) {
        struct robust_prior found;

        simulate(n, std, log(3.0), outlier_share, 0, 0.0);
        assert_int_equal(robust_fit(samples, N_POINTS, 0.2, &found), 0);
        for (size_t i = 0; i < N_POINTS; i++) {
            struct robust_point point;

            robust_point_of(&found, samples[i], &point);
            robust += gsl_pow_2(point.location);
            plain += gsl_pow_2(moments_of(values[i], n).mean + outlier_share * log(3.0));
        }
    }
    return robust / plain;
}

TEST(clean_runs_lose_less_than_a_twentieth)
{
    static const double stds[] = {0.05, 0.2, 0.47};
    static const size_t replays[] = {2, 3, 5, 10};

    gsl_rng_set(rng, 7);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 4; k++)
            assert_true(relative_error(replays[k], stds[i], 0.0, 40) < 1.05);
}

TEST(among_outliers_errors_shrink)
{
    gsl_rng_set(rng, 8);
    assert_true(relative_error(3, 0.05, 0.05, 40) < 0.7);
    assert_true(relative_error(5, 0.2, 0.05, 40) < 0.75);
    assert_true(relative_error(10, 0.2, 0.05, 40) < 0.7);
}

TEST(intervals_stay_honest_among_outliers)
{
    enum { ROUNDS = 60 };
    size_t n_covered = 0;

    gsl_rng_set(rng, 9);
    for (size_t round = 0; round < ROUNDS; round++) {
        struct robust_prior found;

        simulate(5, 0.2, log(3.0), 0.05, 0, 0.0);
        assert_int_equal(robust_fit(samples, N_POINTS, 0.2, &found), 0);
        for (size_t i = 0; i < N_POINTS; i++) {
            struct robust_point point;

            robust_point_of(&found, samples[i], &point);
            n_covered +=
                fabs(point.location) <= student_quantile(0.975, point.df) * sqrt(point.location_variance);
        }
    }
    assert_in_range(1000 * n_covered / (ROUNDS * N_POINTS), 930, 975);
}

TEST(levels_are_told_from_outliers)
{
    enum { ROUNDS = 20, LEVELLED = 10 };
    size_t n_seen = 0, n_false = 0;

    gsl_rng_set(rng, 10);
    for (size_t round = 0; round < ROUNDS; round++) {
        struct robust_prior found;

        simulate(10, 0.1, log(3.0), 0.03, LEVELLED, 0.4);
        assert_int_equal(robust_fit(samples, N_POINTS, 0.2, &found), 0);
        for (size_t i = 0; i < N_POINTS; i++) {
            struct robust_point point;

            robust_point_of(&found, samples[i], &point);
            *(i < LEVELLED ? &n_seen : &n_false) += point.two_levels;
        }
    }
    assert_true(n_seen > 8 * ROUNDS * LEVELLED / 10);
    assert_true(n_false < ROUNDS * (N_POINTS - LEVELLED) / 40);
}

TEST(without_replays_the_fallback_holds)
{
    struct robust_prior found, expected = robust_prior_default(0.3);

    gsl_rng_set(rng, 12);
    simulate(1, 0.1, 0.0, 0.0, 0, 0.0);
    assert_int_equal(robust_fit(samples, N_POINTS, 0.3, &found), 0);
    assert_close(found.noise.variance, 0.09, 1e-15);
    assert_close(found.low_share, expected.low_share, 0.0);
    assert_int_equal(robust_fit(NULL, 0, 0.3, &found), 0);
    assert_close(found.noise.variance, 0.09, 1e-15);
}

TEST(equal_runs_keep_everything_finite)
{
    struct robust_prior found;
    struct robust_point point;

    simulate(5, 0.0, 0.0, 0.0, 0, 0.0);
    values[3][0] = -1.0;
    assert_int_equal(robust_fit(samples, N_POINTS, 0.3, &found), 0);
    assert_true(found.noise.variance > 0.0);
    robust_point_of(&found, samples[3], &point);
    assert_close(point.location, 0.0, 1e-6);
    assert_close(point.n_low, 1.0, 1e-6);
    assert_true(point.location_variance > 0.0 && isfinite(point.location_variance));
}

TEST(a_single_run_is_weighed_by_its_prediction)
{
    assert_close(robust_single_weight(&prior, 10.0, 10.1, 0.01), 1.0, 0.0);
    assert_true(robust_single_weight(&prior, 8.9, 10.1, 0.01) < 0.01);
    assert_true(robust_single_weight(&prior, 8.9, 10.1, 1.0) > 0.7); /* nobody knows */
    assert_true(robust_single_weight(&prior, 9.4, 10.1, 0.01) <
                robust_single_weight(&prior, 10.8, 10.1, 0.01));
    assert_true(robust_single_weight(&prior, -90.0, 10.1, 0.01) >= 0.0);
}
