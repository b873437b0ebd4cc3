/* Tests of bench/run/measure on a simulated world with a known truth, and of its rules about bytes. */
#include "tests/bench/run/measure_rig.h"

/* ---- what comes out ---- */

static void check_truth(uint32_t depth, uint32_t threads, double op_cv, double tolerance)
{
    world_simulate(depth, threads);
    const struct measure_result *result = &world.result;
    double mean_ns = 0;
    world.simulator.noise.op_cv = op_cv;
    assert_int_equal(world_measure(), 0);
    assert_close(result->throughput_bps / world.truth_bps, 1, tolerance);
    assert_close(result->iops * 65536 / result->throughput_bps, 1, 1e-9);
    assert_int_equal(result->bytes_read, result->n_requests * 65536);
    assert_int_equal(result->bytes_written, 0);
    assert_close((double)result->bytes_read / result->seconds / result->throughput_bps, 1, 1e-9);
    /* Of one thread; the drain at the end is a request's time long. */
    assert_close(result->achieved_depth, depth, 0.01 * depth);
    assert_true(result->littles_law_error < 1e-3);
    assert_int_equal(world.latency.n, result->n_requests);
    assert_int_equal(histogram_mean_ns(&world.latency, &mean_ns), 0);
    assert_close(mean_ns, 250e3, tolerance * 250e3);
    assert_true(result->settled && !result->sampled && !result->ended_by_bytes);
    assert_close(result->flush_seconds, 0, 0);
}

TEST(throughput_is_the_truth)
{
    const uint32_t shapes[][2] = {{1, 1}, {8, 1}, {1, 4}, {16, 4}, {32, 64}};
    for (size_t i = 0; i < 5; i++) {
        check_truth(shapes[i][0], shapes[i][1], 0, 0.005);
        check_truth(shapes[i][0], shapes[i][1], 0.1, 0.01);
    }
}

TEST(each_pattern_moves_its_kinds_of_bytes)
{
    const char *const patterns[] = {"read", "write", "randread", "randwrite", "randrw:70"};
    const double reads[] = {1, 0, 1, 0, 0.7};
    for (size_t i = 0; i < 5; i++) {
        world_simulate(8, 1);
        world.simulator.noise.op_cv = 0.1;
        assert_int_equal(pattern_parse(patterns[i], &world.plan.pattern, NULL), 0);
        assert_int_equal(world_measure(), 0);
        double share =
            (double)world.result.bytes_read / (double)(world.result.bytes_read + world.result.bytes_written);
        assert_close(share, reads[i], reads[i] == 0.7 ? 0.02 : 0);
    }
}

/* From the moment at which the last slot counts until the first one may close. */
TEST(windows_hold_the_bytes_that_count)
{
    world_simulate(8, 4);
    uint64_t sum = 0;
    world.simulator.noise.op_cv = 0.2;
    assert_int_equal(world_measure(), 0);
    for (size_t i = 0; i < PUMP_N_WINDOWS; i++)
        sum += world.result.windows.bytes[i];
    assert_true(sum <= world.result.bytes_read && sum + 65536 * 3 * 8 * 4 >= world.result.bytes_read);
    assert_int_equal(world.result.windows.width_ns, CLOCK_NS_PER_S / 64);
}

TEST(requests_under_2_us_are_sampled)
{
    world_simulate(1, 1);
    double mean_ns = 0;
    world.truth_bps = 65536e6;
    world.simulator.noise.op_cv = 0.1;
    world.plan.duration_ns = CLOCK_NS_PER_S / 10;
    assert_int_equal(world_measure(), 0);
    assert_true(world.result.sampled);
    assert_true(world.latency.n < world.result.n_requests / 20);
    assert_close(world.result.throughput_bps / world.truth_bps, 1, 0.005);
    assert_int_equal(histogram_mean_ns(&world.latency, &mean_ns), 0);
    assert_close(mean_ns, 1000, 20);
}

TEST(run_has_at_least_64_requests)
{
    world_simulate(1, 1);
    world.truth_bps = 65536 * 100;
    world.plan.warmup_limit_ns = 0;
    world.plan.duration_ns = MEASURE_MIN_DURATION_NS;
    assert_int_equal(world_measure(), 0);
    assert_int_equal(world.result.n_requests, 64);
    assert_close(world.result.seconds, 0.64, 1e-6);
}

TEST(same_seed_gives_the_same_result)
{
    struct world found[3];
    for (size_t i = 0; i < 3; i++) {
        world_simulate(4, 2);
        world.simulator.noise.op_cv = 0.3;
        world.simulator.noise.run_cv = 0.2;
        world.plan.seed = i < 2 ? 1 : 2;
        assert_int_equal(world_measure(), 0);
        memcpy(&found[i], &world, sizeof(world));
    }
    assert_true(found[0].result.throughput_bps == found[1].result.throughput_bps);
    assert_memory_equal(&found[0].latency, &found[1].latency, sizeof(struct histogram));
    assert_true(found[0].result.throughput_bps != found[2].result.throughput_bps);
}

TEST(latencies_are_added_to_those_of_earlier_runs)
{
    world_simulate(4, 1);
    assert_int_equal(world_measure(), 0);
    uint64_t n = world.latency.n;
    assert_int_equal(world_measure(), 0);
    assert_int_equal(world.latency.n, n + world.result.n_requests);
}

TEST(setting_up_is_reported_and_outside_the_span)
{
    world_simulate(4, 1);
    world.simulator.noise.setup_seconds = 0.25;
    assert_int_equal(world_measure(), 0);
    assert_close(world.result.setup_seconds, 0.25, 1e-9);
    assert_close(world.result.seconds, 1, 0.01);
    assert_close((double)world.now_ns / 1e9, 0.25 + world.result.warmup_seconds + world.result.seconds, 1e-6);
}

/* ---- warming up ---- */

TEST(warm_up_lasts_until_latency_is_stable)
{
    world_simulate(1, 1);
    world.simulator.noise.op_cv = 0.05;
    world.simulator.noise.warmup_seconds = 0.06;
    world.simulator.noise.warmup_factor = 0.02;
    world.plan.warmup_coef = 0.05;
    assert_int_equal(world_measure(), 0);
    assert_int_equal(world.result.warmup, MEASURE_WARMUP_STABLE);
    assert_true(world.result.warmup_seconds > 0.02 && world.result.warmup_seconds < 0.5);
    assert_close(world.result.throughput_bps / world.truth_bps, 1, 0.01);
    assert_true(world.result.total_bytes_read > world.result.bytes_read);
}

TEST(warm_up_ends_at_its_limit)
{
    world_simulate(4, 2);
    world.simulator.noise.op_cv = 2;
    world.plan.warmup_coef = 0.001;
    world.plan.warmup_limit_ns = CLOCK_NS_PER_S / 5;
    assert_int_equal(world_measure(), 0);
    assert_int_equal(world.result.warmup, MEASURE_WARMUP_LIMIT);
    assert_true(world.result.warmup_seconds >= 0.2);
}

TEST(warm_up_lasts_its_least_time_however_stable)
{
    world_simulate(8, 1);
    world.plan.warmup_least_ns = CLOCK_NS_PER_S / 4;
    assert_int_equal(world_measure(), 0);
    assert_int_equal(world.result.warmup, MEASURE_WARMUP_STABLE);
    assert_true(world.result.warmup_seconds >= 0.25 && world.result.warmup_seconds < 0.3);
}

TEST(no_limit_means_no_warm_up)
{
    world_simulate(4, 1);
    world.plan.warmup_limit_ns = 0;
    assert_int_equal(world_measure(), 0);
    assert_int_equal(world.result.warmup, MEASURE_WARMUP_NONE);
    /* One turnover of the queue, some 5 ms of coalesced requests. */
    assert_true(world.result.warmup_seconds < 0.006);
}

/* Rates and latencies of queues that a run turns over a few times only, the one time from full to full. */
TEST(deep_slow_queues_have_the_throughput_of_the_truth)
{
    const double latency_s[] = {0.0086, 0.062, 0.11, 0.4};
    for (size_t i = 0; i < N_OF(latency_s); i++) {
        double sum = 0, mean_ns = 0, sum_ns = 0;
        for (uint64_t seed = 0; seed < 20; seed++) {
            world_simulate(64, 1);
            world.truth_bps = 65536 * 64 / latency_s[i];
            world.simulator.noise.op_cv = seed % 2 == 0 ? 0.1 : 0; /* in step or not */
            world.plan.duration_ns = MEASURE_MIN_DURATION_NS;
            world.plan.warmup_limit_ns = 10000000;
            world.plan.seed = seed;
            assert_int_equal(world_measure(), 0);
            assert_int_equal(histogram_mean_ns(&world.latency, &mean_ns), 0);
            assert_close(world.result.achieved_depth, 64, 0.7);
            assert_true(world.result.littles_law_error < 0.05);
            assert_true(world.result.n_requests >= MEASURE_MIN_REQUESTS);
            sum += world.result.throughput_bps / world.truth_bps / 20;
            sum_ns += mean_ns / 20;
        }
        assert_close(sum, 1, 0.006);
        assert_close(sum_ns / 1e9 / latency_s[i], 1, 0.006);
    }
}

TEST(buffered_writes_with_a_flush_have_no_warm_up)
{
    world_simulate(4, 1);
    world.plan.point.direct = 0;
    assert_int_equal(pattern_parse("randwrite", &world.plan.pattern, NULL), 0);
    assert_int_equal(world_measure(), 0);
    assert_int_equal(world.result.warmup, MEASURE_WARMUP_NONE);
    assert_close(world.result.throughput_bps / world.truth_bps, 1, 0.005);
}

/* ---- how it ends ---- */

TEST(point_outside_the_table_is_passed_on)
{
    world_simulate(1, 1);
    world.plan.point.request_size_bytes = 512;
    assert_int_equal(world_measure(), -ENODATA);
    assert_string_equal(world.err.text, "512 x 1 is not in the table");
    assert_int_equal(world.latency.n, 0);
    assert_int_equal(world.now_ns, 0);
}

TEST(interrupted_run_is_eintr_and_adds_nothing)
{
    world_simulate(4, 1);
    world.interrupt_when_asked = true;
    assert_int_equal(world_measure(), -EINTR);
    assert_string_equal(world.err.text, "interrupted");
    assert_int_equal(world.latency.n, 0);
    assert_int_equal(world.result.total_bytes_read, 0);
}

TEST(missing_flag_and_err_are_allowed)
{
    world_simulate(4, 1);
    world.env.interrupted = NULL;
    assert_int_equal(measure_run(&world.env, &world.plan, &world.result, &world.latency, NULL), 0);
    world.plan.point.request_size_bytes = 512;
    assert_int_equal(measure_run(&world.env, &world.plan, &world.result, &world.latency, NULL), -ENODATA);
}

TEST(hard_limit_bounds_all_bytes_of_a_run)
{
    const uint64_t limits[] = {4 * MIB, 40 * MIB, 123456789};
    for (size_t i = 0; i < 3; i++) {
        world_simulate(8, 2);
        world.simulator.noise.op_cv = 0.1;
        world.plan.max_bytes = limits[i];
        assert_int_equal(world_measure(), 0);
        assert_true(world.result.total_bytes_read <= limits[i]);
        /* A window closes when the rest may not last for two turnovers of 16 requests. */
        assert_true(world.result.total_bytes_read >= limits[i] - 2 * 16 * 65536);
        assert_true(world.result.bytes_read >= limits[i] / 4 && world.result.bytes_read <= limits[i]);
        assert_true(world.result.ended_by_bytes);
    }
}

TEST(hard_limit_that_is_not_reached_ends_nothing)
{
    world_simulate(1, 1);
    world.plan.max_bytes = 1ULL << 40;
    assert_int_equal(world_measure(), 0);
    assert_false(world.result.ended_by_bytes);
}

/* Not even one request may pass: an error says so, nothing is moved. */
TEST(hard_limit_below_one_request_is_refused)
{
    world_simulate(1, 1);
    world.simulator.noise.op_cv = 0.1;
    world.plan.max_bytes = 65535;
    assert_int_equal(world_measure(), -EFBIG);
    assert_non_null(strstr(world.err.text, "65535"));
    assert_int_equal(world.result.total_bytes_read, 0);
}

/* ---- rules ---- */

TEST(caps_are_those_of_the_contract)
{
    const uint64_t size = 1000 * MIB, none = UINT64_MAX;
    const struct {
        const char *pattern;
        uint32_t direct;
        enum sync sync;
        uint64_t cold, warm;
    } cases[] = {
        {"read", 0, SYNC_END, size, none},          {"read", 1, SYNC_END, size, none},
        {"randread", 0, SYNC_END, size / 4, none},  {"randread", 1, SYNC_END, size, none},
        {"write", 0, SYNC_END, size, size},         {"randwrite", 0, SYNC_END, size, size},
        {"write", 0, SYNC_NONE, none, none},        {"randwrite", 0, SYNC_EACH, none, none},
        {"write", 1, SYNC_END, none, none},         {"randwrite", 1, SYNC_END, none, none},
        {"randrw:50", 0, SYNC_END, size / 4, size}, {"randrw:50", 1, SYNC_END, size, none},
        {"rw:50", 0, SYNC_END, size / 2, size},     {"rw:50", 1, SYNC_END, size / 2, none},
    };
    struct target target = {.size_bytes = size};
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct measure_env env = {.target = &target, .cache = MEASURE_CACHE_COLD};
        struct point point = {.direct = cases[i].direct, .sync = cases[i].sync};
        struct pattern pattern;
        assert_int_equal(pattern_parse(cases[i].pattern, &pattern, NULL), 0);
        assert_int_equal(measure_cap_bytes(&env, &pattern, &point), cases[i].cold);
        env.cache = MEASURE_CACHE_WARM;
        assert_int_equal(measure_cap_bytes(&env, &pattern, &point), cases[i].warm);
    }
}

TEST(two_sizes_have_the_throughput_of_the_truth)
{
    const uint64_t writes[] = {4096, MIB};
    for (size_t i = 0; i < 4; i++) {
        world_simulate(8, 1);
        const struct measure_result *result = &world.result;
        world.simulator.noise.op_cv = i % 2 == 0 ? 0 : 0.1;
        world.plan.point.write_size_bytes = writes[i / 2];
        world.plan.duration_ns = 10 * CLOCK_NS_PER_S;
        assert_int_equal(pattern_parse("randrw:70", &world.plan.pattern, NULL), 0);
        assert_int_equal(world_measure(), 0);
        assert_close(result->throughput_bps / world.truth_bps, 1, 0.02);
        double n_reads = (double)result->bytes_read / 65536,
               n_writes = (double)result->bytes_written / (double)writes[i / 2];
        assert_close(n_reads + n_writes, (double)result->n_requests, 1e-6);
        assert_close(n_reads / (n_reads + n_writes), 0.7, 0.05);
        assert_true(result->littles_law_error < 0.02);
    }
}

/* Nothing of the machine may leak into a run whose times are virtual. */
TEST(simulated_run_has_no_watch)
{
    world_simulate(4, 1);
    memset(&world.result, 0, sizeof(world.result));
    assert_int_equal(world_measure(), 0);
    const struct run_monitor *monitor = &world.result.monitor;
    assert_true(isnan(monitor->busiest_thread_cpu_share) && isnan(monitor->busiest_helper_cpu_share));
    assert_true(isnan(monitor->steal_share) && isnan(monitor->psi_io_some_share) &&
                isnan(monitor->throttled));
    assert_true(isnan(monitor->own_read_bytes) && isnan(monitor->device_read_bytes));
    assert_true(isnan(monitor->clock_step_s) && isnan(monitor->span_s));
}

TEST(only_buffered_writes_with_a_flush_write_once)
{
    const char *const patterns[] = {"read", "randread", "write", "randwrite", "randrw:99"};
    for (size_t i = 0; i < 5; i++) {
        for (uint32_t direct = 0; direct < 2; direct++) {
            for (int sync = 0; sync < SYNC_N; sync++) {
                struct point point = {.direct = direct, .sync = (enum sync)sync};
                struct pattern pattern;
                assert_int_equal(pattern_parse(patterns[i], &pattern, NULL), 0);
                assert_int_equal(measure_writes_once(&pattern, &point),
                                 i >= 2 && direct == 0 && sync == SYNC_END);
            }
        }
    }
}

/* ---- runs that end by the number of their requests ---- */

/* 4000 requests a second and slot; by time a run lasts 1 s. */
static void measure_counted(uint32_t threads, uint64_t n_requests, uint64_t longest_ns)
{
    world_simulate(8, threads);
    world.simulator.noise.op_cv = 0.1;
    world.plan.warmup_limit_ns = 0;
    world.plan.n_requests = n_requests;
    world.plan.longest_ns = longest_ns;
    if (world_measure() != 0)
        fail_msg("%s", world.err.text);
}

TEST(a_counted_run_ends_with_its_requests)
{
    measure_counted(1, 4000, 0);
    assert_int_equal(world.result.n_requests, 4000);
    assert_close(world.result.seconds, 0.125, 0.005);
    assert_false(world.result.ended_by_bytes);
    measure_counted(4, 64000, 0);
    assert_int_equal(world.result.n_requests, 64000);
    measure_counted(1, 64000, 0);
    assert_close(world.result.seconds, 2, 0.05);
}

TEST(a_counted_run_has_50_ms_and_64_requests)
{
    measure_counted(1, 10, 0);
    assert_close(world.result.seconds, 0.05, 0.002);
    assert_true(world.result.n_requests > 64);
}

TEST(a_counted_run_has_a_longest_time)
{
    measure_counted(1, 1000000, CLOCK_NS_PER_S / 5);
    assert_close(world.result.seconds, 0.2, 0.005);
}

TEST(nothing_asked_for_is_by_time)
{
    measure_counted(1, 0, 0);
    assert_close(world.result.seconds, 1, 0.005);
}

/* ---- reads of one size, writes of another ---- */

TEST(random_kinds_of_two_sizes_have_half_the_cap)
{
    struct target target = {.size_bytes = 80 * MIB};
    struct measure_env env = {.target = &target, .cache = MEASURE_CACHE_COLD};
    struct point point = {.request_size_bytes = 4096, .write_size_bytes = MIB, .sync = SYNC_END};
    struct pattern mix, streams;
    assert_int_equal(pattern_parse("randrw:70", &mix, NULL), 0);
    assert_int_equal(pattern_parse("rw:70", &streams, NULL), 0);
    assert_int_equal(measure_cap_bytes(&env, &mix, &point), 10 * MIB);
    assert_int_equal(measure_cap_bytes(&env, &streams, &point), 40 * MIB);
    env.cache = MEASURE_CACHE_WARM;
    assert_int_equal(measure_cap_bytes(&env, &mix, &point), 40 * MIB);
    point.write_size_bytes = 0;
    assert_int_equal(measure_cap_bytes(&env, &mix, &point), 80 * MIB);
}

TEST(shares_are_shares_of_requests)
{
    struct point point = {.request_size_bytes = 4096};
    struct pattern mix;
    assert_int_equal(pattern_parse("seq-read=60,rand-read=10,rand-write=30", &mix, NULL), 0);
    assert_close(measure_request_bytes(&mix, &point), 4096, 0);
    point.write_size_bytes = 65536;
    assert_close(measure_request_bytes(&mix, &point), 0.7 * 4096 + 0.3 * 65536, 1e-9);
}
