/* tests/models/engine/engine_rig: an engine over a made-up response, without a clock or a file. */
#pragma once

#include "models/engine/engine_internal.h"
#include "tests/models/grid.h"
#include "tests/models/rng.h"

/* Nine sizes, six depths, direct or not. */
enum { N_SIZES = 9, N_DEPTHS = 6, N_POINTS = N_SIZES * N_DEPTHS * 2, N_OUTSIDE = 3 };

static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED, SPACE_CATEGORY};
GRID_SPACE(space, kinds, N_SIZES, N_DEPTHS, 2)

static struct engine engine;

/* What the made-up device does. */
static struct {
    double (*response)(const struct engine_run *run);
    double std;          /* from run to run */
    double tail;         /* share of the requests that pass the limit; NaN: by the rate, see told_of */
    double now, seconds; /* passed, and of a run besides its length */
    size_t n_runs, n_confirming;
    size_t fails;        /* the point whose runs fail; ENGINE_NONE */
    size_t refuses_from; /* runs are refused after so many; 0: none is */
} device;

static inline size_t point_of(size_t size, size_t depth, size_t direct)
{
    return size + N_SIZES * (depth + N_DEPTHS * direct);
}

static inline double size_of(size_t point)
{
    return (double)(point % N_SIZES);
}

static inline double depth_of(size_t point)
{
    return (double)(point / N_SIZES % N_DEPTHS);
}

#define HILL point_of(4, 2, 1)

/* Best at HILL, by e^21; whoever is outside the space is as slow as the first point. */
static inline double hill(size_t point)
{
    if (point >= N_POINTS)
        point = 0;
    double size = size_of(point) - 4, depth = depth_of(point) - 2;
    return 21 - 0.06 * size * size - 0.1 * depth * depth - (point < N_POINTS / 2 ? 0.4 : 0);
}

static inline double hill_response(const struct engine_run *run)
{
    return hill(run->point);
}

static inline double flat_response(const struct engine_run *run)
{
    (void)run;
    return 21;
}

static inline int end_engine(__attribute__((unused)) void **state)
{
    engine_done(&engine);
    engine = (struct engine){0};
    return 0;
}

/* A file of tests each of which may leave an engine behind. */
#define ENGINES()                                                                                            \
    GROUP(NULL, NULL);                                                                                       \
    EACH_TEST(NULL, end_engine)

/* As a usual search, of a minute. */
static inline struct engine usual(void)
{
    return (struct engine){
        .space = &space,
        .search = &search_auto,
        .policy = {.final_share = 0.2, .races_on = true, .races_again = true, .chooses_again = true},
        .margin = 0.03,
        .tolerance = 0.03,
        .confidence_share = 0.95,
        .budget_seconds = 60,
        .end_seconds = 60,
        .grace_seconds = 3,
        .run_seconds = 0.06,
        .duration_seconds = 0.05,
        .design_share = 1,
        .is_of_rates = true,
        .n_outside_most = N_OUTSIDE};
}

static inline struct engine night(void)
{
    struct engine wanted = usual();
    wanted.policy = (struct engine_policy){.final_share = 0.3,
                                           .most_replays = 40,
                                           .n_contenders = 3,
                                           .sentinel_runs = 2,
                                           .weighs_chances = true,
                                           .baseline_first = true,
                                           .costs_alike = true};
    return wanted;
}

/* An engine before its first run, and a device whose best point is HILL. */
static inline void begin(struct engine wanted, unsigned long seed)
{
    end_engine(NULL);
    engine = wanted;
    memset(&device, 0, sizeof device);
    device.response = hill_response;
    device.std = 0.02;
    device.tail = NAN;
    device.seconds = 0.01;
    device.fails = ENGINE_NONE;
    gsl_rng_set(rng, seed);
    assert_int_equal(engine_init(&engine, 0, seed), 0);
    for (size_t i = 0; i < N_POINTS + N_OUTSIDE; i++) {
        size_t point = i % N_POINTS;
        engine.points[i].in_flight_bytes = exp2(12 + size_of(point) + depth_of(point));
        engine.points[i].least_bytes = 64 * exp2(12 + size_of(point));
    }
    engine.baseline = 0;
    engine_expect_costs(&engine);
}

static inline struct engine_result told_of(const struct engine_run *run)
{
    double response = device.response(run) + gsl_ran_gaussian(rng, device.std);
    if (response > engine.belief.ceiling) /* what a run shows above a known limit does not count */
        response = engine.belief.ceiling;
    double bps = exp(response);
    double latency_ns = engine.points[run->point].in_flight_bytes / bps * 1e9, n = 500;
    /* Latencies are exponential unless the test says how many are slow. */
    double over = isfinite(device.tail) ? device.tail : exp(-engine.limit_ns / latency_ns);
    return (struct engine_result){.response = response,
                                  .bps = bps,
                                  .latency_ns = latency_ns,
                                  .p99_ns = latency_ns * log(100),
                                  .seconds = engine.duration_seconds,
                                  .n_timed = n,
                                  .n_over_limit = engine.limit_ns > 0 ? floor(n * over + 0.5) : 0};
}

static inline void make_run(const struct engine_run *run)
{
    struct engine_result result = told_of(run);
    double warmup = engine.points[run->point].in_flight_bytes / result.bps;
    double seconds = device.seconds + 2 * warmup + engine.duration_seconds;
    if (device.refuses_from > 0 && device.n_runs >= device.refuses_from) {
        engine_refuse(&engine);
        return;
    }
    device.now += seconds;
    device.n_runs++;
    device.n_confirming += run->confirming;
    if (run->point == device.fails) {
        engine_fail(&engine, run->point);
        return;
    }
    assert_int_equal(engine_tell(&engine, run, &result), 0);
    engine_tell_cost(&engine, run->point, seconds, warmup, result.seconds, result.bps);
}

/* Asks and tells until a phase begins; ENGINE_END: to the end. */
static inline void run_until(enum engine_phase phase)
{
    struct engine_run run;
    for (;;) {
        int asked = engine_ask(&engine, device.now, &run);
        assert_true(asked >= 0);
        if (asked == ENGINE_DONE)
            assert_int_equal(engine.phase, ENGINE_END);
        if (asked == ENGINE_DONE || (asked == ENGINE_TURN && engine.phase == phase))
            return;
        if (asked == ENGINE_RUN)
            make_run(&run);
    }
}

static inline void tell(size_t point, double response, size_t n)
{
    struct engine_run run = {.point = point};
    struct engine_result result = {
        .response = response, .bps = exp(response), .latency_ns = 1e5, .p99_ns = NAN, .seconds = 0.05};
    for (size_t i = 0; i < n; i++)
        assert_int_equal(engine_tell(&engine, &run, &result), 0);
}

static inline void update(void)
{
    assert_int_equal(belief_update(&engine.belief, true, engine.rng), 0);
    engine_expect_costs(&engine);
    engine_limit_expect(&engine);
}
