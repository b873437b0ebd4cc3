/* tests/bench/run/test_run_monitor_fs: what a run's watch shows of faults made on purpose: reads served by
 * the cache, a worker bound by its processor, a busy neighbour, a limit of a control group. */
#include "tests/bench/mount_rig.h"
#include "tests/bench/run/measure_rig.h"
#include "tests/bench/run/throttle_rig.h"

#define REQUEST_BYTES 16384

static struct measure_result run(struct target *of, enum measure_cache cache, const char *pattern,
                                 enum api api, uint32_t direct, uint32_t threads)
{
    world_plan(pattern,
               (struct point){REQUEST_BYTES, api == API_PSYNC ? 1 : 4, direct, api, threads, SYNC_END, 0, 0},
               MEASURE_MIN_DURATION_NS);
    world.plan.warmup_limit_ns = 10000000;
    world.env.target = of;
    world.env.cache = cache;
    world.env.settle_limit_ns = MEASURE_SETTLE_NS;
    hostinfo_find_device(of->fd, &world.env.device);
    if (world_measure() != 0)
        fail_msg("%s", world.err.text);
    return world.result;
}

static bool has_api(enum api api)
{
    return ioapi_table[api]->probe(NULL) == 0;
}

static void need_device(void)
{
    struct hostinfo_device device;
    hostinfo_find_device(world.target.fd, &device);
    rig_need(device.sysfs[0] != '\0', "no block device below the current directory");
}

/* What the file system reads for itself on the way (its own metadata) comes on top. */
static void check_own_bytes(double own_bytes, uint64_t bytes)
{
    if (own_bytes < (double)bytes || own_bytes > 1.1 * (double)bytes + (double)MIB)
        fail_msg("%.0f bytes counted, %.0f moved", own_bytes, (double)bytes);
}

/* Whatever thread of ours or of the kernel does the I/O. */
TEST(direct_bytes_are_our_own_with_every_api)
{
    rig_need(world.target.direct_read == TARGET_DIRECT_PROVED &&
                 world.target.direct_write == TARGET_DIRECT_PROVED,
             "no direct I/O here");
    for (enum api api = 0; api < API_N; api++) {
        if (!has_api(api))
            continue;
        struct measure_result result = run(&world.target, MEASURE_CACHE_COLD, "randread", api, 1, 1);
        rig_need(!isnan(result.monitor.own_read_bytes), "the kernel does not account I/O (/proc/self/io)");
        check_own_bytes(result.monitor.own_read_bytes, result.total_bytes_read);
        result = run(&world.target, MEASURE_CACHE_COLD, "randwrite", api, 1, 1);
        check_own_bytes(result.monitor.own_write_bytes, result.total_bytes_written);
    }
}

TEST(device_moves_what_we_move)
{
    need_device();
    rig_need(world.target.direct_read == TARGET_DIRECT_PROVED, "no direct I/O here");
    struct measure_result result = run(&world.target, MEASURE_CACHE_COLD, "randread", API_PSYNC, 1, 2);
    assert_true(result.monitor.device_read_bytes >=
                (double)result.total_bytes_read); /* neighbours come on top */
}

TEST(cold_buffered_bytes_are_our_own_with_every_api)
{
    for (enum api api = 0; api < API_N; api++) {
        if (!has_api(api))
            continue;
        struct measure_result result = run(&world.target, MEASURE_CACHE_COLD, "randread", api, 0, 1);
        rig_need(result.cold == TARGET_COLD_VERIFIED, "the cache cannot be dropped here");
        rig_need(!isnan(result.monitor.own_read_bytes), "the kernel does not account I/O (/proc/self/io)");
        assert_true(result.monitor.own_read_bytes >= 0.6 * (double)result.total_bytes_read);
        result = run(&world.target, MEASURE_CACHE_COLD, "randwrite", api, 0, 1);
        assert_true(result.monitor.own_write_bytes >= 0.6 * (double)result.total_bytes_written);
    }
}

/* The fault that a claim of "cold" must not survive. */
TEST(bytes_from_the_cache_are_not_our_own)
{
    for (enum api api = 0; api < API_N; api++) {
        if (!has_api(api))
            continue;
        struct measure_result result = run(&world.target, MEASURE_CACHE_WARM, "randread", api, 0, 1);
        rig_need(!isnan(result.monitor.own_read_bytes), "the kernel does not account I/O (/proc/self/io)");
        assert_true(result.bytes_read > 0);
        assert_true(result.monitor.own_read_bytes < 0.5 * (double)result.total_bytes_read);
    }
}

/* tmpfs has no device: whatever time is not waiting for a processor is the worker's own. */
TEST(reads_of_memory_are_bound_by_the_processor)
{
    struct target memory = {0};
    struct target_plan plan = rig_plan("/dev/shm", 16 * MIB);
    rig_need(target_create(&memory, &plan, NULL) == 0, "no file in /dev/shm");
    struct measure_result result = run(&memory, MEASURE_CACHE_WARM, "randread", API_PSYNC, 0, 1);
    target_close(&memory);
    assert_true(result.monitor.busiest_thread_cpu_share > 0);
    assert_true(isnan(result.monitor.thread_wait_share) ||
                result.monitor.busiest_thread_cpu_share + result.monitor.thread_wait_share > 0.5);
    assert_true(isnan(result.monitor.own_read_bytes) || result.monitor.own_read_bytes == 0);
    assert_true(isnan(result.monitor.device_read_bytes));
}

/* With the pool the worker only hands out; the workers' time must not be lost. */
TEST(workers_are_helpers)
{
    struct measure_result pool = run(&world.target, MEASURE_CACHE_WARM, "randread", API_POOL, 0, 1);
    struct measure_result plain = run(&world.target, MEASURE_CACHE_WARM, "randread", API_PSYNC, 0, 1);
    rig_need(!isnan(pool.monitor.busiest_helper_cpu_share),
             "the kernel does not count the run time of threads");
    assert_true(pool.monitor.busiest_helper_cpu_share > 0);
    assert_true(pool.monitor.process_cpu_share > 0.9 * pool.monitor.busiest_helper_cpu_share);
    assert_true(plain.monitor.busiest_helper_cpu_share == 0);
}

TEST(every_lane_is_looked_at)
{
    struct measure_result result = run(&world.target, MEASURE_CACHE_WARM, "randread", API_PSYNC, 0, 4);
    assert_true(result.monitor.busiest_thread_cpu_share > 0);
    assert_true(result.monitor.process_cpu_share > 0);
    assert_true(isnan(result.monitor.busiest_helper_cpu_share) ||
                result.monitor.busiest_helper_cpu_share == 0); /* workers are no helpers */
    assert_true(result.monitor.span_s >= 0.05 && result.monitor.span_s < 10);
    assert_true(fabs(result.monitor.clock_step_s) < 1);
}

/* A child that writes and flushes until it is killed. */
static pid_t start_neighbour(void)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    static unsigned char block[MIB];
    int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    memset(block, 3, sizeof(block));
    for (;;)
        if (pwrite(fd, block, sizeof(block), 0) < 0 || fdatasync(fd) != 0)
            _exit(1);
}

TEST(busy_neighbour_is_seen)
{
    struct hostinfo_device device;
    struct run_monitor_idle idle;
    need_device();
    hostinfo_find_device(world.target.fd, &device);
    pid_t neighbour = start_neighbour();
    clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + 50000000);
    run_monitor_idle(&device, 200000000, &idle);
    struct measure_result result = run(&world.target, MEASURE_CACHE_COLD, "randread", API_PSYNC, 0, 1);
    kill(neighbour, SIGKILL);
    waitpid(neighbour, NULL, 0);
    assert_true(idle.device_written_bps > 0);
    assert_true(isnan(idle.own_bytes) || idle.own_bytes == 0);
    /* A run of reads alone writes nothing: what the device wrote is another's. */
    assert_true(isnan(result.monitor.own_write_bytes) || result.monitor.own_write_bytes == 0);
    assert_true(result.monitor.device_written_bytes > 0);
}

static void run_throttled(void *shared)
{
    struct measure_result *result = shared;
    *result = run(&world.target, MEASURE_CACHE_COLD, "randread", API_PSYNC, 1, 1);
}

TEST(limit_of_a_group_pins_the_rate)
{
    struct hostinfo_device device;
    struct measure_result *inside = throttle_shared(sizeof(*inside));
    need_device();
    rig_need(world.target.direct_read == TARGET_DIRECT_PROVED, "no direct I/O here");
    hostinfo_find_device(world.target.fd, &device);
    bool throttled = throttle_run(&device, 4 * MIB, 4 * MIB, run_throttled, inside);
    double bps = inside->throughput_bps, read = (double)inside->total_bytes_read;
    double own = inside->monitor.own_read_bytes;
    munmap(inside, sizeof(*inside));
    rig_need(throttled, "no control groups of version 1 with blkio, or not root");
    assert_true(bps > 0 &&
                bps < 4 * 4 * (double)MIB); /* the kernel lets a tenth of a second's worth pass at once */
    assert_true(isnan(own) || own == read);
}

FIXTURE(set_up)
{
    struct target_plan plan = rig_plan(".", TARGET_SIZE_MIN_BYTES);
    int result = world_make_file(&plan);
    return result == 0 ? target_prove_direct(&world.target, &world.err) : result;
}

GROUP(set_up, world_leave);
