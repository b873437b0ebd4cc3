/* Tests of bench/run/measure: figures of several threads, on a real file. */
#include "tests/bench/run/measure_rig.h"

#include <pthread.h>
#include <stdatomic.h>

#define REQUEST_BYTES    65536
#define WORKER_REQUESTS  40
#define TICK_NS          10000
#define CLOCK_LOOKS_MOST 4 /* of a worker, beside one for each request */

static const uint32_t threads[] = {1, 2, 8, 32};

/* ---- a clock that lets threads run one after the other ---------------------------------------------------
 *
 * Every look at it takes TICK_NS. The first thread beside the main one that looks has it alone until it ends.
 */

static struct {
    pthread_key_t owner;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool taken;
    uint64_t first_tick_ns; /* of the next thread that looks; 0: as of all others */
    atomic_ullong hand_ns;
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER, .hand_ns = CLOCK_NS_PER_S};

static _Thread_local uint64_t tick_ns = TICK_NS;

static void take_turn(void)
{
    pthread_mutex_lock(&turns.lock);
    while (turns.taken)
        pthread_cond_wait(&turns.ended, &turns.lock);
    turns.taken = true;
    tick_ns = turns.first_tick_ns != 0 ? turns.first_tick_ns : TICK_NS;
    turns.first_tick_ns = 0;
    pthread_mutex_unlock(&turns.lock);
    pthread_setspecific(turns.owner, &turns);
}

static void end_turn(void *value)
{
    (void)value;
    pthread_mutex_lock(&turns.lock);
    turns.taken = false;
    pthread_cond_signal(&turns.ended);
    pthread_mutex_unlock(&turns.lock);
}

static uint64_t now_in_turn_ns(const struct clock *clock)
{
    (void)clock;
    if (gettid() != getpid() && pthread_getspecific(turns.owner) == NULL)
        take_turn();
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
    world_plan(pattern, (struct point){REQUEST_BYTES, 1, 0, API_PSYNC, n_threads, SYNC_END, 0}, duration_ns);
    world.plan.max_bytes = max_bytes;
    world.env.clock = clock;
    if (world_measure() < 0)
        fail_msg("%s", world.err.text);
    assert_int_equal(world.result.ended_by_bytes, max_bytes > 0);
}

static void measure_in_turn(uint32_t n_threads, uint64_t n_requests)
{
    uint64_t longer_ns = 2 * n_requests * TICK_NS + MEASURE_MIN_DURATION_NS;
    measure(&clock_of_turns, "randread", n_threads, longer_ns, n_requests * REQUEST_BYTES);
    assert_int_equal(world.result.n_requests, n_requests);
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

TEST(threads_in_turn_have_the_span_of_all_of_them)
{
    for (size_t i = 0; i < 4; i++) {
        uint64_t n = threads[i], n_requests = n * WORKER_REQUESTS;
        measure_in_turn(threads[i], n_requests);
        double ticks = world.result.seconds * 1e9 / TICK_NS;
        assert_true(ticks >= (double)n_requests - 0.5);
        assert_true(ticks <= (double)(n_requests + n * CLOCK_LOOKS_MOST));
        assert_close(world.result.throughput_bps * world.result.seconds, (double)(n_requests * REQUEST_BYTES),
                     1e-3);
    }
}

/* One of them is at work at a time: over the span of all, a thread has one request in n in flight. */
TEST(depth_of_threads_in_turn_obeys_littles_law)
{
    for (size_t i = 0; i < 4; i++) {
        double mean_ns = 0, n = threads[i];
        measure_in_turn(threads[i], threads[i] * WORKER_REQUESTS);
        assert_int_equal(histogram_mean_ns(&world.latency, &mean_ns), 0);
        assert_close(mean_ns / 1e9 * world.result.iops / (world.result.achieved_depth * n), 1, 1e-9);
        assert_true(world.result.achieved_depth <= 1 / n + 1e-9);
        assert_true(world.result.littles_law_error < 1e-9);
    }
}

/* A request completes with every tick, whichever thread's it is. */
TEST(windows_of_threads_in_turn_show_one_of_them)
{
    for (size_t i = 0; i < 4; i++) {
        measure_in_turn(threads[i], 1024);
        uint64_t most = (world.result.windows.width_ns / TICK_NS + 1) * REQUEST_BYTES;
        for (size_t k = 0; k < world.result.windows.n; k++)
            assert_true(world.result.windows.bytes[k] <= most);
    }
}

/* Threads that come late only do their parts of what every run must have. */
TEST(a_thread_that_comes_late_ends_with_the_others)
{
    for (size_t i = 0; i < 4; i++) {
        uint64_t before_ns = atomic_load(&turns.hand_ns);
        measure(&clock_of_turns, "randread", threads[i], MEASURE_MIN_DURATION_NS, 0);
        check_rates();
        assert_true(world.result.seconds >= (double)MEASURE_MIN_DURATION_NS / 1e9);
        assert_true(atomic_load(&turns.hand_ns) - before_ns < 3 * MEASURE_MIN_DURATION_NS / 2);
    }
}

/* The fast one samples its latencies, the other one does not. */
TEST(requests_of_all_threads_count_alike_in_the_latencies)
{
    double mean_ns = 0;
    turns.first_tick_ns = TICK_NS / 10;
    measure_in_turn(2, 8192);
    assert_true(world.result.sampled);
    assert_int_equal(histogram_mean_ns(&world.latency, &mean_ns), 0);
    assert_close(mean_ns, 0.55 * TICK_NS, 0.05 * TICK_NS);
    assert_true(world.latency.n < 8192 / 16);
}
