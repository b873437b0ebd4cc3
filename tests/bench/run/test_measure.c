/* Tests of bench/run/measure on a simulated world with a known truth, and of its rules about bytes. */
#include "bench/run/measure.h"
#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576ULL

struct rig {
    uint64_t now_ns;
    struct clock clock;
    struct simulator_world world;
    struct measure_env env;
    struct measure_plan plan;
    struct measure_result result;
    struct histogram latency;
    struct err err;
    double truth_bps;
    atomic_int interrupted;
    bool interrupt_when_asked;
};

/* The table: any request size but 512. */
static int table_lookup(void *context, const struct pattern *pattern, const struct point *point,
                        double *ret_bps, struct err *err)
{
    struct rig *rig = context;
    assert_ptr_equal(pattern, &rig->plan.pattern);
    assert_ptr_equal(point, &rig->plan.point);
    if (rig->interrupt_when_asked)
        atomic_store(&rig->interrupted, 1);
    if (point->request_size_bytes == 512)
        return err_set(err, -ENODATA, "512 x 1 is not in the table");
    *ret_bps = rig->truth_bps;
    return 0;
}

/* 64 KiB requests at 4000 in flight per second and slot, random reads, 1 s. */
static struct rig *rig_alloc(uint32_t depth, uint32_t threads)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    assert_non_null(rig);
    rig->clock = clock_virtual(&rig->now_ns);
    rig->world.noise = (struct simulator_noise){.outlier_factor = 1, .warmup_factor = 1};
    rig->world.now_ns = &rig->now_ns;
    rig->truth_bps = 65536.0 * 4000 * depth * threads;
    rig->env = (struct measure_env){.clock = &rig->clock,
                                    .world = &rig->world,
                                    .truth_bps = table_lookup,
                                    .truth_context = rig,
                                    .interrupted = &rig->interrupted,
                                    .settle_limit_ns = MEASURE_SETTLE_NS};
    rig->plan = (struct measure_plan){.point = {.request_size_bytes = 65536,
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
    assert_int_equal(pattern_parse("randread", &rig->plan.pattern, NULL), 0);
    histogram_init(&rig->latency);
    return rig;
}

static int measure(struct rig *rig)
{
    return measure_run(&rig->env, &rig->plan, &rig->result, &rig->latency, &rig->err);
}

/* ---- what comes out --------------------------------------------------------------------------------------
 */

static void check_truth(uint32_t depth, uint32_t threads, double op_cv, double tolerance)
{
    struct rig *rig = rig_alloc(depth, threads);
    const struct measure_result *result = &rig->result;
    double mean_ns = 0;
    rig->world.noise.op_cv = op_cv;
    assert_int_equal(measure(rig), 0);
    assert_close(result->throughput_bps / rig->truth_bps, 1, tolerance);
    assert_close(result->iops * 65536 / result->throughput_bps, 1, 1e-9);
    assert_int_equal(result->bytes_read, result->n_requests * 65536);
    assert_int_equal(result->bytes_written, 0);
    assert_close((double)result->bytes_read / result->seconds / result->throughput_bps, 1, 1e-9);
    /* Of one thread; the drain at the end is a request's time long. */
    assert_close(result->achieved_depth, depth, 0.01 * depth);
    assert_true(result->littles_law_error < 1e-3);
    assert_int_equal(rig->latency.n, result->n_requests);
    assert_int_equal(histogram_mean_ns(&rig->latency, &mean_ns), 0);
    assert_close(mean_ns, 250e3, tolerance * 250e3);
    assert_true(result->settled && !result->sampled && !result->ended_by_bytes);
    assert_close(result->flush_seconds, 0, 0);
    free(rig);
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
        struct rig *rig = rig_alloc(8, 1);
        rig->world.noise.op_cv = 0.1;
        assert_int_equal(pattern_parse(patterns[i], &rig->plan.pattern, NULL), 0);
        assert_int_equal(measure(rig), 0);
        double share =
            (double)rig->result.bytes_read / (double)(rig->result.bytes_read + rig->result.bytes_written);
        assert_close(share, reads[i], reads[i] == 0.7 ? 0.02 : 0);
        free(rig);
    }
}

TEST(windows_hold_all_bytes_of_the_timed_part)
{
    struct rig *rig = rig_alloc(8, 4);
    uint64_t sum = 0;
    rig->world.noise.op_cv = 0.2;
    assert_int_equal(measure(rig), 0);
    for (size_t i = 0; i < PUMP_N_WINDOWS; i++)
        sum += rig->result.windows.bytes[i];
    assert_int_equal(sum, rig->result.bytes_read);
    assert_int_equal(rig->result.windows.width_ns, CLOCK_NS_PER_S / 64);
    free(rig);
}

TEST(requests_under_2_us_are_sampled)
{
    struct rig *rig = rig_alloc(1, 1);
    double mean_ns = 0;
    rig->truth_bps = 65536e6;
    rig->world.noise.op_cv = 0.1;
    rig->plan.duration_ns = CLOCK_NS_PER_S / 10;
    assert_int_equal(measure(rig), 0);
    assert_true(rig->result.sampled);
    assert_true(rig->latency.n < rig->result.n_requests / 20);
    assert_close(rig->result.throughput_bps / rig->truth_bps, 1, 0.005);
    assert_int_equal(histogram_mean_ns(&rig->latency, &mean_ns), 0);
    assert_close(mean_ns, 1000, 20);
    free(rig);
}

TEST(run_has_at_least_64_requests)
{
    struct rig *rig = rig_alloc(1, 1);
    rig->truth_bps = 65536 * 100;
    rig->plan.warmup_limit_ns = 0;
    rig->plan.duration_ns = MEASURE_MIN_DURATION_NS;
    assert_int_equal(measure(rig), 0);
    assert_int_equal(rig->result.n_requests, 64);
    assert_close(rig->result.seconds, 0.64, 1e-6);
    free(rig);
}

TEST(same_seed_gives_the_same_result)
{
    struct rig *rigs[3];
    for (size_t i = 0; i < 3; i++) {
        rigs[i] = rig_alloc(4, 2);
        rigs[i]->world.noise.op_cv = 0.3;
        rigs[i]->world.noise.run_cv = 0.2;
        rigs[i]->plan.seed = i < 2 ? 1 : 2;
        assert_int_equal(measure(rigs[i]), 0);
    }
    assert_true(rigs[0]->result.throughput_bps == rigs[1]->result.throughput_bps);
    assert_memory_equal(&rigs[0]->latency, &rigs[1]->latency, sizeof(struct histogram));
    assert_true(rigs[0]->result.throughput_bps != rigs[2]->result.throughput_bps);
    for (size_t i = 0; i < 3; i++)
        free(rigs[i]);
}

TEST(latencies_are_added_to_those_of_earlier_runs)
{
    struct rig *rig = rig_alloc(4, 1);
    assert_int_equal(measure(rig), 0);
    uint64_t n = rig->latency.n;
    assert_int_equal(measure(rig), 0);
    assert_int_equal(rig->latency.n, n + rig->result.n_requests);
    free(rig);
}

TEST(setting_up_is_reported_and_outside_the_span)
{
    struct rig *rig = rig_alloc(4, 1);
    rig->world.noise.setup_seconds = 0.25;
    assert_int_equal(measure(rig), 0);
    assert_close(rig->result.setup_seconds, 0.25, 1e-9);
    assert_close(rig->result.seconds, 1, 0.01);
    assert_close((double)rig->now_ns / 1e9, 0.25 + rig->result.warmup_seconds + rig->result.seconds, 1e-6);
    free(rig);
}

/* ---- warming up ------------------------------------------------------------------------------------------
 */

TEST(warm_up_lasts_until_latency_is_stable)
{
    struct rig *rig = rig_alloc(1, 1);
    rig->world.noise.op_cv = 0.05;
    rig->world.noise.warmup_seconds = 0.06;
    rig->world.noise.warmup_factor = 0.02;
    rig->plan.warmup_coef = 0.05;
    assert_int_equal(measure(rig), 0);
    assert_int_equal(rig->result.warmup, MEASURE_WARMUP_STABLE);
    assert_true(rig->result.warmup_seconds > 0.02 && rig->result.warmup_seconds < 0.5);
    assert_close(rig->result.throughput_bps / rig->truth_bps, 1, 0.01);
    assert_true(rig->result.total_bytes_read > rig->result.bytes_read);
    free(rig);
}

TEST(warm_up_ends_at_its_limit)
{
    struct rig *rig = rig_alloc(4, 2);
    rig->world.noise.op_cv = 2;
    rig->plan.warmup_coef = 0.001;
    rig->plan.warmup_limit_ns = CLOCK_NS_PER_S / 5;
    assert_int_equal(measure(rig), 0);
    assert_int_equal(rig->result.warmup, MEASURE_WARMUP_LIMIT);
    assert_true(rig->result.warmup_seconds >= 0.2);
    free(rig);
}

TEST(warm_up_lasts_its_least_time_however_stable)
{
    struct rig *rig = rig_alloc(8, 1);
    rig->plan.warmup_least_ns = CLOCK_NS_PER_S / 4;
    assert_int_equal(measure(rig), 0);
    assert_int_equal(rig->result.warmup, MEASURE_WARMUP_STABLE);
    assert_true(rig->result.warmup_seconds >= 0.25 && rig->result.warmup_seconds < 0.3);
    free(rig);
}

TEST(no_limit_means_no_warm_up)
{
    struct rig *rig = rig_alloc(4, 1);
    rig->plan.warmup_limit_ns = 0;
    assert_int_equal(measure(rig), 0);
    assert_int_equal(rig->result.warmup, MEASURE_WARMUP_NONE);
    assert_close(rig->result.warmup_seconds, 0, 0);
    assert_int_equal(rig->result.total_bytes_read, rig->result.bytes_read);
    free(rig);
}

TEST(buffered_writes_with_a_flush_have_no_warm_up)
{
    struct rig *rig = rig_alloc(4, 1);
    rig->plan.point.direct = 0;
    assert_int_equal(pattern_parse("randwrite", &rig->plan.pattern, NULL), 0);
    assert_int_equal(measure(rig), 0);
    assert_int_equal(rig->result.warmup, MEASURE_WARMUP_NONE);
    assert_close(rig->result.throughput_bps / rig->truth_bps, 1, 0.005);
    free(rig);
}

/* ---- how it ends -----------------------------------------------------------------------------------------
 */

TEST(point_outside_the_table_is_passed_on)
{
    struct rig *rig = rig_alloc(1, 1);
    rig->plan.point.request_size_bytes = 512;
    assert_int_equal(measure(rig), -ENODATA);
    assert_string_equal(rig->err.text, "512 x 1 is not in the table");
    assert_int_equal(rig->latency.n, 0);
    assert_int_equal(rig->now_ns, 0);
    free(rig);
}

TEST(interrupted_run_is_eintr_and_adds_nothing)
{
    struct rig *rig = rig_alloc(4, 1);
    rig->interrupt_when_asked = true;
    assert_int_equal(measure(rig), -EINTR);
    assert_string_equal(rig->err.text, "interrupted");
    assert_int_equal(rig->latency.n, 0);
    assert_int_equal(rig->result.total_bytes_read, 0);
    free(rig);
}

TEST(missing_flag_and_err_are_allowed)
{
    struct rig *rig = rig_alloc(4, 1);
    rig->env.interrupted = NULL;
    assert_int_equal(measure_run(&rig->env, &rig->plan, &rig->result, &rig->latency, NULL), 0);
    rig->plan.point.request_size_bytes = 512;
    assert_int_equal(measure_run(&rig->env, &rig->plan, &rig->result, &rig->latency, NULL), -ENODATA);
    free(rig);
}

TEST(hard_limit_bounds_all_bytes_of_a_run)
{
    const uint64_t limits[] = {4 * MIB, 40 * MIB, 123456789};
    for (size_t i = 0; i < 3; i++) {
        struct rig *rig = rig_alloc(8, 2);
        rig->world.noise.op_cv = 0.1;
        rig->plan.max_bytes = limits[i];
        assert_int_equal(measure(rig), 0);
        assert_true(rig->result.total_bytes_read <= limits[i]);
        assert_true(rig->result.total_bytes_read > limits[i] - 65536);
        assert_true(rig->result.bytes_read >= limits[i] / 4 * 3);
        assert_true(rig->result.ended_by_bytes);
        free(rig);
    }
}

TEST(hard_limit_that_is_not_reached_ends_nothing)
{
    struct rig *rig = rig_alloc(1, 1);
    rig->plan.max_bytes = 1ULL << 40;
    assert_int_equal(measure(rig), 0);
    assert_false(rig->result.ended_by_bytes);
    free(rig);
}

/* Not even one request may pass: an error says so, nothing is moved. */
TEST(hard_limit_below_one_request_is_refused)
{
    struct rig *rig = rig_alloc(1, 1);
    rig->world.noise.op_cv = 0.1;
    rig->plan.max_bytes = 65535;
    assert_int_equal(measure(rig), -EFBIG);
    assert_non_null(strstr(rig->err.text, "65535"));
    assert_int_equal(rig->result.total_bytes_read, 0);
    free(rig);
}

/* ---- rules -----------------------------------------------------------------------------------------------
 */

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
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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
        struct rig *rig = rig_alloc(8, 1);
        const struct measure_result *result = &rig->result;
        rig->world.noise.op_cv = i % 2 == 0 ? 0 : 0.1;
        rig->plan.point.write_size_bytes = writes[i / 2];
        rig->plan.duration_ns = 10 * CLOCK_NS_PER_S;
        assert_int_equal(pattern_parse("randrw:70", &rig->plan.pattern, NULL), 0);
        assert_int_equal(measure(rig), 0);
        assert_close(result->throughput_bps / rig->truth_bps, 1, 0.02);
        double n_reads = (double)result->bytes_read / 65536,
               n_writes = (double)result->bytes_written / (double)writes[i / 2];
        assert_close(n_reads + n_writes, (double)result->n_requests, 1e-6);
        assert_close(n_reads / (n_reads + n_writes), 0.7, 0.05);
        assert_true(result->littles_law_error < 0.02);
        free(rig);
    }
}

/* Nothing of the machine may leak into a run whose times are virtual. */
TEST(simulated_run_has_no_watch)
{
    struct rig *rig = rig_alloc(4, 1);
    memset(&rig->result, 0, sizeof(rig->result));
    assert_int_equal(measure(rig), 0);
    const struct run_monitor *monitor = &rig->result.monitor;
    assert_true(isnan(monitor->busiest_thread_cpu_share) && isnan(monitor->busiest_helper_cpu_share));
    assert_true(isnan(monitor->steal_share) && isnan(monitor->psi_io_some_share) &&
                isnan(monitor->throttled));
    assert_true(isnan(monitor->own_read_bytes) && isnan(monitor->device_read_bytes));
    assert_true(isnan(monitor->clock_step_s) && isnan(monitor->span_s));
    free(rig);
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
