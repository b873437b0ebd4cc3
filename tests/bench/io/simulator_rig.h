/* tests/bench/io/simulator_rig: runs on a simulated file system, for the tests of bench/io/ioapi_simulator.
 */
#pragma once

#include "bench/io/ioapi.h"
#include "bench/io/ioapi_simulator.h"
#include "bench/io/pump.h"
#include "tests/test.h"

#define TRUTH_BPS (4096.0 * 1000) /* at depth 1: one request of 4 KiB in 1 ms */

struct rig {
    uint64_t now_ns;
    struct simulator_world world;
    struct point point;
    struct simulator_run run;
    struct histogram latency;
    struct pump_stats stats;
};

static inline struct rig *rig_alloc(uint32_t depth, uint32_t threads)
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
static inline double run(struct rig *rig, double seconds, uint64_t seed)
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
