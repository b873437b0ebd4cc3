/* Tests of bench/run/measure: figures of several threads, on a real file. */
#include "tests/bench/run/measure_rig.h"

#include <pthread.h>
#include <stdatomic.h>

#define REQUEST_BYTES 65536
#define TICK_NS       10000
#define SLICE_TICKS   100 /* 1 ms */
#define SLICES_RATE   ((double)REQUEST_BYTES * 1e9 / TICK_NS)

static const uint32_t threads[] = {1, 2, 8, 32};

/* ---- a clock for which threads run one after the other ---------------------------------------------------
 *
 * Every look at it takes TICK_NS. Threads beside the main one have it in turn, for SLICE_TICKS looks at a
 * time.
 */

static struct {
    pthread_key_t owner;
    pthread_mutex_t lock;
    pthread_cond_t passed;
    uint64_t next_ticket, serving;
    uint64_t first_tick_ns; /* of the next thread that looks; 0: as of all others */
    atomic_ullong hand_ns;
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER, .passed = PTHREAD_COND_INITIALIZER, .hand_ns = CLOCK_NS_PER_S};

static _Thread_local uint64_t tick_ns = TICK_NS, ticks_left;

static void take_turn(bool holds)
{
    pthread_mutex_lock(&turns.lock);
    uint64_t ticket = turns.next_ticket++;
    turns.serving += holds;
    pthread_cond_broadcast(&turns.passed);
    while (turns.serving != ticket)
        pthread_cond_wait(&turns.passed, &turns.lock);
    if (!holds) {
        tick_ns = turns.first_tick_ns != 0 ? turns.first_tick_ns : TICK_NS;
        turns.first_tick_ns = 0;
    }
    pthread_mutex_unlock(&turns.lock);
    ticks_left = SLICE_TICKS;
    pthread_setspecific(turns.owner, &turns);
}

static void end_turn(void *value)
{
    (void)value;
    pthread_mutex_lock(&turns.lock);
    turns.serving++;
    pthread_cond_broadcast(&turns.passed);
    pthread_mutex_unlock(&turns.lock);
}

static uint64_t now_in_turn_ns(const struct clock *clock)
{
    (void)clock;
    if (gettid() != getpid() && ticks_left-- == 0)
        take_turn(pthread_getspecific(turns.owner) != NULL);
    return atomic_fetch_add(&turns.hand_ns, tick_ns) + tick_ns;
}

static void sleep_in_no_time(const struct clock *clock, uint64_t deadline_ns)
{
    (void)clock;
    (void)deadline_ns;
}

static const struct clock_ops turn_ops = {now_in_turn_ns, sleep_in_no_time};
static const struct clock clock_of_turns = {.ops = &turn_ops};

/* ---- runs ---- */

FIXTURE(set_up)
{
    struct target_plan plan = rig_plan(directory, TARGET_SIZE_MIN_BYTES);
    int code = world_make_file(&plan);
    return code < 0 ? code : pthread_key_create(&turns.owner, end_turn);
}

GROUP(set_up, world_leave);

/* Buffered, one request at a time in each thread, and no warm-up. max_bytes 0: until the time is over. */
static void measure(const struct clock *clock, const char *pattern, uint32_t n_threads, uint64_t duration_ns,
                    uint64_t max_bytes)
{
    world_plan(pattern, (struct point){REQUEST_BYTES, 1, 0, API_PSYNC, n_threads, SYNC_END, 0, 0},
               duration_ns);
    world.plan.max_bytes = max_bytes;
    world.env.clock = clock;
    if (world_measure() < 0)
        fail_msg("%s", world.err.text);
    assert_int_equal(world.result.ended_by_bytes, max_bytes > 0);
}

static void measure_in_turn(uint32_t n_threads)
{
    measure(&clock_of_turns, "randread", n_threads, 400000000, 0);
}

static void check_rates(void)
{
    double bytes = (double)(world.result.bytes_read + world.result.bytes_written);
    assert_close(world.result.throughput_bps * world.result.seconds / bytes, 1, 1e-12);
    assert_close(world.result.iops * world.result.seconds / (double)world.result.n_requests, 1, 1e-12);
}

TEST(rate_times_span_is_bytes)
{
    const char *const patterns[] = {"read", "randread", "write"};
    for (size_t i = 0; i < 4; i++) {
        for (size_t p = 0; p < 3; p++) {
            measure(&clock_monotonic, patterns[p], threads[i], 1000 * CLOCK_NS_PER_S, 64 * MIB);
            check_rates();
            assert_true(world.result.seconds <= world.result.monitor.span_s);
        }
        measure(&clock_monotonic, "randread", threads[i], MEASURE_MIN_DURATION_NS, 0);
        check_rates();
    }
}

/* A request completes with every tick, whichever thread's it is. */
TEST(threads_in_turn_have_the_rate_of_one)
{
    for (size_t i = 0; i < 4; i++) {
        measure_in_turn(threads[i]);
        check_rates();
        assert_close(world.result.throughput_bps / SLICES_RATE, 1, 0.05);
    }
}

/* One of them is at work at a time: a thread has one request in flight, but is at its turn once in n. */
TEST(depth_of_threads_in_turn_obeys_littles_law)
{
    for (size_t i = 0; i < 4; i++) {
        double mean_ns = 0;
        measure_in_turn(threads[i]);
        assert_int_equal(histogram_mean_ns(&world.latency, &mean_ns), 0);
        assert_close(mean_ns / 1e9 * world.result.iops / (world.result.achieved_depth * threads[i]), 1, 0.02);
        assert_true(world.result.littles_law_error < 0.02);
    }
}

TEST(windows_of_threads_in_turn_show_one_of_them)
{
    for (size_t i = 0; i < 4; i++) {
        measure_in_turn(threads[i]);
        uint64_t most = (world.result.windows.width_ns / TICK_NS + 1) * REQUEST_BYTES;
        assert_true(world.result.windows.n > 10);
        for (size_t k = 0; k < world.result.windows.n; k++)
            assert_true(world.result.windows.bytes[k] <= most);
    }
}

/* All threads are at work until the last of them has counted for its time. */
TEST(a_thread_that_comes_late_counts_as_long_as_the_others)
{
    for (size_t i = 0; i < 4; i++) {
        uint64_t before_ns = atomic_load(&turns.hand_ns),
                 slices_ns = (uint64_t)threads[i] * SLICE_TICKS * TICK_NS;
        measure(&clock_of_turns, "randread", threads[i], MEASURE_MIN_DURATION_NS, 0);
        check_rates();
        assert_true(world.result.seconds * 1e9 >= (double)MEASURE_MIN_DURATION_NS);
        assert_true(atomic_load(&turns.hand_ns) - before_ns < 2 * MEASURE_MIN_DURATION_NS + 3 * slices_ns);
    }
}

/* The fast one samples its latencies, the other one does not: its latencies are thinned alike. */
TEST(requests_of_all_threads_count_alike_in_the_latencies)
{
    uint64_t median_ns = 0;
    turns.first_tick_ns = TICK_NS / 10;
    measure_in_turn(2);
    assert_true(world.result.sampled);
    assert_int_equal(histogram_quantile_ns(&world.latency, 0.5, &median_ns), 0);
    assert_close((double)median_ns / TICK_NS, 0.1, 0.01);
    assert_close((double)world.result.n_requests / (double)world.latency.n, 32, 4);
}
