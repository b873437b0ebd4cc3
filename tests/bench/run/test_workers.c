/* Tests of bench/run/workers: runs that are ended early, on a simulated world with a known truth. */
#include "bench/run/workers.h"
#include "tests/test.h"

static struct {
    uint64_t now_ns;
    struct clock clock;
    struct simulator_world world;
    struct measure_env env;
    struct measure_plan plan;
    struct measure_result result;
    double truth_bps;
} rig;

static struct histogram latency;

static int truth(void *context, const struct pattern *pattern, const struct point *point, double *ret_bps,
                 struct err *err)
{
    (void)context, (void)pattern, (void)point, (void)err;
    *ret_bps = rig.truth_bps;
    return 0;
}

/* 64 KiB requests at 4000 in flight per second and slot, random reads, 1 s. */
static void reset(uint32_t depth, uint32_t threads)
{
    rig.clock = clock_virtual(&rig.now_ns);
    rig.world =
        (struct simulator_world){.noise = {.outlier_factor = 1, .warmup_factor = 1}, .now_ns = &rig.now_ns};
    rig.truth_bps = 65536.0 * 4000 * depth * threads;
    rig.env = (struct measure_env){.clock = &rig.clock, .world = &rig.world, .truth_bps = truth};
    rig.plan = (struct measure_plan){.point = {.request_size_bytes = 65536,
                                               .queue_depth = depth,
                                               .direct = 1,
                                               .api = API_IO_URING,
                                               .threads = threads,
                                               .sync = SYNC_END},
                                     .duration_ns = CLOCK_NS_PER_S,
                                     .warmup_limit_ns = CLOCK_NS_PER_S,
                                     .warmup_coef = WARMUP_COEF_DEFAULT,
                                     .warmup_window = WARMUP_WINDOW_DEFAULT,
                                     .batch_requests = WARMUP_BATCH_DEFAULT,
                                     .seed = 11};
    assert_int_equal(pattern_parse("randread", &rig.plan.pattern, NULL), 0);
    histogram_init(&latency);
}

static int measure(void)
{
    return measure_run(&rig.env, &rig.plan, &rig.result, &latency, NULL);
}

TEST(a_hopeless_run_is_cut_at_the_least_that_a_run_has)
{
    /* 4000 requests a second in flight: 50 ms decide; 400: 64 requests do. */
    const double slowness[] = {1, 10};
    const double seconds[] = {0.05, 0.16};
    for (size_t i = 0; i < 2; i++) {
        reset(1, 1);
        rig.truth_bps /= slowness[i];
        rig.plan.hopeless_bps = 1.2 * rig.truth_bps;
        assert_int_equal(measure(), 0);
        assert_true(rig.result.cut && !rig.result.ended_by_bytes);
        assert_true(rig.result.seconds >= seconds[i] && rig.result.seconds < seconds[i] + 0.03);
        assert_true(rig.result.n_requests >= MEASURE_MIN_REQUESTS);
        assert_close(rig.result.throughput_bps / rig.truth_bps, 1, 0.01);
    }
}

TEST(a_run_that_is_not_hopeless_lasts_its_time)
{
    const double share[] = {0, 0.5, 0.99};
    for (size_t i = 0; i < 3; i++) {
        reset(4, 2);
        rig.plan.hopeless_bps = share[i] * rig.truth_bps;
        assert_int_equal(measure(), 0);
        assert_false(rig.result.cut);
        assert_true(rig.result.seconds >= 1);
    }
}

/* Of the shortest length, or made so long by its 64 requests: nothing was left to be saved. */
TEST(a_run_that_is_over_is_not_called_cut)
{
    const double slowness[] = {1, 100};
    for (size_t i = 0; i < 2; i++) {
        reset(1, 1);
        rig.truth_bps /= slowness[i];
        rig.plan.duration_ns = MEASURE_MIN_DURATION_NS;
        rig.plan.hopeless_bps = 10 * rig.truth_bps;
        assert_int_equal(measure(), 0);
        assert_false(rig.result.cut);
    }
}

TEST(a_hopeless_warm_up_ends_early)
{
    reset(1, 1);
    rig.world.noise.op_cv = 0.5;
    rig.plan.warmup_coef = 0.001;
    rig.plan.hopeless_bps = 2.5 * rig.truth_bps;
    assert_int_equal(measure(), 0);
    assert_true(rig.result.cut);
    assert_int_equal(rig.result.warmup, MEASURE_WARMUP_LIMIT);
    assert_true(rig.result.warmup_seconds < 0.08);
    /* A start below the bound, but not below half of it, may still rise. */
    rig.plan.hopeless_bps = 1.6 * rig.truth_bps;
    assert_int_equal(measure(), 0);
    assert_true(rig.result.warmup_seconds >= 1 && rig.result.seconds < 0.08);
}
