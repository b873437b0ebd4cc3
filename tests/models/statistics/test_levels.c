/* Tests of models/statistics/levels: false alarms and power by simulation, and what never counts as a level.
 */
#include "models/statistics/levels.h"
#include "tests/models/rng.h"

#include <errno.h>

struct source {
    bool lognormal;
    double cv, ratio; /* of the levels; 1: there is one */
};

static double draw(const struct source *source, size_t i)
{
    double level = i % 3 == 0 ? source->ratio : 1, value;

    if (source->lognormal)
        return level * gsl_ran_lognormal(rng, 0, sqrt(log1p(source->cv * source->cv)));
    do
        value = level * (1 + gsl_ran_gaussian(rng, source->cv));
    while (value <= 0);
    return value;
}

static double found_share(const struct source *source, size_t n, size_t n_samples)
{
    size_t found = 0;

    gsl_rng_set(rng, 11);
    for (size_t k = 0; k < n_samples; k++) {
        double values[30];
        struct levels_verdict verdict;
        for (size_t i = 0; i < n; i++)
            values[i] = draw(source, i);
        assert_int_equal(levels_of(values, n, &verdict), 0);
        found += verdict.two;
    }
    return (double)found / (double)n_samples;
}

TEST(one_level_raises_few_alarms)
{
    static const double cvs[] = {0.02, 0.1, 0.2, 0.5};
    static const size_t sizes[] = {6, 8, 12, 17, 22, 30};

    for (size_t i = 0; i < N_OF(cvs); i++) {
        for (size_t k = 0; k < N_OF(sizes); k++) {
            /* 4,000 samples know a share of 0.2 % to within 0.07 %. */
            assert_true(found_share(&(struct source){false, cvs[i], 1}, sizes[k], 4000) <= 0.0045);
            assert_true(found_share(&(struct source){true, cvs[i], 1}, sizes[k], 4000) <= 0.0045);
        }
    }
}

/* The table is not more cautious than it need be: scatter of a tenth looks alike on both scales. */
TEST(critical_values_are_those_of_one_in_500)
{
    static const size_t sizes[] = {6, 10, 16, 30};

    for (size_t k = 0; k < N_OF(sizes); k++) {
        double share = found_share(&(struct source){false, 0.1, 1}, sizes[k], 6000);
        assert_true(share >= 0.0005 && share <= 0.0040);
    }
}

TEST(levels_far_apart_are_found)
{
    assert_true(found_share(&(struct source){true, 0.02, 1.3}, 8, 1000) >= 0.9);
    assert_true(found_share(&(struct source){true, 0.05, 2.0}, 8, 1000) >= 0.9);
    assert_true(found_share(&(struct source){true, 0.10, 2.7}, 12, 1000) >= 0.9);
}

TEST(means_and_counts_are_those_of_the_groups)
{
    const double values[] = {10, 20.1, 10.2, 19.9, 9.8, 20, 10};
    struct levels_verdict verdict;

    assert_int_equal(levels_of(values, 7, &verdict), 0);
    assert_true(verdict.two);
    assert_int_equal(verdict.n_low, 4);
    assert_int_equal(verdict.n_high, 3);
    assert_close(verdict.low, 10, 1e-12);
    assert_close(verdict.high, 20, 1e-12);
}

TEST(one_outlier_is_no_level)
{
    const double values[] = {10, 10.1, 9.9, 10.2, 9.8, 10, 10.1, 30};
    struct levels_verdict verdict;

    assert_int_equal(levels_of(values, 8, &verdict), 0);
    assert_false(verdict.two);
}

TEST(equal_values_are_one_level)
{
    const double values[] = {10, 10, 10, 10, 10, 10};
    struct levels_verdict verdict;

    assert_int_equal(levels_of(values, 6, &verdict), 0);
    assert_false(verdict.two);
}

TEST(few_replays_are_one_level)
{
    const double values[] = {10, 10, 10, 20, 20};
    struct levels_verdict verdict;

    assert_int_equal(levels_of(values, 5, &verdict), 0);
    assert_false(verdict.two);
    assert_int_equal(levels_of(values, 0, &verdict), 0);
    assert_false(verdict.two);
}

TEST(what_is_no_throughput_is_refused)
{
    const double zero[] = {10, 0}, endless[] = {10, INFINITY}, none[] = {NAN};
    struct levels_verdict verdict;

    assert_int_equal(levels_of(zero, 2, &verdict), -EINVAL);
    assert_int_equal(levels_of(endless, 2, &verdict), -EINVAL);
    assert_int_equal(levels_of(none, 1, &verdict), -EINVAL);
}
