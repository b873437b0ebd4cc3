/* Tests of bench/run/measure on a real file in the current directory: every way of doing I/O x pattern x
 * direct x threads x sync. */
#include "bench/run/measure.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUEST_BYTES 16384

static struct target target;
static struct arena arena;
static atomic_int interrupted;
static struct histogram latency;
static bool can_be_cold;

static const char *const patterns[] = {"read", "write", "randread", "randwrite", "randrw:50"};

static int set_up(void **state)
{
    (void)state;
    struct err err = {0};
    struct target_plan plan = rig_plan(".", TARGET_SIZE_MIN_BYTES);
    int result = target_create(&target, &plan, &err);
    if (result == 0)
        result = target_prove_direct(&target, &err);
    if (result < 0) {
        print_message("no target here: %s\n", err.text);
        return result;
    }
    enum target_cold cold = TARGET_COLD_NOT;
    can_be_cold = target_flush(&target, &err) == 0 && target_drop_cache(&target, &cold, &err) == 0 &&
                  cold == TARGET_COLD_VERIFIED;
    if (!can_be_cold)
        print_message("cold reads are not looked at: this file system keeps its pages or does not tell\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    target_close(&target);
    arena_free(&arena);
    return 0;
}

static struct measure_env make_env(void)
{
    struct measure_env env = {.clock = &clock_monotonic,
                              .target = &target,
                              .interrupted = &interrupted,
                              .cache = MEASURE_CACHE_COLD,
                              .arena = &arena,
                              .settle_limit_ns = MEASURE_SETTLE_NS};
    hostinfo_find_device(target.fd, &env.device);
    return env;
}

static struct measure_plan make_plan(const char *pattern, enum api api, uint32_t direct, uint32_t threads,
                                     enum sync sync)
{
    struct measure_plan plan = {.point = {.request_size_bytes = REQUEST_BYTES,
                                          .queue_depth = api == API_PSYNC ? 1 : 4,
                                          .direct = direct,
                                          .api = api,
                                          .threads = threads,
                                          .sync = sync},
                                .duration_ns = MEASURE_MIN_DURATION_NS,
                                .warmup_limit_ns = 20000000,
                                .warmup_coef = WARMUP_COEF_DEFAULT,
                                .warmup_window = WARMUP_WINDOW_DEFAULT,
                                .batch_requests = WARMUP_BATCH_DEFAULT,
                                .seed = 3};
    assert_int_equal(pattern_parse(pattern, &plan.pattern, NULL), 0);
    return plan;
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
    return (!pattern_reads(pattern) || target.direct_read == TARGET_DIRECT_PROVED) &&
           (!pattern_writes(pattern) || target.direct_write == TARGET_DIRECT_PROVED);
}

static int measure(const struct measure_env *env, const struct measure_plan *plan, struct measure_result *ret,
                   struct err *err)
{
    histogram_init(&latency);
    return measure_run(env, plan, ret, &latency, err);
}

/* No block was met twice: about as many different pages are cached now as bytes were moved through the cache.
 * Not exactly, since a kernel may reclaim pages at any time (some do so long before memory is short); blocks
 * drawn with repetition would miss by 11 % and more where a cap ends the run. */
static void check_pages(const struct measure_result *result)
{
    uint64_t cached = 0, dirty = 0;
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t moved = result->total_bytes_read + result->total_bytes_written;
    if (result->cold != TARGET_COLD_VERIFIED ||
        target_cached_pages(&target, 0, target.size_bytes, &cached, &dirty) < 0)
        return;
    assert_true((double)(cached * page_bytes) >= 0.95 * (double)moved);
    assert_int_equal(dirty, 0);
}

static void check_result(const struct measure_env *env, const struct measure_plan *plan,
                         const struct measure_result *result)
{
    const struct point *point = &plan->point;
    uint64_t moved = result->total_bytes_read + result->total_bytes_written;
    uint64_t cap = measure_cap_bytes(env, &plan->pattern, point);
    assert_true(result->n_requests >= MEASURE_MIN_REQUESTS);
    assert_int_equal(result->bytes_read + result->bytes_written, result->n_requests * REQUEST_BYTES);
    assert_int_equal(result->bytes_read > 0, pattern_reads(&plan->pattern));
    assert_int_equal(result->bytes_written > 0, pattern_writes(&plan->pattern));
    assert_true(moved <= cap);
    assert_true(result->throughput_bps > 0 && isfinite(result->throughput_bps));
    assert_true(result->achieved_depth > 0 && result->achieved_depth <= point->queue_depth * 1.001);
    assert_true(result->sampled ? latency.n < result->n_requests : latency.n == result->n_requests);
    if (can_be_cold)
        assert_int_equal(result->cold, TARGET_COLD_VERIFIED);
    assert_true(result->flush_seconds >= 0 && result->flush_seconds < result->seconds);
    assert_int_equal(result->flush_seconds > 0, pattern_writes(&plan->pattern) && point->sync == SYNC_END);
    if (!result->ended_by_bytes)
        assert_true(result->seconds >= 0.05);
    if (measure_writes_once(&plan->pattern, point))
        assert_int_equal(result->warmup, MEASURE_WARMUP_NONE);
    if (point->direct == 0 && cap != UINT64_MAX)
        check_pages(result);
}

static void check_point(const char *pattern, enum api api, uint32_t direct, uint32_t threads, enum sync sync)
{
    struct measure_env env = make_env();
    struct measure_plan plan = make_plan(pattern, api, direct, threads, sync);
    struct measure_result result;
    struct err err = {0};
    char text[FACTORS_TEXT_SIZE];
    if (direct && !direct_works(&plan.pattern))
        return;
    /* Pages that something else holds for a moment cannot be dropped; such a run says that it was not cold.
     */
    for (int i = 0; i == 0 || (i < 5 && can_be_cold && result.cold == TARGET_COLD_NOT); i++) {
        if (measure(&env, &plan, &result, &err) < 0)
            fail_msg("%s, %s: %s", pattern, factors_format(&plan.point, text), err.text);
    }
    check_result(&env, &plan, &result);
}

static void each_point_moves_its_bytes_within_its_caps(void **state)
{
    enum api api = usable_api(state);
    const uint32_t threads[] = {1, 4};
    if (target.direct_read != TARGET_DIRECT_PROVED || target.direct_write != TARGET_DIRECT_PROVED)
        print_message("some direct points are left out: %s\n", target.direct_why);
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
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

/* Large enough that the quarter of the file, or the file, ends a run before its time does. */
static void caps_end_a_long_run(void **state)
{
    enum api api = usable_api(state);
    const char *const capped[] = {"randread", "write"};
    for (size_t i = 0; i < 2; i++) {
        struct measure_env env = make_env();
        struct measure_plan plan = make_plan(capped[i], api, 0, 4, SYNC_END);
        struct measure_result result;
        plan.point.request_size_bytes = 128 * 1024;
        plan.duration_ns = 1000 * CLOCK_NS_PER_S;
        assert_int_equal(measure(&env, &plan, &result, NULL), 0);
        assert_true(result.ended_by_bytes);
        uint64_t cap = measure_cap_bytes(&env, &plan.pattern, &plan.point);
        assert_int_equal(result.total_bytes_read + result.total_bytes_written, cap);
        check_pages(&result);
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
        struct measure_env env = make_env();
        struct measure_plan plan =
            make_plan(i & 4 ? "rw:50" : "randrw:50", api, i & 1, i & 2 ? 4 : 1, SYNC_END);
        struct measure_result result;
        uint64_t reads = sizes[i >> 1 & 1], writes = sizes[~i >> 1 & 1];
        if ((i & 1) != 0 && !direct_works(&plan.pattern))
            continue;
        plan.point.request_size_bytes = reads;
        plan.point.write_size_bytes = writes;
        assert_int_equal(measure(&env, &plan, &result, NULL), 0);
        assert_true(result.bytes_read > 0 && result.bytes_read % reads == 0);
        assert_true(result.bytes_written > 0 && result.bytes_written % writes == 0);
        assert_int_equal(result.bytes_read / reads + result.bytes_written / writes, result.n_requests);
        assert_true(result.total_bytes_read + result.total_bytes_written <=
                    measure_cap_bytes(&env, &plan.pattern, &plan.point));
        if (plan.point.direct == 0 && pattern_is_random(&plan.pattern))
            check_pages(&result);
    }
}

/* The reading before the run has filled the cache, and nothing drops it after. */
static void warm_reads_wrap_and_find_the_file_cached(void **state)
{
    enum api api = usable_api(state);
    struct measure_env env = make_env();
    struct measure_plan plan = make_plan("read", api, 0, 4, SYNC_END);
    struct measure_result result;
    uint64_t cached = 0, dirty = 0;
    env.cache = MEASURE_CACHE_WARM;
    assert_int_equal(measure(&env, &plan, &result, NULL), 0);
    assert_int_equal(measure_cap_bytes(&env, &plan.pattern, &plan.point), UINT64_MAX);
    if (target_cached_pages(&target, 0, target.size_bytes, &cached, &dirty) == 0)
        assert_true((double)cached * (double)sysconf(_SC_PAGESIZE) >= 0.95 * (double)target.size_bytes);
}

static void hard_limit_holds(void **state)
{
    enum api api = usable_api(state);
    struct measure_env env = make_env();
    struct measure_plan plan = make_plan("randwrite", api, 0, 4, SYNC_NONE);
    struct measure_result result;
    plan.max_bytes = 5 * MIB + 12345;
    assert_int_equal(measure(&env, &plan, &result, NULL), 0);
    assert_true(result.total_bytes_written <= plan.max_bytes && result.total_bytes_written > 4 * MIB);
    assert_true(result.ended_by_bytes);
}

/* All workers end together, each with its part of what a run must have. */
static void a_hopeless_run_is_cut(void **state)
{
    enum api api = usable_api(state);
    const uint32_t threads[] = {1, 4};
    for (size_t i = 0; i < 2; i++) {
        struct measure_env env = make_env();
        struct measure_plan plan = make_plan("randwrite", api, 0, threads[i], SYNC_NONE);
        struct measure_result result;
        plan.duration_ns = 60 * CLOCK_NS_PER_S;
        plan.hopeless_bps = 1e15;
        assert_int_equal(measure(&env, &plan, &result, NULL), 0);
        assert_true(result.cut && !result.ended_by_bytes);
        assert_true(result.seconds >= 0.05 && result.seconds < 30);
        assert_true(result.n_requests >= MEASURE_MIN_REQUESTS);
        assert_int_equal(target_flush(&target, NULL), 0);
    }
}

static void *interrupt_soon(void *argument)
{
    (void)argument;
    clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + 100000000);
    atomic_store(&interrupted, 1);
    return NULL;
}

/* The run would last for an hour; mostly the flag is raised in its timed part, on a slow disk before it. */
static void interrupted_run_ends_with_eintr(void **state)
{
    enum api api = usable_api(state);
    const uint32_t threads[] = {1, 4};
    for (size_t i = 0; i < 2; i++) {
        struct measure_env env = make_env();
        struct measure_plan plan = make_plan("randwrite", api, 0, threads[i], SYNC_NONE);
        struct measure_result result;
        pthread_t helper;
        plan.duration_ns = 3600 * CLOCK_NS_PER_S;
        assert_int_equal(pthread_create(&helper, NULL, interrupt_soon, NULL), 0);
        int code = measure(&env, &plan, &result, NULL);
        pthread_join(helper, NULL);
        atomic_store(&interrupted, 0);
        assert_int_equal(code, -EINTR);
        assert_int_equal(latency.n, 0);
        assert_int_equal(target_flush(&target, NULL), 0);
    }
}

/* In a child, because a lowered hard limit cannot be raised again. A run raises the other one as far as it
 * may.
 */
static int measure_with_few_descriptors(enum api api)
{
    struct measure_env env = make_env();
    struct measure_plan plan = make_plan("randread", api, 0, 16, SYNC_END);
    struct measure_result result;
    struct err err = {0};
    int n_open = rig_count_entries("/proc/self/fd");
    struct rlimit low = {.rlim_cur = (rlim_t)n_open + 8, .rlim_max = (rlim_t)n_open + 8};
    if (setrlimit(RLIMIT_NOFILE, &low) != 0)
        return 1;
    if (measure(&env, &plan, &result, &err) != -EMFILE)
        return 2;
    if (err.text[0] == '\0')
        return 3;
    return rig_count_entries("/proc/self/fd") == n_open ? 0 : 4;
}

static void too_few_descriptors_is_an_error_that_leaks_none(void **state)
{
    enum api api = usable_api(state);
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(measure_with_few_descriptors(api));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* The second half of the file is gone: two of four threads fail, and no other waits for them. */
static void failing_threads_end_the_run(void **state)
{
    enum api api = usable_api(state);
    struct measure_env env = make_env();
    struct measure_plan plan = make_plan("randread", api, 0, 4, SYNC_END);
    struct measure_result result;
    struct err err = {0};
    assert_int_equal(ftruncate(target.fd, (off_t)target.size_bytes / 2), 0);
    for (int i = 0; i < 2; i++) {
        plan.warmup_limit_ns = i == 0 ? 20000000 : 0;
        assert_int_equal(measure(&env, &plan, &result, &err), -EIO);
        assert_non_null(strstr(err.text, "short read at offset"));
        assert_int_equal(err.code, -EIO);
        assert_int_equal(latency.n, 0);
    }
    assert_int_equal(ftruncate(target.fd, (off_t)target.size_bytes), 0);
}

#define N_FACTS 9

int main(void)
{
    static const struct CMUnitTest facts[N_FACTS] = {
        cmocka_unit_test(each_point_moves_its_bytes_within_its_caps),
        cmocka_unit_test(two_sizes_move_their_bytes_within_their_caps),
        cmocka_unit_test(caps_end_a_long_run),
        cmocka_unit_test(warm_reads_wrap_and_find_the_file_cached),
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
    return cmocka_run_group_tests_name("bench/measure_fs", tests, set_up, tear_down);
}
