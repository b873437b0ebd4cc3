/* The short version of the study of intervals (tests/statistics/coverage.c): few seeds, wide bounds. Over
 * these counts a true coverage of 95 % leaves 91 to 98.5 in fewer than 1 of 1,000 cases; seeds are fixed. */
#include "tests/statistics/coverage.h"
#include "tests/test.h"

#define LEAST 0.91
#define MOST  0.985

static void assert_holds(struct coverage_tally tally)
{
    double held = coverage_share(tally.held, tally.claimed);
    if (held < LEAST || held > MOST)
        fail_msg("%zu of %zu intervals hold the truth", tally.held, tally.claimed);
}

TEST(batch_means_hold_where_students_interval_does_not)
{
    static const struct coverage_noise noises[] = {
        {.name = "AR(1), rho 0.5", .cv = 0.1, .rho = 0.5},
        {.name = "AR(1), rho 0.8", .cv = 0.1, .rho = 0.8},
        {.name = "AR(1), rho 0.9", .cv = 0.1, .rho = 0.9},
        /* Its correlation lasts far longer than its lag-1 correlation says. */
        {.name = "AR(1) and white noise", .cv = 0.1, .rho = 0.9, .white_share = 0.5},
        {.name = "starts at twice the rate", .cv = 0.1, .warmup_factor = 2, .warmup_share = 0.1},
    };
    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++) {
        struct coverage_tally tally = coverage_of_series(&noises[i], 1000, 500, i + 1);
        assert_holds(tally);
        assert_true(coverage_share(tally.claimed, tally.n) > 0.9);
        assert_true(coverage_share(tally.plain_held, tally.n) < 0.85);
    }
}

TEST(batch_means_hold_where_students_interval_does)
{
    static const struct coverage_noise noises[] = {
        {.name = "independent", .cv = 0.1},
        {.name = "lognormal", .cv = 0.3, .lognormal = true},
        {.name = "outliers", .cv = 0.1, .outlier_factor = 2},
    };
    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++)
        assert_holds(coverage_of_series(&noises[i], 200, 500, i + 1));
}

TEST(intervals_over_replays_hold)
{
    static const struct coverage_noise quiet = {.cv = 0.1, .rho = 0.5};
    static const struct coverage_between between[] = {
        {.cv = 0.05}, {.cv = 0.05, .outlier_factor = 2}, {.cv = 0.3}, {.cv = 0.5}};
    for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
        assert_holds(coverage_of_replays(&quiet, between[i], 7, 600, i + 1));
        assert_holds(coverage_of_replays(&quiet, between[i], 20, 400, i + 1));
    }
}

TEST(a_warmup_inside_the_replays_does_not_bias_them)
{
    static const struct coverage_noise noise = {.cv = 0.1, .warmup_factor = 2, .warmup_share = 0.1};
    struct coverage_tally tally =
        coverage_of_replays(&noise, (struct coverage_between){.cv = 0.05}, 10, 500, 1);
    assert_holds(tally);
    assert_true(coverage_share(tally.plain_held, tally.n) < 0.6);
}

TEST(percentiles_hold_where_runs_differ)
{
    static const struct coverage_latency kind = {.name = "runs differ", .run_cv = 0.1};
    struct coverage_tally tallies[COVERAGE_N_SHARES];
    coverage_of_percentiles(&kind, 10, 500, 200, 1, tallies);
    for (int share = COVERAGE_P50; share <= COVERAGE_P99; share++) {
        assert_true(coverage_share(tallies[share].held, tallies[share].claimed) > 0.9);
        assert_true(coverage_share(tallies[share].plain_held, tallies[share].n) < 0.8);
    }
}
