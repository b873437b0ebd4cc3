/* Tests of bench/run/workers: runs that are ended early, on a simulated world with a known truth. */
#include "tests/bench/run/measure_rig.h"

TEST(a_hopeless_run_is_cut_at_the_least_that_a_run_has)
{
    /* 4000 requests a second in flight: 50 ms decide; 400: 64 requests do. */
    const double slowness[] = {1, 10};
    const double seconds[] = {0.05, 0.16};
    for (size_t i = 0; i < 2; i++) {
        world_simulate(1, 1);
        world.truth_bps /= slowness[i];
        world.plan.hopeless_bps = 1.2 * world.truth_bps;
        assert_int_equal(world_measure(), 0);
        assert_true(world.result.cut && !world.result.ended_by_bytes);
        assert_true(world.result.seconds >= seconds[i] && world.result.seconds < seconds[i] + 0.03);
        assert_true(world.result.n_requests >= MEASURE_MIN_REQUESTS);
        assert_close(world.result.throughput_bps / world.truth_bps, 1, 0.01);
    }
}

TEST(a_run_that_is_not_hopeless_lasts_its_time)
{
    const double share[] = {0, 0.5, 0.99};
    for (size_t i = 0; i < 3; i++) {
        world_simulate(4, 2);
        world.plan.hopeless_bps = share[i] * world.truth_bps;
        assert_int_equal(world_measure(), 0);
        assert_false(world.result.cut);
        assert_true(world.result.seconds >= 1);
    }
}

/* Of the shortest length, or made so long by its 64 requests: nothing was left to be saved. */
TEST(a_run_that_is_over_is_not_called_cut)
{
    const double slowness[] = {1, 100};
    for (size_t i = 0; i < 2; i++) {
        world_simulate(1, 1);
        world.truth_bps /= slowness[i];
        world.plan.duration_ns = MEASURE_MIN_DURATION_NS;
        world.plan.hopeless_bps = 10 * world.truth_bps;
        assert_int_equal(world_measure(), 0);
        assert_false(world.result.cut);
    }
}

TEST(a_hopeless_warm_up_ends_early)
{
    world_simulate(1, 1);
    world.simulator.noise.op_cv = 0.5;
    world.plan.warmup_coef = 0.001;
    world.plan.hopeless_bps = 2.5 * world.truth_bps;
    assert_int_equal(world_measure(), 0);
    assert_true(world.result.cut);
    assert_int_equal(world.result.warmup, MEASURE_WARMUP_LIMIT);
    assert_true(world.result.warmup_seconds < 0.08);
    /* A start below the bound, but not below half of it, may still rise. */
    world.plan.hopeless_bps = 1.6 * world.truth_bps;
    assert_int_equal(world_measure(), 0);
    assert_true(world.result.warmup_seconds >= 1 && world.result.seconds < 0.08);
}
