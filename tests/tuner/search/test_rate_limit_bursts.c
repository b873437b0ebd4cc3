/* Tests of tuner/search/rate_limit_bursts: searches where rates come in bursts. */
#include "tests/tuner/search/tune_rig.h"

/* All points through a limit that the faster half of them reach. */
static double limited_bps(const struct point *point)
{
    return fmin(rig_peak_bps(point), 0.5 * rig_peak_bps(&hill));
}

SEARCHES_ON({"bursts", "run_cv = 0.02; setup_seconds = 0.02; pulse_seconds = 0.1; pulse_share = 0.4;",
             limited_bps},
            {"steady", "run_cv = 0.1; setup_seconds = 0.02;", limited_bps},
            {"fast_start", "run_cv = 0.02; setup_seconds = 0.02; warmup_seconds = 0.1; warmup_factor = 3.0;",
             limited_bps});

/* Without them a run of the shortest length sees up to 2.5 times the rate. */
TEST(runs_last_several_bursts_and_figures_are_what_lasts)
{
    for (unsigned seed = 1; seed <= 6; seed++) {
        search(words("bursts.conf --budget 60s --seed %u", seed));
        assert_true(tune.duration_ns >= RATE_LIMIT_BURSTS_LEAST_NS &&
                    tune.duration_ns <= RATE_LIMIT_BURSTS_MOST_NS);
        assert_int_equal(tune.length.warmup_least_ns, RATE_LIMIT_BURSTS_WARMUP_NS);
        assert_non_null(strstr(tune.length.why, "bursts"));
        assert_true(is_warned_of("rate_pulses"));
        double truth_bps = limited_bps(chosen());
        assert_close(answer.chosen.mean_bps / truth_bps, 1, 0.15);
        assert_true(truth_bps >= 0.9 * limited_bps(&hill));
    }
}

TEST(steady_rates_and_fast_starts_are_no_bursts)
{
    static const char *const surfaces[] = {"steady.conf", "fast_start.conf"};
    for (unsigned i = 0; i < 2 * 6; i++) {
        pilot(words("%s --budget 60s --seed %u", surfaces[i % 2], 1 + i / 2));
        assert_int_equal(rate_limit_bursts_least_ns(&tune), 0);
        assert_true(tune.duration_ns < RATE_LIMIT_BURSTS_LEAST_NS);
        assert_false(is_warned_of("rate_pulses"));
        assert_true(i % 2 == 1 || tune.length.bursts.idles.n == 0);
    }
}

/* Read-ahead: windows of 6 ms with everything, and one to three without anything behind each. A limit that
 * lets something pass every 0.1 s stands still for ten of them. */
TEST(lumps_of_what_is_read_ahead_are_no_bursts)
{
    struct rate_limit_bursts lumps = {{0}, false}, limit = {{0}, false};
    double rates[64];
    for (size_t i = 0; i < 64; i++)
        rates[i] = i % 4 == 0 ? 17e6 : 0;
    rate_limit_bursts_add(&lumps, rates, 64, 1500);
    assert_false(rate_limit_bursts_seen(&lumps));
    for (size_t i = 0; i < 64; i++)
        rates[i] = i % 16 < 6 ? 17e6 : 0;
    rate_limit_bursts_add(&limit, rates, 64, 1500);
    assert_true(rate_limit_bursts_seen(&limit));
}

/* Before, its turns are irregular: a window that opens in the first one is no whole number of them. */
TEST(runs_through_a_known_limit_warm_up_as_long)
{
    begin_on("steady.conf --budget 60s --seed 1");
    session->env.rate_is_limited = tune.length.bursts.known = true;
    assert_int_equal(tune_length(&tune, &err), 0);
    assert_int_equal(tune.length.warmup_least_ns, RATE_LIMIT_BURSTS_WARMUP_NS);
    assert_true(tune.length.warmup_limit_ns >= RATE_LIMIT_BURSTS_WARMUP_NS);
    begin_on("steady.conf --budget 60s --seed 1 --warmup-limit 20ms");
    session->env.rate_is_limited = tune.length.bursts.known = true;
    assert_int_equal(tune_length(&tune, &err), 0);
    assert_int_equal(tune.length.warmup_least_ns, 0);
}

/* Too little time or bytes for longer runs: the user is told, and the bounds hold. */
TEST(what_cannot_be_afforded_is_said)
{
    size_t n_warned = 0;
    for (unsigned seed = 1; seed <= 6; seed++) {
        search(words("bursts.conf --budget 10s --seed %u", seed));
        assert_int_equal(tune.duration_ns, MEASURE_MIN_DURATION_NS);
        assert_true(session_seconds(session) <= 10.5);
        n_warned += is_warned_of("rate_pulses");
    }
    assert_true(n_warned >= 3);
    for (unsigned seed = 1; seed <= 6; seed++) {
        search(words("bursts.conf --budget 60s --seed %u --max-write 4g", seed));
        assert_true(is_warned_of("rate_pulses"));
        assert_true(session->bytes_written <= 4ULL << 30);
    }
}

TEST(a_given_warm_up_limit_stays)
{
    pilot("bursts.conf --budget 60s --seed 1 --warmup-limit 20ms");
    assert_int_equal(tune.length.warmup_limit_ns, 20000000);
    assert_int_equal(tune.length.warmup_least_ns, 0);
    assert_true(tune.duration_ns >= RATE_LIMIT_BURSTS_LEAST_NS);
}

TEST(longer_budgets_have_longer_runs)
{
    static struct tune made;
    static struct settings of_it;
    made.settings = &of_it;
    made.engine.around_seconds = 0.05;
    moments_add(&made.length.bursts.idles, 1);
    of_it.limits.budget_ns = 10 * CLOCK_NS_PER_S;
    assert_int_equal(rate_limit_bursts_least_ns(&made), 0);
    of_it.limits.budget_ns = 15 * CLOCK_NS_PER_S;
    assert_int_equal(rate_limit_bursts_least_ns(&made), RATE_LIMIT_BURSTS_LEAST_NS);
    of_it.limits.budget_ns = 25 * CLOCK_NS_PER_S;
    assert_close((double)rate_limit_bursts_least_ns(&made), 300e6, 1);
    of_it.limits.budget_ns = 600 * CLOCK_NS_PER_S;
    assert_int_equal(rate_limit_bursts_least_ns(&made), RATE_LIMIT_BURSTS_MOST_NS);
    moments_add(&made.length.bursts.idles, -0.9);
    assert_int_equal(rate_limit_bursts_least_ns(&made), 0);
    made.length.bursts.known = true;
    assert_int_equal(rate_limit_bursts_least_ns(&made), RATE_LIMIT_BURSTS_MOST_NS);
}

/* Four of 32 windows hold all bytes. */
TEST(lumps_of_large_requests_do_not_count)
{
    struct rate_limit_bursts bursts = {0};
    double rates[PUMP_N_WINDOWS];
    for (size_t i = 0; i < PUMP_N_WINDOWS; i++)
        rates[i] = i % 32 < 4 ? 1 : 0;
    rate_limit_bursts_add(&bursts, rates, PUMP_N_WINDOWS, 31);
    assert_int_equal(bursts.idles.n, 0);
    rate_limit_bursts_add(&bursts, rates, 8, 32);
    assert_int_equal(bursts.idles.n, 0);
    assert_false(rate_limit_bursts_seen(&bursts));
    rate_limit_bursts_add(&bursts, rates, PUMP_N_WINDOWS, 32);
    assert_int_equal(bursts.idles.n, 1);
    assert_close(bursts.idles.mean, 0.875, 0.02);
    assert_true(rate_limit_bursts_seen(&bursts));
}
