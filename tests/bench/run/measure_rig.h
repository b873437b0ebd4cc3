/* tests/bench/run/measure_rig: one world for the tests of runs - a small target file, or a simulated file
 * with a known truth - with all that a run in it needs. */
#pragma once

#include "bench/run/measure.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <errno.h>

static struct world {
    struct target target;
    struct verify verify;
    struct arena arena;
    struct simulator_world simulator;
    uint64_t now_ns; /* of the simulated clock */
    struct clock clock;
    double truth_bps;
    bool interrupt_when_asked;
    atomic_int interrupted;
    struct measure_env env;
    struct measure_plan plan;
    struct measure_result result;
    struct histogram latency;
    struct err err;
} world;

/* What a run is about, with an empty histogram; the rest is as most tests want it. */
static inline void world_plan(const char *pattern, struct point point, uint64_t duration_ns)
{
    world.plan = (struct measure_plan){.point = point,
                                       .duration_ns = duration_ns,
                                       .warmup_coef = WARMUP_COEF_DEFAULT,
                                       .warmup_window = WARMUP_WINDOW_DEFAULT,
                                       .batch_requests = WARMUP_BATCH_DEFAULT,
                                       .seed = 3};
    assert_int_equal(pattern_parse(pattern, &world.plan.pattern, NULL), 0);
    histogram_init(&world.latency);
}

static inline int world_measure(void)
{
    return measure_run(&world.env, &world.plan, &world.result, &world.latency, &world.err);
}

/* The simulated table: any request size but 512. */
static inline int world_truth(void *context, const struct pattern *pattern, const struct point *point,
                              double *ret_bps, struct err *err)
{
    assert_ptr_equal(context, &world);
    assert_ptr_equal(pattern, &world.plan.pattern);
    assert_ptr_equal(point, &world.plan.point);
    if (world.interrupt_when_asked)
        atomic_store(&world.interrupted, 1);
    if (point->request_size_bytes == 512)
        return err_set(err, -ENODATA, "512 x 1 is not in the table");
    *ret_bps = world.truth_bps;
    return 0;
}

/* 64 KiB requests at 4000 in flight per second and slot, random reads, 1 s. */
static inline void world_simulate(uint32_t depth, uint32_t threads)
{
    memset(&world, 0, sizeof(world));
    world.clock = clock_virtual(&world.now_ns);
    world.simulator =
        (struct simulator_world){.noise = {.outlier_factor = 1, .warmup_factor = 1}, .now_ns = &world.now_ns};
    world.truth_bps = 65536.0 * 4000 * depth * threads;
    world.env = (struct measure_env){.clock = &world.clock,
                                     .world = &world.simulator,
                                     .truth_bps = world_truth,
                                     .truth_context = &world,
                                     .interrupted = &world.interrupted,
                                     .settle_limit_ns = MEASURE_SETTLE_NS};
    world_plan("randread", (struct point){65536, depth, 1, API_IO_URING, threads, SYNC_END, 0, 0},
               CLOCK_NS_PER_S);
    world.plan.warmup_limit_ns = CLOCK_NS_PER_S;
    world.plan.seed = 11;
}

/* A real file; the result of target_create, having said why when there can be none. */
static inline int world_make_file(const struct target_plan *plan)
{
    world.env = (struct measure_env){.clock = &clock_monotonic,
                                     .target = &world.target,
                                     .interrupted = &world.interrupted,
                                     .verify = plan->verify,
                                     .cache = MEASURE_CACHE_WARM,
                                     .arena = &world.arena};
    int code = target_create(&world.target, plan, &world.err);
    if (code < 0)
        print_message("no target here: %s\n", world.err.text);
    return code;
}

static inline int world_leave(void **state)
{
    (void)state;
    target_close(&world.target);
    verify_close(&world.verify);
    arena_free(&world.arena);
    memset(&world, 0, sizeof(world));
    return 0;
}
