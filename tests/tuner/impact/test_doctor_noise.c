/* Tests of tuner/impact/doctor_noise: scatter between and inside runs, and the replays that a difference
 * costs. */
#include "tuner/impact/doctor.h"

#include "tests/test.h"

TEST(the_summary_is_mean_interval_and_scatter)
{
    static const double values[] = {90, 100, 110};
    struct doctor_noise noise = {0};
    doctor_noise_summarise(&noise, values, 3);
    assert_int_equal(noise.n, 3);
    assert_close(noise.mean_bps, 100, 1e-9);
    assert_close(noise.run_cv, 0.1, 1e-12);
    /* t(2, 97.5 %) = 4.302653; std / sqrt(3) = 5.773503 */
    assert_close(noise.interval.low, 100 - 24.84138, 1e-4);
    assert_close(noise.interval.high, 100 + 24.84138, 1e-4);
    assert_close(noise.half_width_share, 0.2484138, 1e-6);
}

TEST(few_runs_leave_figures_open)
{
    static const double values[] = {90, 110};
    struct doctor_noise noise = {0};
    doctor_noise_summarise(&noise, values, 0);
    assert_true(isnan(noise.mean_bps) && isnan(noise.run_cv));
    doctor_noise_summarise(&noise, values, 1);
    assert_close(noise.mean_bps, 90, 0);
    assert_true(isnan(noise.run_cv) && isnan(noise.interval.low) && isnan(noise.half_width_share));
    doctor_noise_summarise(&noise, values, 2);
    assert_true(isfinite(noise.run_cv) && isnan(noise.interval.low));
}

TEST(resolution_follows_the_formula)
{
    /* t(38, 97.5 %) = 2.024394 */
    assert_close(doctor_noise_resolves(0.1, 20), 2.024394 * 0.1 * sqrt(0.1), 1e-6);
    assert_true(isnan(doctor_noise_resolves(0.1, 1)));
    assert_close(doctor_noise_resolves(0, 5), 0, 0);
}

TEST(the_replays_needed_are_the_fewest_that_resolve)
{
    static const double cvs[] = {0.005, 0.02, 0.05, 0.1, 0.3};
    for (size_t i = 0; i < sizeof cvs / sizeof cvs[0]; i++) {
        size_t n = doctor_noise_replays_for(cvs[i], 0.03);
        assert_true(doctor_noise_resolves(cvs[i], n) <= 0.03);
        assert_true(n == 2 || doctor_noise_resolves(cvs[i], n - 1) > 0.03);
    }
    assert_int_equal(doctor_noise_replays_for(0, 0.03), 2);
    assert_int_equal(doctor_noise_replays_for(100, 0.001), 100000);
    assert_int_equal(doctor_noise_replays_for(NAN, 0.03), 100000);
}

static struct pump_windows windows_of(size_t n, uint64_t even, uint64_t odd)
{
    struct pump_windows windows = {.width_ns = 1000000, .n = n};
    for (size_t i = 0; i < n; i++)
        windows.bytes[i] = i % 2 == 0 ? even : odd;
    return windows;
}

TEST(equal_windows_have_no_scatter_whatever_the_last_one_is)
{
    struct pump_windows windows = windows_of(21, 1000, 1000);
    windows.bytes[20] = 3;
    assert_close(doctor_noise_window_cv(&windows), 0, 1e-12);
    windows.bytes[4] = 0;
    assert_true(doctor_noise_window_cv(&windows) > 0.1);
}

TEST(many_windows_are_taken_together)
{
    /* In pairs every part is the same; singly they would scatter by half. */
    struct pump_windows windows = windows_of(20, 500, 1500);
    assert_close(doctor_noise_window_cv(&windows), 0, 1e-12);
    windows = windows_of(5, 500, 1500);
    assert_close(doctor_noise_window_cv(&windows), 577.350269 / 1000, 1e-6);
}

TEST(too_few_windows_say_nothing)
{
    struct pump_windows windows = {.width_ns = 1};
    assert_true(isnan(doctor_noise_window_cv(&windows)));
    windows = windows_of(3, 1, 2);
    assert_true(isnan(doctor_noise_window_cv(&windows)));
    windows = windows_of(10, 0, 0);
    assert_true(isnan(doctor_noise_window_cv(&windows)));
}

TEST(runs_in_two_places_are_compared_and_evened)
{
    struct doctor_placement placement = {0};
    /* There, elsewhere, elsewhere, there, and again: 200 and 100 on average. */
    double rates[] = {198, 99, 101, 202, 201, 100.5, 99.5, 199};
    CPU_SET(1, &placement.there);
    doctor_placement_compare(&placement, rates, N_OF(rates));
    assert_close(placement.there_bps, 200, 1e-9);
    assert_close(placement.elsewhere_bps, 100, 1e-9);
    assert_true(placement.ratio.low > 1.95 && placement.ratio.low < 2 && placement.ratio.high > 2 &&
                placement.ratio.high < 2.05);
    assert_close(rates[0], 198.0 * 150 / 200, 1e-9);
    assert_close(rates[1], 99.0 * 150 / 100, 1e-9);
}

TEST(one_place_or_few_runs_leave_throughputs_alone)
{
    struct doctor_placement placement = {0};
    double rates[] = {200, 100, 100, 200};
    doctor_placement_compare(&placement, rates, 4);
    assert_true(isnan(placement.ratio.low) && rates[0] == 200);
    CPU_SET(1, &placement.there);
    doctor_placement_compare(&placement, rates, 3);
    assert_true(isnan(placement.ratio.low) && rates[0] == 200);
}
