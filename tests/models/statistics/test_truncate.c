/* Tests of models/statistics/truncate: cuts that are known by construction. */
#include "models/statistics/truncate.h"
#include "tests/models/rng.h"

#include <errno.h>

TEST(short_series_have_no_cut)
{
    double values[19] = {0};
    size_t n_cut = 77;

    assert_int_equal(truncate_mser5(values, 19, &n_cut), -ENODATA);
    assert_int_equal(n_cut, 77);
}

TEST(constant_series_keeps_everything)
{
    double values[40];
    size_t n_cut = 77;

    for (size_t i = 0; i < 40; i++)
        values[i] = 0.1;
    assert_int_equal(truncate_mser5(values, 40, &n_cut), 0);
    assert_int_equal(n_cut, 0);
}

TEST(slow_start_is_cut_at_its_end)
{
    double values[100];
    size_t n_cut = 0;

    for (size_t i = 0; i < 100; i++)
        values[i] = i < 15 ? 10 : 100 + (double)(i % 2);
    assert_int_equal(truncate_mser5(values, 100, &n_cut), 0);
    assert_int_equal(n_cut, 15);
}

TEST(a_level_reached_at_half_has_no_cut)
{
    double values[100];
    size_t n_cut = 0;

    for (size_t i = 0; i < 100; i++)
        values[i] = i < 50 ? 2 * (double)i : 100;
    assert_int_equal(truncate_mser5(values, 100, &n_cut), -ENODATA);
}

/* An oracle keeps 80 % of these. */
TEST(cuts_of_noisy_ramps_waste_little)
{
    double kept = 0;

    for (unsigned seed = 1; seed <= 200; seed++) {
        double values[200];
        size_t n_cut = 0;
        gsl_rng_set(rng, seed);
        for (size_t i = 0; i < 200; i++)
            values[i] = (i < 40 ? 0.2 + 0.02 * (double)i : 1) * (1 + gsl_ran_gaussian(rng, 0.05));
        if (truncate_mser5(values, 200, &n_cut) == 0)
            kept += (double)(200 - n_cut) / 200;
    }
    assert_true(kept / 200 > 0.8 / 1.2);
    assert_true(kept / 200 < 0.85);
}
