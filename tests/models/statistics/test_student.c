/* Tests of models/statistics/student against published tables, a textbook sample and simulated coverage. */
#include "models/statistics/student.h"
#include "tests/models/rng.h"

#include <float.h>

/* "Student" 1908: additional hours of sleep under two drugs. */
static const double drug_1[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double drug_2[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

TEST(moments_of_a_known_sample)
{
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct moments moments = moments_of(values, N_OF(values));

    assert_int_equal(moments.n, 8);
    assert_close(moments.mean, 5.0, 1e-15);
    assert_close(moments.std, sqrt(32.0 / 7.0), 1e-15);
}

TEST(moments_of_nothing_and_of_one_value)
{
    const double value = 3.5;
    struct moments none = moments_of(NULL, 0);
    struct moments one = moments_of(&value, 1);

    assert_int_equal(none.n, 0);
    assert_close(none.mean, 0.0, 0.0);
    assert_close(none.std, 0.0, 0.0);
    assert_int_equal(one.n, 1);
    assert_close(one.mean, 3.5, 0.0);
    assert_close(one.std, 0.0, 0.0);
}

TEST(constant_sample_has_exactly_no_spread)
{
    const double values[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    struct moments moments = moments_of(values, N_OF(values));

    assert_close(moments.mean, 0.1, 0.0);
    assert_close(moments.std, 0.0, 0.0);
}

TEST(spread_survives_a_large_mean)
{
    const double values[] = {1e12 + 4, 1e12 + 7, 1e12 + 13, 1e12 + 16};

    assert_close(moments_of(values, N_OF(values)).std, sqrt(30.0), 1e-9);
}

TEST(moments_of_logs_are_of_natural_logs)
{
    const double values[] = {1.0, M_E, M_E * M_E};
    struct moments moments = moments_of_logs(values, N_OF(values));

    assert_int_equal(moments.n, 3);
    assert_close(moments.mean, 1.0, 1e-15);
    assert_close(moments.std, 1.0, 1e-15);
}

TEST(quantiles_match_the_published_table)
{
    static const struct {
        double df, p_95, p_975, p_995;
    } table[] = {
        {1, 6.314, 12.706, 63.657}, {2, 2.920, 4.303, 9.925},  {3, 2.353, 3.182, 5.841},
        {4, 2.132, 2.776, 4.604},   {9, 1.833, 2.262, 3.250},  {10, 1.812, 2.228, 3.169},
        {29, 1.699, 2.045, 2.756},  {60, 1.671, 2.000, 2.660}, {120, 1.658, 1.980, 2.617},
    };

    for (size_t i = 0; i < N_OF(table); i++) {
        assert_close(student_quantile(0.95, table[i].df), table[i].p_95, 5e-4);
        assert_close(student_quantile(0.975, table[i].df), table[i].p_975, 5e-4);
        assert_close(student_quantile(0.995, table[i].df), table[i].p_995, 5e-4);
        assert_close(student_quantile(0.005, table[i].df), -table[i].p_995, 5e-4);
        assert_close(student_quantile(0.5, table[i].df), 0.0, 1e-12);
    }
}

/* df 1 is Cauchy's distribution, df 2 has a closed form; a huge df is the normal distribution. */
TEST(quantiles_match_closed_forms)
{
    for (double p = 0.01; p < 0.995; p += 0.01) {
        assert_close(student_quantile(p, 1), tan(M_PI * (p - 0.5)), 1e-9);
        assert_close(student_quantile(p, 2), (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-9);
    }
    assert_close(student_quantile(0.975, 1e9), 1.959963985, 1e-6);
}

TEST(cdf_inverts_the_quantile_at_fractional_df)
{
    static const double dfs[] = {0.5, 1.1, 2.5, 4.7, 17.776, 64.2, 333.3, 1e6};

    for (size_t i = 0; i < N_OF(dfs); i++) {
        for (double p = 0.0005; p < 1.0; p += 0.0111)
            assert_close(student_cdf(student_quantile(p, dfs[i]), dfs[i]), p, 1e-8);
    }
    assert_close(student_cdf(INFINITY, 4), 1.0, 0.0);
    assert_close(student_cdf(-INFINITY, 4), 0.0, 0.0);
}

TEST(quantile_outside_its_domain_is_nan)
{
    assert_true(isnan(student_quantile(0.0, 4)));
    assert_true(isnan(student_quantile(1.0, 4)));
    assert_true(isnan(student_quantile(-0.1, 4)));
    assert_true(isnan(student_quantile(NAN, 4)));
    assert_true(isnan(student_quantile(0.9, 0)));
    assert_true(isnan(student_quantile(0.9, -1)));
    assert_true(isnan(student_quantile(0.9, NAN)));
    assert_true(isnan(student_quantile(0.9, INFINITY)));
    assert_true(isnan(student_cdf(NAN, 4)));
    assert_true(isnan(student_cdf(1.0, 0)));
}

TEST(interval_matches_a_worked_example)
{
    struct moments moments = {.n = 5, .mean = 10.0, .std = 2.0};
    struct interval interval = student_interval(moments, 0.95);

    assert_close(interval.low, 10.0 - 2.776445 * 2.0 / sqrt(5.0), 1e-6);
    assert_close(interval.high, 10.0 + 2.776445 * 2.0 / sqrt(5.0), 1e-6);
}

TEST(interval_needs_three_values_and_a_possible_confidence)
{
    struct moments two = {.n = 2, .mean = 10.0, .std = 2.0};
    struct moments three = {.n = 3, .mean = 10.0, .std = 2.0};

    assert_true(isnan(student_interval(two, 0.95).low));
    assert_true(isnan(student_interval(two, 0.95).high));
    assert_close(student_interval(three, 0.95).high, 10.0 + 4.302653 * 2.0 / sqrt(3.0), 1e-6);
    assert_true(isnan(student_interval(three, 1.0).low));
}

TEST(interval_covers_as_often_as_it_says)
{
    enum { N_SAMPLES = 4000, N = 5 };
    size_t n_covered = 0;

    gsl_rng_set(rng, 20210);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        double values[N];
        struct interval interval;

        for (size_t j = 0; j < N; j++)
            values[j] = 7.0 + gsl_ran_gaussian(rng, 3.0);
        interval = student_interval(moments_of(values, N), 0.95);
        n_covered += interval.low <= 7.0 && 7.0 <= interval.high;
    }
    assert_in_range(n_covered, 3740, 3860);
}

TEST(welch_matches_the_sleep_data)
{
    struct welch welch = welch_of(moments_of(drug_1, N_OF(drug_1)), moments_of(drug_2, N_OF(drug_2)));
    struct interval interval = welch_interval(welch, 0.95);
    double t = welch.difference / welch.standard_error;

    assert_close(welch.difference, -1.58, 1e-12);
    assert_close(t, -1.8608, 5e-5);
    assert_close(welch.df, 17.776, 5e-4);
    assert_close(2.0 * student_cdf(t, welch.df), 0.07939, 5e-6);
    assert_close(interval.low, -3.3654832, 5e-8);
    assert_close(interval.high, 0.2054832, 5e-8);
}

TEST(one_sided_bounds_are_the_ends_of_the_wider_interval)
{
    struct welch welch = welch_of(moments_of(drug_1, N_OF(drug_1)), moments_of(drug_2, N_OF(drug_2)));

    assert_close(welch_lower(welch, 0.975), -3.3654832, 5e-8);
    assert_close(welch_upper(welch, 0.975), 0.2054832, 5e-8);
    assert_true(welch_lower(welch, 0.95) > welch_lower(welch, 0.975));
}

TEST(welch_needs_two_values_on_both_sides)
{
    struct moments one = {.n = 1, .mean = 3.0, .std = 0.0};
    struct moments five = {.n = 5, .mean = 1.0, .std = 1.0};
    struct welch welch = welch_of(one, five);

    assert_close(welch.difference, 2.0, 0.0);
    assert_close(welch.df, 0.0, 0.0);
    assert_close(welch_of(five, one).df, 0.0, 0.0);
    assert_true(isnan(welch_interval(welch, 0.95).low));
    assert_true(isnan(welch_lower(welch, 0.95)));
    assert_true(isnan(welch_upper(welch, 0.95)));
}

TEST(welch_df_survives_tiny_variances)
{
    struct moments a = {.n = 5, .mean = 0.0, .std = 1e-100};
    struct moments b = {.n = 5, .mean = 0.0, .std = 1e-100};

    assert_close(welch_of(a, b).df, 8.0, 1e-9);
}

TEST(welch_without_spread_is_the_difference_itself)
{
    struct moments a = {.n = 3, .mean = 2.0, .std = 0.0};
    struct moments b = {.n = 4, .mean = 1.0, .std = 0.0};
    struct interval interval = welch_interval(welch_of(a, b), 0.95);

    assert_close(welch_of(a, b).df, 5.0, 0.0);
    assert_close(interval.low, 1.0, 0.0);
    assert_close(interval.high, 1.0, 0.0);
}

/* One side that does not scatter leaves the degrees of freedom of the other. */
TEST(welch_df_follows_the_noisy_side)
{
    struct welch welch = welch_from_variances(1.0, 0.25, 7.0, 0.0, 3.0);

    assert_close(welch.df, 7.0, 1e-12);
    assert_close(welch.standard_error, 0.5, 1e-15);
}

TEST(median_is_the_middle)
{
    double odd[] = {9, 1, 5};
    double even[] = {4, 1, 3, 2};
    double huge[] = {DBL_MAX, DBL_MAX};

    assert_close(median_of(odd, 3), 5.0, 0.0);
    assert_close(median_of(even, 4), 2.5, 0.0);
    assert_close(median_of(huge, 2), DBL_MAX, 0.0);
    assert_close(median_of(NULL, 0), 0.0, 0.0);
}
