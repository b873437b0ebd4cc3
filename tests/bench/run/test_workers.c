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

/* Other machines that begin half a second after this one was ready. */
static int meet_later(void *context, uint64_t *ret_start_ns, struct err *err)
{
    (void)context;
    (void)err;
    *ret_start_ns = clock_now_ns(world.env.clock) + 500000000;
    return 0;
}

TEST(a_run_with_others_has_their_start_and_their_window)
{
    world_simulate(4, 2);
    world.env.meet = meet_later;
    world.plan.warmup_limit_ns = 200000000;
    /* A warm-up that is over at once, were it alone. */
    world.plan.warmup_coef = 1;
    uint64_t before_ns = clock_now_ns(world.env.clock);
    assert_int_equal(world_measure(), 0);
    const struct measure_result *result = &world.result;
    uint64_t close_ns = before_ns + 500000000 + 200000000 + world.plan.duration_ns;
    assert_true(result->windowed && result->begun_ns >= before_ns + 500000000);
    assert_true(result->closed_ns >= close_ns && result->closed_ns < close_ns + 50000000);
    assert_true(result->stopped_ns - close_ns >= 2 * (result->closed_ns - close_ns));
    assert_close(result->throughput_bps / world.truth_bps, 1, 0.02);
}

static int meet_nobody(void *context, uint64_t *ret_start_ns, struct err *err)
{
    (void)context;
    (void)ret_start_ns;
    return err_set(err, -ENOLINK, "client 1 is lost");
}

TEST(without_the_others_no_request_is_made)
{
    world_simulate(4, 2);
    world.env.meet = meet_nobody;
    assert_int_equal(world_measure(), -ENOLINK);
    assert_int_equal(world.result.total_bytes_read + world.result.total_bytes_written, 0);
}
