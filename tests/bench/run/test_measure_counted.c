/* Tests of bench/run/measure: runs that end by the number of their requests, on a simulated world. */
#include "bench/run/measure.h"
#include "tests/test.h"

#define IN_FLIGHT 8

static struct measure_result result;

static int flat_table(void *context, const struct pattern *pattern, const struct point *point,
                      double *ret_bps, struct err *err)
{
    (void)context;
    (void)pattern;
    (void)err;
    *ret_bps = 65536.0 * 4000 * IN_FLIGHT * point->threads;
    return 0;
}

/* 4000 requests a second and slot; by time a run lasts 1 s. */
static void measure(uint32_t threads, uint64_t n_requests, uint64_t longest_ns)
{
    uint64_t now_ns = 0;
    struct clock clock = clock_virtual(&now_ns);
    struct simulator_world world = {.noise = {.op_cv = 0.1, .outlier_factor = 1, .warmup_factor = 1},
                                    .now_ns = &now_ns};
    struct measure_env env = {.clock = &clock, .world = &world, .truth_bps = flat_table};
    struct measure_plan plan = {.point = {65536, IN_FLIGHT, 1, API_IO_URING, threads, SYNC_END, 0},
                                .duration_ns = CLOCK_NS_PER_S,
                                .batch_requests = WARMUP_BATCH_DEFAULT,
                                .warmup_coef = WARMUP_COEF_DEFAULT,
                                .warmup_window = WARMUP_WINDOW_DEFAULT,
                                .n_requests = n_requests,
                                .longest_ns = longest_ns,
                                .seed = 11};
    struct histogram latency;
    struct err err = {0};
    histogram_init(&latency);
    assert_int_equal(pattern_parse("randread", &plan.pattern, NULL), 0);
    if (measure_run(&env, &plan, &result, &latency, &err) != 0)
        fail_msg("%s", err.text);
}

TEST(a_counted_run_ends_with_its_requests)
{
    measure(1, 4000, 0);
    assert_int_equal(result.n_requests, 4000);
    assert_close(result.seconds, 0.125, 0.005);
    assert_false(result.ended_by_bytes);
    measure(4, 64000, 0);
    assert_int_equal(result.n_requests, 64000);
    measure(1, 64000, 0);
    assert_close(result.seconds, 2, 0.05);
}

TEST(a_counted_run_has_50_ms_and_64_requests)
{
    measure(1, 10, 0);
    assert_close(result.seconds, 0.05, 0.002);
    assert_true(result.n_requests > 64);
}

TEST(a_counted_run_has_a_longest_time)
{
    measure(1, 1000000, CLOCK_NS_PER_S / 5);
    assert_close(result.seconds, 0.2, 0.005);
}

TEST(nothing_asked_for_is_by_time)
{
    measure(1, 0, 0);
    assert_close(result.seconds, 1, 0.005);
}
