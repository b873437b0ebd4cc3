/* Tests of tuner/search/tune_transient: what hand-made runs show of their start, and whether that is taken
 * off. */
#include "tests/tuner/search/tune_rig.h"

SEARCHES(enter);

#define N_WINDOWS 64

/* A quarter of the run is `ratio` times as fast as the rest; `n` of its windows were over. */
static void add_run(double ratio, size_t n)
{
    struct pump_windows windows = {.width_ns = TUNE_TRANSIENT_RUN_NS / N_WINDOWS, .n = n + 1};
    for (size_t i = 0; i < n; i++)
        windows.bytes[i] = (uint64_t)(1e6 * (i < N_WINDOWS / 4 ? ratio : 1));
    tune_transient_add(&tune.length.start, &windows, n);
}

static bool is_taken_off(const double *ratios, size_t n_runs, size_t n_windows_of_last)
{
    begin_on("peak.conf --seed 1");
    tune.length.warmup_least_ns = 150000000;
    for (size_t i = 0; i < n_runs; i++)
        add_run(ratios[i], i + 1 < n_runs ? N_WINDOWS : n_windows_of_last);
    assert_int_equal(tune.length.start.n_runs, n_runs);
    assert_int_equal(tune_transient_decide(&tune), 0);
    bool taken_off = tune.length.start.taken_off;
    return taken_off;
}

TEST(starts_that_are_unlike_are_waited_out)
{
    static const double alike[] = {3, 3.05, 2.95}, unlike[] = {3, 2, 1.5}, one_unlike[] = {3, 3, 2.6};
    assert_true(is_taken_off(alike, 3, N_WINDOWS));
    assert_false(is_taken_off(unlike, 3, N_WINDOWS));
    assert_false(is_taken_off(one_unlike, 3, N_WINDOWS));
}

TEST(two_runs_do_not_show_that_starts_are_alike)
{
    static const double ratios[] = {3, 3, 3};
    assert_false(is_taken_off(ratios, 2, N_WINDOWS));
    assert_false(is_taken_off(ratios, 0, N_WINDOWS));
}

/* Its windows are not over the time that those of the others are over. */
TEST(a_run_that_ended_early_shows_no_start)
{
    static const double ratios[] = {3, 3, 3, 3};
    assert_true(is_taken_off(ratios, 4, N_WINDOWS));
    assert_false(is_taken_off(ratios, 4, N_WINDOWS / 2));
}

TEST(nothing_is_taken_off_where_nothing_would_be_waited_for)
{
    begin_on("peak.conf --seed 1");
    for (size_t i = 0; i < 4; i++)
        add_run(3, N_WINDOWS);
    assert_int_equal(tune_transient_decide(&tune), 0);
    assert_false(tune.length.start.taken_off);
}

/* The start's windows are as wide whether the run's own divide them or are wider. */
TEST(a_start_looks_the_same_through_any_windows)
{
    static const size_t counts[] = {8, 16, 20, 64, 100};
    for (size_t i = 0; i < N_OF(counts); i++) {
        struct tune_transient start = {0};
        struct pump_windows windows = {.width_ns = TUNE_TRANSIENT_RUN_NS / counts[i], .n = counts[i] + 1};
        for (size_t k = 0; k < counts[i]; k++)
            windows.bytes[k] = k < counts[i] / 4 ? 3000 : 1000;
        tune_transient_add(&start, &windows, counts[i]);
        assert_int_equal(start.n_runs, 1);
        assert_close(start.log_ratios.mean, log(3), 1e-12);
        for (size_t k = 0; k < TUNE_TRANSIENT_N_WINDOWS; k++)
            assert_close(start.rates[k], k < TUNE_TRANSIENT_N_WINDOWS / 4 ? 2 : 2.0 / 3, 1e-12);
    }
}

TEST(a_run_that_moved_nothing_counts_for_nothing)
{
    struct tune_transient start = {0};
    struct pump_windows windows = {.width_ns = TUNE_TRANSIENT_RUN_NS / N_WINDOWS, .n = N_WINDOWS + 1};
    tune_transient_add(&start, &windows, N_WINDOWS);
    tune_transient_add(&start, &windows, 0);
    assert_int_equal(start.n_runs, 0);
    assert_int_equal(start.log_ratios.n, 0);
    assert_close(start.rates[0], 0, 0);
}
