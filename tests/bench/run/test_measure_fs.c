/* Tests of bench/run/measure on a real file in the current directory: every way of doing I/O x pattern x
 * direct x threads x sync. */
#include "tests/bench/run/measure_rig.h"
#include "tests/child.h"

#include <pthread.h>
#include <sys/resource.h>

#define REQUEST_BYTES 16384

static bool can_be_cold;

static const char *const patterns[] = {"read", "write", "randread", "randwrite", "randrw:50"};

static int set_up(void **state)
{
    (void)state;
    struct target_plan plan = rig_plan(".", TARGET_SIZE_MIN_BYTES);
    int result = world_make_file(&plan);
    if (result < 0)
        return result;
    enum target_cold cold = TARGET_COLD_NOT;
    result = target_prove_direct(&world.target, &world.err);
    can_be_cold = target_flush(&world.target, NULL) == 0 &&
                  target_drop_cache(&world.target, &cold, NULL) == 0 && cold == TARGET_COLD_VERIFIED;
    if (!can_be_cold)
        print_message("cold reads are not looked at: this file system keeps its pages or does not tell\n");
    world.env.settle_limit_ns = MEASURE_SETTLE_NS;
    hostinfo_find_device(world.target.fd, &world.env.device);
    return result;
}

static void prepare(const char *pattern, enum api api, uint32_t direct, uint32_t threads, enum sync sync)
{
    world_plan(pattern,
               (struct point){REQUEST_BYTES, api == API_PSYNC ? 1 : 4, direct, api, threads, sync, 0, 0},
               MEASURE_MIN_DURATION_NS);
    world.plan.warmup_limit_ns = 20000000;
    world.env.cache = MEASURE_CACHE_COLD;
}

/* The API of a test, from its initial state; skips where this machine has it not. */
static enum api usable_api(void **state)
{
    enum api api = (enum api)(uintptr_t)*state;
    struct err err = {0};
    if (ioapi_table[api]->probe(&err) < 0) {
        print_message("%s is skipped: %s\n", api_names[api], err.text);
        skip();
    }
    return api;
}

static bool direct_works(const struct pattern *pattern)
{
    return (!pattern_reads(pattern) || world.target.direct_read == TARGET_DIRECT_PROVED) &&
           (!pattern_writes(pattern) || world.target.direct_write == TARGET_DIRECT_PROVED);
}

static int measure(void)
{
    histogram_init(&world.latency);
    return world_measure();
}

/* No block was met twice: about as many different pages are cached now as bytes were moved through the cache.
 * Not exactly, since a kernel may reclaim pages at any time (some do so long before memory is short); blocks
 * drawn with repetition would miss by 11 % and more where a cap ends the run. */
static void check_pages(void)
{
    uint64_t cached = 0, dirty = 0;
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t moved = world.result.total_bytes_read + world.result.total_bytes_written;
    if (world.result.cold != TARGET_COLD_VERIFIED ||
        target_cached_pages(&world.target, 0, world.target.size_bytes, &cached, &dirty) < 0)
        return;
    assert_true((double)(cached * page_bytes) >= 0.95 * (double)moved);
    assert_int_equal(dirty, 0);
}

static void check_result(void)
{
    const struct point *point = &world.plan.point;
    uint64_t moved = world.result.total_bytes_read + world.result.total_bytes_written;
    uint64_t cap = measure_cap_bytes(&world.env, &world.plan.pattern, point);
    assert_true(world.result.n_requests >= MEASURE_MIN_REQUESTS);
    assert_int_equal(world.result.bytes_read + world.result.bytes_written,
                     world.result.n_requests * REQUEST_BYTES);
    assert_int_equal(world.result.bytes_read > 0, pattern_reads(&world.plan.pattern));
    assert_int_equal(world.result.bytes_written > 0, pattern_writes(&world.plan.pattern));
    assert_true(moved <= cap);
    assert_true(world.result.throughput_bps > 0 && isfinite(world.result.throughput_bps));
    assert_true(world.result.achieved_depth > 0 && world.result.achieved_depth <= point->queue_depth * 1.001);
    assert_true(world.result.sampled ? world.latency.n < world.result.n_requests
                                     : world.latency.n == world.result.n_requests);
    if (can_be_cold)
        assert_int_equal(world.result.cold, TARGET_COLD_VERIFIED);
    assert_true(world.result.flush_seconds >= 0 && world.result.flush_seconds < world.result.seconds);
    assert_int_equal(world.result.flush_seconds > 0,
                     pattern_writes(&world.plan.pattern) && point->sync == SYNC_END);
    if (!world.result.ended_by_bytes)
        assert_true(world.result.seconds >= 0.05);
    if (measure_writes_once(&world.plan.pattern, point))
        assert_int_equal(world.result.warmup, MEASURE_WARMUP_NONE);
    if (point->direct == 0 && cap != UINT64_MAX)
        check_pages();
}

static void check_point(const char *pattern, enum api api, uint32_t direct, uint32_t threads, enum sync sync)
{
    prepare(pattern, api, direct, threads, sync);
    char text[FACTORS_TEXT_SIZE];
    if (direct && !direct_works(&world.plan.pattern))
        return;
    /* Pages that something else holds for a moment cannot be dropped; such a run says that it was not cold.
     */
    for (int i = 0; i == 0 || (i < 5 && can_be_cold && world.result.cold == TARGET_COLD_NOT); i++) {
        if (measure() < 0)
            fail_msg("%s, %s: %s", pattern, factors_format(&world.plan.point, text), world.err.text);
    }
    check_result();
}

static void each_point_moves_its_bytes_within_its_caps(void **state)
{
    enum api api = usable_api(state);
    const uint32_t threads[] = {1, 4};
    if (world.target.direct_read != TARGET_DIRECT_PROVED || world.target.direct_write != TARGET_DIRECT_PROVED)
        print_message("some direct points are left out: %s\n", world.target.direct_why);
    for (size_t i = 0; i < N_OF(patterns); i++) {
        for (uint32_t direct = 0; direct < 2; direct++) {
            for (size_t t = 0; t < 2; t++) {
                bool reads_only = strstr(patterns[i], "read") != NULL;
                for (int sync = reads_only ? SYNC_END : SYNC_NONE;
                     sync <= (reads_only ? SYNC_END : SYNC_EACH); sync++)
                    check_point(patterns[i], api, direct, threads[t], (enum sync)sync);
            }
        }
    }
}

/* A window closes when the rest may not last for two turnovers of the queues. */
static void check_total(uint64_t cap)
{
    const struct point *point = &world.plan.point;
    uint64_t total = world.result.total_bytes_read + world.result.total_bytes_written;
    /* Each thread leaves out what is less than a request of its part. */
    uint64_t left_most = 2 * factors_bytes_in_flight(point) + point->threads * point->request_size_bytes;
    assert_true(total <= cap && total + left_most >= cap);
}

/* Large enough that the quarter of the file, or the file, ends a run before its time does. */
static void caps_end_a_long_run(void **state)
{
    enum api api = usable_api(state);
    const char *const capped[] = {"randread", "write"};
    for (size_t i = 0; i < 2; i++) {
        prepare(capped[i], api, 0, 4, SYNC_END);
        world.plan.point.request_size_bytes = 128 * 1024;
        world.plan.duration_ns = 1000 * CLOCK_NS_PER_S;
        assert_int_equal(measure(), 0);
        assert_true(world.result.ended_by_bytes);
        uint64_t cap = measure_cap_bytes(&world.env, &world.plan.pattern, &world.plan.point);
        check_total(cap);
        check_pages();
    }
}

/* Reads of one size, writes of another, in blocks of their own: no page is met twice. */
static void two_sizes_move_their_bytes_within_their_caps(void **state)
{
    enum api api = usable_api(state);
    const uint64_t sizes[2] = {REQUEST_BYTES, 16 * REQUEST_BYTES};
    if (api == API_PVEC)
        skip(); /* one vector, one size */
    for (uint32_t i = 0; i < 8; i++) {
        prepare(i & 4 ? "rw:50" : "randrw:50", api, i & 1, i & 2 ? 4 : 1, SYNC_END);
        uint64_t reads = sizes[i >> 1 & 1], writes = sizes[~i >> 1 & 1];
        if ((i & 1) != 0 && !direct_works(&world.plan.pattern))
            continue;
        world.plan.point.request_size_bytes = reads;
        world.plan.point.write_size_bytes = writes;
        assert_int_equal(measure(), 0);
        assert_true(world.result.bytes_read > 0 && world.result.bytes_read % reads == 0);
        assert_true(world.result.bytes_written > 0 && world.result.bytes_written % writes == 0);
        assert_int_equal(world.result.bytes_read / reads + world.result.bytes_written / writes,
                         world.result.n_requests);
        assert_true(world.result.total_bytes_read + world.result.total_bytes_written <=
                    measure_cap_bytes(&world.env, &world.plan.pattern, &world.plan.point));
        if (world.plan.point.direct == 0 && pattern_is_random(&world.plan.pattern))
            check_pages();
    }
}

/* The reading before the run has filled the cache, and nothing drops it after. */
static void warm_reads_wrap_and_find_the_file_cached(void **state)
{
    enum api api = usable_api(state);
    prepare("read", api, 0, 4, SYNC_END);
    uint64_t cached = 0, dirty = 0;
    world.env.cache = MEASURE_CACHE_WARM;
    assert_int_equal(measure(), 0);
    assert_int_equal(measure_cap_bytes(&world.env, &world.plan.pattern, &world.plan.point), UINT64_MAX);
    if (target_cached_pages(&world.target, 0, world.target.size_bytes, &cached, &dirty) == 0)
        assert_true((double)cached * (double)sysconf(_SC_PAGESIZE) >= 0.95 * (double)world.target.size_bytes);
}

/* Small random requests are flushed more slowly than the file was filled. */
static void what_is_expected_of_a_flush_bounds_the_bytes(void **state)
{
    enum api api = usable_api(state);
    prepare("randwrite", api, 0, 1, SYNC_END);
    world.plan.flush_bps = 100.0 * REQUEST_BYTES * 1e9 / (double)world.plan.duration_ns;
    if (measure() < 0)
        fail_msg("%s", world.err.text);
    assert_in_range(world.result.n_requests, MEASURE_MIN_REQUESTS, 100);
    assert_true(world.result.ended_by_bytes);
}

static void hard_limit_holds(void **state)
{
    enum api api = usable_api(state);
    prepare("randwrite", api, 0, 4, SYNC_NONE);
    world.plan.max_bytes = 5 * MIB + 12345;
    assert_int_equal(measure(), 0);
    check_total(world.plan.max_bytes);
    assert_true(world.result.ended_by_bytes);
}

/* All workers end together, each with its part of what a run must have. */
static void a_hopeless_run_is_cut(void **state)
{
    enum api api = usable_api(state);
    const uint32_t threads[] = {1, 4};
    for (size_t i = 0; i < 2; i++) {
        prepare("randwrite", api, 0, threads[i], SYNC_NONE);
        world.plan.duration_ns = 60 * CLOCK_NS_PER_S;
        world.plan.hopeless_bps = 1e15;
        assert_int_equal(measure(), 0);
        assert_true(world.result.cut && !world.result.ended_by_bytes);
        assert_true(world.result.seconds >= 0.05 && world.result.seconds < 30);
        assert_true(world.result.n_requests >= MEASURE_MIN_REQUESTS);
        assert_int_equal(target_flush(&world.target, NULL), 0);
    }
}

static void *interrupt_soon(void *argument)
{
    (void)argument;
    clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + 100000000);
    atomic_store(&world.interrupted, 1);
    return NULL;
}

/* The run would last for an hour; mostly the flag is raised in its timed part, on a slow disk before it. */
static void interrupted_run_ends_with_eintr(void **state)
{
    enum api api = usable_api(state);
    const uint32_t threads[] = {1, 4};
    for (size_t i = 0; i < 2; i++) {
        prepare("randwrite", api, 0, threads[i], SYNC_NONE);
        pthread_t helper;
        world.plan.duration_ns = 3600 * CLOCK_NS_PER_S;
        assert_int_equal(pthread_create(&helper, NULL, interrupt_soon, NULL), 0);
        int code = measure();
        pthread_join(helper, NULL);
        atomic_store(&world.interrupted, 0);
        assert_int_equal(code, -EINTR);
        assert_int_equal(world.latency.n, 0);
        assert_int_equal(target_flush(&world.target, NULL), 0);
    }
}

/* In a child, because a lowered hard limit cannot be raised again. A run raises the other one as far as it
 * may. */
static enum api api_with_few;

static int measure_with_few_descriptors(void)
{
    prepare("randread", api_with_few, 0, 16, SYNC_END);
    int n_open = rig_count_entries("/proc/self/fd");
    struct rlimit low = {.rlim_cur = (rlim_t)n_open + 8, .rlim_max = (rlim_t)n_open + 8};
    if (setrlimit(RLIMIT_NOFILE, &low) != 0)
        return 1;
    if (measure() != -EMFILE)
        return 2;
    if (world.err.text[0] == '\0')
        return 3;
    return rig_count_entries("/proc/self/fd") == n_open ? 0 : 4;
}

static void too_few_descriptors_is_an_error_that_leaks_none(void **state)
{
    api_with_few = usable_api(state);
    child_expect(measure_with_few_descriptors);
}

/* The second half of the file is gone: two of four threads fail, and no other waits for them. */
static void failing_threads_end_the_run(void **state)
{
    enum api api = usable_api(state);
    prepare("randread", api, 0, 4, SYNC_END);
    assert_int_equal(ftruncate(world.target.fd, (off_t)world.target.size_bytes / 2), 0);
    for (int i = 0; i < 2; i++) {
        world.plan.warmup_limit_ns = i == 0 ? 20000000 : 0;
        assert_int_equal(measure(), -EIO);
        assert_non_null(strstr(world.err.text, "short read at offset"));
        assert_int_equal(world.err.code, -EIO);
        assert_int_equal(world.latency.n, 0);
    }
    assert_int_equal(ftruncate(world.target.fd, (off_t)world.target.size_bytes), 0);
}

#define N_FACTS 10

int main(void)
{
    static const struct CMUnitTest facts[N_FACTS] = {
        cmocka_unit_test(each_point_moves_its_bytes_within_its_caps),
        cmocka_unit_test(two_sizes_move_their_bytes_within_their_caps),
        cmocka_unit_test(caps_end_a_long_run),
        cmocka_unit_test(warm_reads_wrap_and_find_the_file_cached),
        cmocka_unit_test(what_is_expected_of_a_flush_bounds_the_bytes),
        cmocka_unit_test(hard_limit_holds),
        cmocka_unit_test(a_hopeless_run_is_cut),
        cmocka_unit_test(interrupted_run_ends_with_eintr),
        cmocka_unit_test(too_few_descriptors_is_an_error_that_leaks_none),
        cmocka_unit_test(failing_threads_end_the_run), /* leaves a hole in the file: last */
    };
    static char names[N_FACTS * API_N][96];
    struct CMUnitTest tests[N_FACTS * API_N];
    for (size_t i = 0; i < N_FACTS * API_N; i++) {
        enum api api = (enum api)(i % API_N);
        tests[i] = facts[i / API_N];
        snprintf(names[i], sizeof(names[i]), "%s [%s]", tests[i].name, api_names[api]);
        tests[i].name = names[i];
        tests[i].initial_state = (void *)(uintptr_t)api;
    }
    return cmocka_run_group_tests_name("bench/measure_fs", tests, set_up, world_leave);
}
