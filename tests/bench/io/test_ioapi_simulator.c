/* Tests of bench/io/ioapi_simulator: what the simulated file system yields is what its keys promise
 * (interfaces, section 8). */
#include "bench/io/ioapi.h"
#include "bench/io/ioapi_simulator.h"
#include "bench/io/pump.h"
#include "tests/test.h"

#include <errno.h>

#define HOUR_NS   (3600 * CLOCK_NS_PER_S)
#define TRUTH_BPS (4096.0 * 1000) /* at depth 1: one request of 4 KiB in 1 ms */

struct rig {
    uint64_t now_ns;
    struct simulator_world world;
    struct point point;
    struct simulator_run run;
    struct histogram latency;
    struct pump_stats stats;
};

static struct rig *rig_alloc(uint32_t depth, uint32_t threads)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    assert_non_null(rig);
    rig->world.noise = (struct simulator_noise){.outlier_factor = 1, .warmup_factor = 1};
    rig->world.now_ns = &rig->now_ns;
    rig->point =
        (struct point){.request_size_bytes = 4096, .queue_depth = depth, .threads = threads, .direct = 1};
    rig->stats.counted.latency = &rig->latency;
    return rig;
}

/* One run of the given length; throughput from its first submission to its last completion. */
static double run(struct rig *rig, double seconds, uint64_t seed)
{
    simulator_run_init(&rig->run, &rig->world, &rig->point, TRUTH_BPS, (uint64_t)(seconds * 1e9), seed);
    struct clock clock = clock_virtual(&rig->now_ns);
    uint32_t n_requests = simulator_requests_per_call(&rig->run);
    struct pump_config config = {.clock = &clock,
                                 .ops = &ioapi_simulator,
                                 .region_bytes = 1ULL << 50,
                                 .n_calls = rig->run.n_in_flight,
                                 .request_size_bytes = 4096,
                                 .requests_per_call = n_requests,
                                 .rounds_per_call = n_requests,
                                 .batch_requests = 10,
                                 .seed = seed};
    struct ioapi_config io_config = {.n_calls = rig->run.n_in_flight, .simulator = &rig->run};
    struct pump_end end = {.duration_ns = (uint64_t)(seconds * 1e9)};
    struct pump pump;
    assert_int_equal(pattern_parse("randread", &config.pattern, NULL), 0);
    assert_int_equal(pump_init(&pump, &config, NULL), 0);
    pump.io = calloc(1, ioapi_simulator.state_size);
    assert_non_null(pump.io);
    assert_int_equal(ioapi_simulator.open(pump.io, &io_config, NULL), 0);
    assert_int_equal(pump_phase(&pump, &end, &rig->stats, NULL), 0);
    ioapi_simulator.close(pump.io);
    free(pump.io);
    pump_done(&pump);
    return (double)rig->stats.counted.bytes_read * 1e9 /
           (double)(rig->stats.last_complete_ns - rig->stats.first_submit_ns);
}

static double mean_of_runs(struct rig *rig, double seconds, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += run(rig, seconds, (uint64_t)i);
    return sum / n;
}

/* ---- throughput ---- */

TEST(without_noise_each_run_is_the_truth)
{
    const uint32_t shapes[][2] = {{1, 1}, {16, 1}, {16, 4}, {1024, 64}};
    for (size_t i = 0; i < 4; i++) {
        AUTO(auto_free) struct rig *rig = rig_alloc(shapes[i][0], shapes[i][1]);
        assert_close(run(rig, 1, 1), TRUTH_BPS, 1e-4 * TRUTH_BPS);
    }
}

static void check_mean(uint32_t depth, double op_cv, double op_ar1, double tolerance)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(depth, 1);
    rig->world.noise.op_cv = op_cv;
    rig->world.noise.op_ar1 = op_ar1;
    assert_close(mean_of_runs(rig, 2, 50) / TRUTH_BPS, 1, tolerance);
}

TEST(noise_of_requests_leaves_the_mean_throughput)
{
    check_mean(1, 0.1, 0, 0.002);
    check_mean(1, 0.5, 0, 0.005);
    /* The drain of 16 requests of 16 ms each is part of the 2 s. */
    check_mean(16, 0.1, 0, 0.004);
}

TEST(correlated_noise_leaves_the_mean_throughput)
{
    check_mean(1, 0.1, 0.9, 0.006);
    check_mean(16, 0.1, 0.9, 0.008);
}

TEST(latency_varies_as_asked)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
    rig->world.noise.op_cv = 0.3;
    run(rig, 100, 1);
    double mean_ns = 0;
    assert_int_equal(histogram_mean_ns(&rig->latency, &mean_ns), 0);
    assert_close(mean_ns, 1e6, 3e3);
    assert_close(batch_stats_std_ns(&rig->stats.batches) / sqrt(10) / mean_ns, 0.3, 0.01);
}

/* ---- one call at a time ---- */

struct queue {
    struct simulator_run run;
    void *io;
    struct io_call calls[64];
};

static void queue_open(struct queue *queue, struct rig *rig)
{
    simulator_run_init(&queue->run, &rig->world, &rig->point, TRUTH_BPS, CLOCK_NS_PER_S, 5);
    struct ioapi_config config = {.n_calls = queue->run.n_in_flight, .simulator = &queue->run};
    queue->io = calloc(1, ioapi_simulator.state_size);
    assert_non_null(queue->io);
    assert_int_equal(ioapi_simulator.open(queue->io, &config, NULL), 0);
    for (uint32_t i = 0; i < 64; i++)
        queue->calls[i] = (struct io_call){.slot = i, .size_bytes = 4096, .n_requests = 1, .n_rounds = 1};
}

static void queue_close(struct queue *queue)
{
    ioapi_simulator.close(queue->io);
    free(queue->io);
}

static int queue_submit(struct queue *queue, uint32_t first, size_t n)
{
    struct io_call *calls[64];
    size_t accepted = 0;
    for (size_t i = 0; i < n; i++)
        calls[i] = &queue->calls[(first + i) % 64];
    int result = ioapi_simulator.submit(queue->io, calls, n, &accepted, NULL);
    assert_int_equal(accepted, result == 0 ? n : 0);
    return result;
}

static double one_latency_ns(struct queue *queue, const struct rig *rig)
{
    struct io_call *done;
    size_t n_done = 0;
    uint64_t start_ns = rig->now_ns;
    assert_int_equal(queue_submit(queue, 0, 1), 0);
    assert_int_equal(ioapi_simulator.reap(queue->io, &done, 1, IOAPI_NO_END, &n_done, NULL), 0);
    return (double)(rig->now_ns - start_ns);
}

TEST(log_latencies_correlate_as_asked)
{
    const double rhos[] = {0, 0.7};
    for (size_t k = 0; k < 2; k++) {
        AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
        AUTO(queue_close) struct queue queue;
        double previous = 0, sum = 0, sum_squares = 0, sum_products = 0;
        const int n = 20000;
        rig->world.noise.op_cv = 0.2;
        rig->world.noise.op_ar1 = rhos[k];
        queue_open(&queue, rig);
        for (int i = 0; i < n; i++) {
            double value = log(one_latency_ns(&queue, rig) / 1e6) + log1p(0.04) / 2;
            sum += value;
            sum_squares += value * value;
            sum_products += value * previous;
            previous = value;
        }
        assert_close(sum / n, 0, k == 0 ? 0.005 : 0.012);
        assert_close(sqrt(sum_squares / n), sqrt(log1p(0.04)), 0.01);
        assert_close(sum_products / sum_squares, rhos[k], 0.025);
    }
}

TEST(completions_come_in_order_of_time)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(64, 1);
    AUTO(queue_close) struct queue queue;
    rig->world.noise.op_cv = 1;
    queue_open(&queue, rig);
    for (int round = 0; round < 50; round++) {
        bool seen[64] = {false};
        uint64_t last_ns = rig->now_ns;
        assert_int_equal(queue_submit(&queue, (uint32_t)round, 64), 0);
        for (size_t taken = 0; taken < 64;) {
            struct io_call *done[64];
            size_t n = 0;
            assert_int_equal(ioapi_simulator.reap(queue.io, done, 64, IOAPI_NO_END, &n, NULL), 0);
            assert_true(n >= 1 && rig->now_ns > last_ns);
            last_ns = rig->now_ns;
            for (size_t i = 0; i < n; i++) {
                assert_false(seen[done[i]->slot]);
                seen[done[i]->slot] = true;
                assert_int_equal(done[i]->result, 4096);
            }
            taken += n;
        }
    }
}

TEST(equal_times_complete_in_order_of_submission)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(64, 1);
    AUTO(queue_close) struct queue queue;
    queue_open(&queue, rig);
    assert_int_equal(queue_submit(&queue, 10, 64), 0);
    for (uint32_t i = 0; i < 64; i++) {
        struct io_call *done;
        size_t n = 0;
        assert_int_equal(ioapi_simulator.reap(queue.io, &done, 1, IOAPI_NO_END, &n, NULL), 0);
        assert_int_equal(done->slot, (10 + i) % 64);
        assert_int_equal(rig->now_ns, 64 * 1000000);
    }
}

TEST(more_than_the_depth_is_ebusy_and_nothing_in_flight_enodata)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(4, 2);
    AUTO(queue_close) struct queue queue;
    struct io_call *done;
    size_t n = 77;
    queue_open(&queue, rig);
    assert_int_equal(ioapi_simulator.reap(queue.io, &done, 1, IOAPI_NO_END, &n, NULL), -ENODATA);
    assert_int_equal(n, 77);
    assert_int_equal(queue_submit(&queue, 0, 8), 0);
    assert_int_equal(queue_submit(&queue, 8, 1), -EBUSY);
}

/* ---- disturbances of a run ---- */

/* Mean and standard deviation of ln(run_factor), and the mean of run_factor. */
static void factor_moments(const struct rig *rig, double seconds, double *ret_mean, double *ret_log_std)
{
    const int n = 40000;
    double sum = 0, log_sum = 0, log_squares = 0;
    for (int i = 0; i < n; i++) {
        struct simulator_run drawn;
        simulator_run_init(&drawn, &rig->world, &rig->point, TRUTH_BPS, (uint64_t)(seconds * 1e9),
                           (uint64_t)i);
        sum += drawn.run_factor;
        log_sum += log(drawn.run_factor);
        log_squares += log(drawn.run_factor) * log(drawn.run_factor);
    }
    *ret_mean = sum / n;
    *ret_log_std = sqrt(log_squares / n - log_sum / n * log_sum / n);
}

TEST(run_factor_has_mean_1_and_the_asked_spread)
{
    const double cvs[] = {0, 0.05, 0.3};
    for (size_t i = 0; i < 3; i++) {
        AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
        double mean, log_std;
        rig->world.noise.run_cv = cvs[i];
        factor_moments(rig, 1, &mean, &log_std);
        assert_close(mean, 1, 0.02 * cvs[i] + 1e-12);
        assert_close(log_std, sqrt(log1p(cvs[i] * cvs[i])), 0.015 * cvs[i] + 1e-7);
    }
}

/* Interfaces, section 8: log variance times (2 tau/T)(1 - (tau/T)(1 - exp(-T/tau))). Values by hand for T/tau
 * = 2, 0.2, 40: 1 - (1 - e^-2)/2 = 0.567668; 10 (1 - 5 (1 - e^-0.2)) = 0.936538; 0.05 (1 - 1/40) = 0.04875.
 */
TEST(longer_runs_average_the_disturbance_out)
{
    const double cases[][2] = {{0.5, 0.567668}, {5, 0.936538}, {0.025, 0.04875}};
    for (size_t i = 0; i < 3; i++) {
        AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
        double mean, log_std;
        rig->world.noise.run_cv = 0.2;
        rig->world.noise.run_cv_seconds = cases[i][0];
        factor_moments(rig, 1, &mean, &log_std);
        double expected = sqrt(log(1.04) * cases[i][1]);
        assert_close(log_std, expected, 0.015 * expected);
        assert_close(mean, 1, 0.004);
    }
}

TEST(correlation_time_without_end_is_one_factor_per_run)
{
    const double taus[] = {1e4, 1e6, 1e7, 1e9, 1e15};
    AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
    struct simulator_run constant, slow;
    rig->world.noise.run_cv = 0.2;
    simulator_run_init(&constant, &rig->world, &rig->point, TRUTH_BPS, CLOCK_NS_PER_S / 20, 3);
    for (size_t i = 0; i < 5; i++) {
        rig->world.noise.run_cv_seconds = taus[i];
        simulator_run_init(&slow, &rig->world, &rig->point, TRUTH_BPS, CLOCK_NS_PER_S / 20, 3);
        assert_close(slow.run_factor, constant.run_factor, 2e-5);
    }
}

TEST(run_factor_multiplies_throughput)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(4, 1);
    rig->world.noise.run_cv = 0.3;
    for (uint64_t seed = 0; seed < 20; seed++)
        assert_close(run(rig, 1, seed) / TRUTH_BPS / rig->run.run_factor, 1, 1e-4);
}

TEST(outliers_are_as_frequent_and_as_slow_as_asked)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
    int n_outliers = 0;
    const int n = 20000;
    rig->world.noise.outlier_probability = 0.2;
    rig->world.noise.outlier_factor = 4;
    for (int i = 0; i < n; i++) {
        struct simulator_run drawn;
        simulator_run_init(&drawn, &rig->world, &rig->point, TRUTH_BPS, 1, (uint64_t)i);
        assert_true(drawn.run_factor == 1 || drawn.run_factor == 0.25);
        n_outliers += drawn.run_factor == 0.25;
    }
    assert_close((double)n_outliers / n, 0.2, 4 * sqrt(0.16 / n));
}

/* ---- disturbances over time ---- */

TEST(drift_goes_with_virtual_time)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
    rig->world.noise.drift_per_hour = -0.3;
    assert_close(run(rig, 1, 1) / TRUTH_BPS, 1, 1e-3);
    rig->now_ns = HOUR_NS;
    assert_close(run(rig, 1, 1) / TRUTH_BPS, 0.7, 1e-3);
    rig->now_ns = 2 * HOUR_NS;
    assert_close(run(rig, 1, 1) / TRUTH_BPS, 0.4, 1e-3);
    rig->now_ns = 10 * HOUR_NS; /* below zero: bounded, or the run would never end */
    assert_close(run(rig, 100, 1) / TRUTH_BPS, 1e-3, 1e-4);
}

TEST(trace_is_a_step_function_of_time)
{
    static const struct simulator_trace_step trace[] = {{10, 2}, {20, 0.5}, {30, 0.25}};
    const double at[] = {0, 8, 10, 18, 20, 25, 30, 1000}, factor[] = {1, 1, 2, 2, 0.5, 0.5, 0.25, 0.25};
    AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
    rig->world.trace = trace;
    rig->world.n_trace = 3;
    for (size_t i = 0; i < 8; i++) {
        rig->now_ns = (uint64_t)(at[i] * 1e9);
        assert_close(run(rig, 1, 1) / TRUTH_BPS, factor[i], 1e-4 * factor[i]);
    }
    /* 1 s on either side of a step. */
    rig->now_ns = 19 * CLOCK_NS_PER_S;
    assert_close(run(rig, 2, 1) / TRUTH_BPS, 1.25, 0.01);
}

/* Bytes until T: truth x (T + (f - 1) w/3 (1 - exp(-3 T/w))). */
TEST(warm_up_transient_has_its_integral)
{
    const double factors[] = {0.25, 3}, seconds[] = {0.2, 1, 5};
    for (size_t i = 0; i < 6; i++) {
        AUTO(auto_free) struct rig *rig = rig_alloc(2, 1);
        double f = factors[i / 3], t = seconds[i % 3], w = 2;
        rig->now_ns = 77 * CLOCK_NS_PER_S; /* counted from the start of the run */
        rig->world.noise.warmup_seconds = w;
        rig->world.noise.warmup_factor = f;
        rig->world.noise.setup_seconds = 3; /* the set-up does not warm */
        double mean = 1 + (f - 1) * w / 3 * (1 - exp(-3 * t / w)) / t;
        assert_close(run(rig, t, 1) / TRUTH_BPS, mean, 0.02 * mean);
    }
}

/* Half of each period at twice the rate: what falls into the burst sees that, what lasts sees the table's. */
TEST(pulses_keep_the_rate_of_whole_periods)
{
    const double seconds[] = {0.045, 0.445, 10}, ratios[] = {2, 2 * (4 * 0.05 + 0.045) / 0.445, 1};
    for (size_t i = 0; i < 3; i++) {
        AUTO(auto_free) struct rig *rig = rig_alloc(2, 1);
        rig->now_ns = 77 * CLOCK_NS_PER_S; /* they begin with the run */
        rig->world.noise.pulse_seconds = 0.1;
        rig->world.noise.pulse_share = 0.5;
        assert_close(run(rig, seconds[i], 1) / TRUTH_BPS, ratios[i], 0.02 * ratios[i]);
    }
}

/* A request longer than many periods, from any phase. */
TEST(a_request_lasts_through_pulses)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
    rig->world.noise.pulse_seconds = 0.01;
    rig->world.noise.pulse_share = 0.25;
    rig->point.request_size_bytes = 4096;
    rig->point.queue_depth = 1024;
    assert_close(run(rig, 3, 1) / TRUTH_BPS, 1, 0.05);
}

TEST(setting_up_spends_virtual_time)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
    struct simulator_run drawn;
    rig->now_ns = 1000;
    rig->world.noise.setup_seconds = 0.25;
    simulator_run_init(&drawn, &rig->world, &rig->point, TRUTH_BPS, 1, 1);
    assert_int_equal(rig->now_ns, 250001000);
    assert_int_equal(drawn.started_ns, 250001000);
}

/* ---- form ---- */

TEST(same_seed_gives_the_same_times)
{
    struct rig *rigs[3];
    for (size_t i = 0; i < 3; i++) {
        rigs[i] = rig_alloc(16, 2);
        rigs[i]->world.noise.op_cv = 0.4;
        rigs[i]->world.noise.op_ar1 = 0.5;
        rigs[i]->world.noise.run_cv = 0.1;
        run(rigs[i], 1, i < 2 ? 8 : 9);
    }
    assert_int_equal(rigs[0]->now_ns, rigs[1]->now_ns);
    assert_memory_equal(&rigs[0]->latency, &rigs[1]->latency, sizeof(struct histogram));
    assert_memory_equal(rigs[0]->stats.windows.bytes, rigs[1]->stats.windows.bytes,
                        sizeof(rigs[0]->stats.windows.bytes));
    assert_int_not_equal(rigs[0]->now_ns, rigs[2]->now_ns);
    for (size_t i = 0; i < 3; i++)
        free(rigs[i]);
}

static uint32_t requests_per_call(double truth_bps, double op_cv)
{
    struct rig *rig = rig_alloc(2, 1);
    rig->world.noise.op_cv = op_cv;
    simulator_run_init(&rig->run, &rig->world, &rig->point, truth_bps, 1, 1);
    uint32_t n = simulator_requests_per_call(&rig->run);
    free(rig);
    return n;
}

TEST(one_call_stands_for_5_ms_of_its_slot_without_noise)
{
    /* Two in flight: 4096 x 1000 bytes/s are 2 ms each. */
    assert_int_equal(requests_per_call(4096.0 * 1000, 0), 2);
    assert_int_equal(requests_per_call(4096.0 * 100, 0), 1);
    assert_int_equal(requests_per_call(4096.0 * 2048000, 0), 5120);
    assert_int_equal(requests_per_call(1e18, 0), 1000000);
    assert_int_equal(requests_per_call(4096.0 * 2048000, 0.01), 1);
}
