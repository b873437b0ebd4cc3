/* Tests of bench/base/histogram: accuracy over the whole range, merging, and refusals. */
#include "bench/base/histogram.h"
#include "bench/base/rng.h"
#include "tests/test.h"

#include <errno.h>

static struct histogram a, b, c;

FIXTURE(setup)
{
    histogram_init(&a);
    histogram_init(&b);
    histogram_init(&c);
    return 0;
}

EACH_TEST(setup, NULL);

static uint64_t quantile(const struct histogram *histogram, double share)
{
    uint64_t ns = UINT64_MAX;
    assert_int_equal(histogram_quantile_ns(histogram, share, &ns), 0);
    return ns;
}

TEST(quantile_of_empty_is_enodata)
{
    uint64_t ns = 7;
    double mean = 7;
    assert_int_equal(histogram_quantile_ns(&a, 0.5, &ns), -ENODATA);
    assert_int_equal(histogram_mean_ns(&a, &mean), -ENODATA);
    assert_int_equal(ns, 7);
    assert_close(mean, 7, 0);
}

TEST(shares_outside_0_to_1_are_einval)
{
    const double wrong[] = {NAN, -0.001, 1.001, INFINITY, -INFINITY};
    uint64_t ns = 7;
    histogram_add(&a, 100, 1);
    for (size_t i = 0; i < N_OF(wrong); i++) {
        assert_int_equal(histogram_quantile_ns(&a, wrong[i], &ns), -EINVAL);
        assert_int_equal(ns, 7);
    }
}

/* The value under test stands between two far ones, because minimum and maximum are exact anyway. */
static void check_middle_value(uint64_t ns, double tolerance_share)
{
    struct histogram *h = &a;
    histogram_init(h);
    histogram_add(h, 0, 1);
    histogram_add(h, ns, 1);
    histogram_add(h, UINT64_MAX, 1);
    assert_close((double)quantile(h, 0.5), (double)ns, tolerance_share * (double)ns);
}

TEST(values_from_100_ns_to_100_s_are_within_1_percent)
{
    for (double ns = 100; ns <= 100e9; ns *= 1.0007)
        check_middle_value((uint64_t)ns, 0.01);
    for (unsigned k = 7; k < HISTOGRAM_MAX_LOG2; k++) {
        check_middle_value((1ULL << k) - 1, 0.0079);
        check_middle_value(1ULL << k, 0.0079);
        check_middle_value((1ULL << k) + 1, 0.0079);
    }
}

TEST(small_values_are_exact)
{
    for (uint64_t ns = 0; ns < 128; ns++)
        check_middle_value(ns, 0);
}

TEST(huge_values_are_kept_in_the_last_bucket)
{
    histogram_add(&a, 1ULL << HISTOGRAM_MAX_LOG2, 1);
    histogram_add(&a, UINT64_MAX, 2);
    assert_int_equal(a.buckets[HISTOGRAM_N_BUCKETS - 1], 3);
    assert_int_equal(a.max_ns, UINT64_MAX);
    assert_int_equal(quantile(&a, 1.0), UINT64_MAX);
    assert_int_equal(quantile(&a, 0.0), 1ULL << HISTOGRAM_MAX_LOG2);
}

TEST(quantiles_of_one_to_hundred_are_their_ranks)
{
    for (uint64_t ns = 1; ns <= 100; ns++)
        histogram_add(&a, ns, 1);
    assert_int_equal(quantile(&a, 0.0), 1);
    /* Every whole percent, also those like 0.07 whose product with 100 is a little too large in binary. */
    for (uint64_t percent = 1; percent <= 100; percent++)
        assert_int_equal(quantile(&a, (double)percent / 100), percent);
    assert_int_equal(quantile(&a, 0.501), 51);
    assert_int_equal(quantile(&a, 0.999), 100);
}

TEST(quantiles_never_leave_minimum_and_maximum)
{
    histogram_add(&a, 1000001, 5);
    for (int i = 0; i <= 10; i++)
        assert_int_equal(quantile(&a, i / 10.0), 1000001);
}

TEST(the_extreme_quantiles_are_exact)
{
    /* First values of their buckets, whose middles are larger. */
    histogram_add(&a, 1ULL << 20, 1);
    histogram_add(&a, 1ULL << 21, 1);
    assert_int_equal(quantile(&a, 0.0), 1ULL << 20);
    assert_int_equal(quantile(&a, 0.5), 1ULL << 20);
    assert_int_equal(quantile(&a, 1.0), 1ULL << 21);
}

TEST(many_quantiles_are_those_asked_for_one_by_one)
{
    static const double shares[] = {0, 0.001, 0.25, 0.25, 0.5, 0.99, 1}, falling[] = {0.5, 0.4};
    uint64_t ns[7] = {0};
    assert_int_equal(histogram_quantiles_ns(&a, shares, 7, ns), -ENODATA);
    for (uint64_t i = 1; i <= 500; i++)
        histogram_add(&a, i * i * 50, i % 3);
    assert_int_equal(histogram_quantiles_ns(&a, shares, 7, ns), 0);
    for (int i = 0; i < 7; i++)
        assert_int_equal(ns[i], quantile(&a, shares[i]));
    assert_int_equal(histogram_quantiles_ns(&a, falling, 2, ns), -EINVAL);
}

TEST(mean_minimum_and_maximum_are_exact)
{
    double mean;
    histogram_add(&a, 1000003, 3);
    histogram_add(&a, 5000009, 1);
    assert_int_equal(a.n, 4);
    assert_int_equal(a.min_ns, 1000003);
    assert_int_equal(a.max_ns, 5000009);
    assert_int_equal(histogram_mean_ns(&a, &mean), 0);
    assert_close(mean, (3.0 * 1000003 + 5000009) / 4, 1e-9);
}

TEST(adding_none_changes_nothing)
{
    histogram_add(&a, 5, 0);
    assert_memory_equal(&a, &b, sizeof(a));
}

TEST(merge_equals_adding)
{
    struct rng rng;
    rng_init(&rng, 1);
    for (int i = 0; i < 10000; i++) {
        uint64_t ns = rng_next(&rng) >> (rng_next(&rng) % 64);
        uint64_t n = rng_next(&rng) % 4;
        histogram_add(i % 3 ? &a : &b, ns, n);
        histogram_add(&c, ns, n);
    }
    histogram_merge(&a, &b);
    /* The order of summing differs. */
    assert_close(a.sum_ns, c.sum_ns, 1e-12 * c.sum_ns);
    a.sum_ns = c.sum_ns;
    assert_memory_equal(&a, &c, sizeof(a));
}

TEST(merging_an_empty_one_changes_nothing)
{
    histogram_add(&a, 500, 2);
    histogram_add(&c, 500, 2);
    histogram_merge(&a, &b);
    assert_memory_equal(&a, &c, sizeof(a));
    histogram_merge(&b, &a);
    assert_memory_equal(&b, &c, sizeof(b));
}

TEST(one_in_some_stays_evenly_over_the_values)
{
    uint64_t median_ns = 0;
    for (uint64_t i = 0; i < 3200; i++)
        histogram_add(&a, 1000 + 1000 * (i % 3 == 0), 1);
    double sum_ns = a.sum_ns;
    histogram_thin(&a, 32);
    assert_int_equal(a.n, 100);
    assert_close(a.sum_ns, sum_ns / 32, 1e-6 * sum_ns);
    assert_int_equal(histogram_quantile_ns(&a, 0.66, &median_ns), 0);
    assert_true(median_ns < 1100);
    assert_int_equal(histogram_quantile_ns(&a, 0.68, &median_ns), 0);
    assert_true(median_ns > 1900);
    histogram_thin(&b, 32);
    assert_int_equal(b.n, 0);
}

TEST(standard_deviation_is_that_of_the_values)
{
    assert_close(histogram_std_ns(&a), 0.0, 0.0);
    histogram_add(&a, 100, 1);
    assert_close(histogram_std_ns(&a), 0.0, 0.0);
    histogram_add(&a, 110, 1);
    histogram_add(&a, 120, 1);
    assert_close(histogram_std_ns(&a), 10.0, 1e-9);
    histogram_add(&b, 1000000, 500);
    histogram_add(&b, 3000000, 500);
    assert_close(histogram_std_ns(&b), 1000500.4, 15000.0);
}
