/* Tests of targets of several files, and of runs on several files and on shifted requests. Which blocks a
 * run wrote is read from the stamps of bench/io/verify. */
#include "tests/bench/run/measure_rig.h"

#define KIB 1024U

FIXTURE(close_world)
{
    world_leave(test_state);
    assert_int_equal(rig_count_entries(directory), 0);
    return 0;
}

EACH_TEST(NULL, close_world);

static void create(uint64_t size, uint32_t n_files)
{
    struct target_plan plan = rig_plan(directory, size);
    plan.n_files = n_files;
    plan.verify = &world.verify;
    assert_int_equal(world_make_file(&plan), 0);
    world_plan("read", (struct point){4096, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0},
               MEASURE_MIN_DURATION_NS * 20);
}

static void run(const char *pattern, enum api api, uint32_t depth, uint32_t threads)
{
    assert_int_equal(pattern_parse(pattern, &world.plan.pattern, NULL), 0);
    world.plan.point.api = api;
    world.plan.point.queue_depth = depth;
    world.plan.point.threads = threads;
    if (world_measure() < 0)
        fail_msg("%s: %s", pattern, world.err.text);
}

/* How often the block at this offset was written, filling included. */
static uint64_t n_writes(uint32_t file, uint64_t offset)
{
    struct verify_stamp stamp;
    assert_int_equal(pread(target_fds(&world.target)[file], &stamp, sizeof stamp, (off_t)offset),
                     sizeof stamp);
    return stamp.n_writes;
}

TEST(parts_are_equal_and_whole_mebibytes)
{
    create(8 * MIB, 3);
    assert_int_equal(target_n_files(&world.target), 3);
    assert_int_equal(world.target.size_bytes, 6 * MIB);
    assert_int_equal(world.target.filled_bytes, 6 * MIB);
    for (uint32_t i = 0; i < 3; i++) {
        struct stat status;
        assert_int_equal(fstat(target_fds(&world.target)[i], &status), 0);
        assert_int_equal(status.st_size, 2 * MIB);
        assert_int_equal(status.st_nlink, 0);
        assert_int_equal(n_writes(i, 2 * MIB - 512), 1);
    }
}

TEST(more_files_than_mebibytes_are_refused)
{
    struct target_plan plan = rig_plan(directory, 4 * MIB);
    plan.n_files = 5;
    assert_int_equal(target_create(&world.target, &plan, &world.err), -EINVAL);
    assert_non_null(strstr(world.err.text, "--file-size 5m"));
    uint64_t bytes;
    assert_int_equal(target_estimate(&plan, &bytes, &world.err), -EINVAL);
    plan.n_files = 4;
    assert_int_equal(target_estimate(&plan, &bytes, &world.err), 0);
    assert_int_equal(bytes, 4 * MIB);
}

TEST(cache_is_that_of_all_files)
{
    enum target_cold cold;
    uint64_t cached = 0, dirty = 0, pages = 4 * MIB / (uint64_t)sysconf(_SC_PAGESIZE);
    create(4 * MIB, 4);
    assert_int_equal(target_warm_cache(&world.target, NULL, &world.err), 0);
    if (target_cached_pages(&world.target, 0, target_file_bytes(&world.target), &cached, &dirty) < 0)
        skip();
    assert_int_equal(cached, pages);
    assert_int_equal(target_flush(&world.target, &world.err), 0);
    assert_int_equal(target_drop_cache(&world.target, &cold, &world.err), 0);
    assert_int_equal(target_cached_pages(&world.target, 0, MIB, &cached, &dirty), 0);
    assert_true(cold == TARGET_COLD_VERIFIED ? cached == 0 : cached > 0);
}

TEST(run_deals_its_requests_out_to_all_files)
{
    create(4 * MIB, 4);
    world.plan.max_bytes = (64 + 2) * 4 * KIB;
    run("write", API_PSYNC, 1, 1);
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t n = i < 2 ? 17 : 16;
        assert_int_equal(n_writes(i, (n - 1) * 4 * KIB), 2);
        assert_int_equal(n_writes(i, n * 4 * KIB), 1);
    }
}

/* A pass over the whole file that meets nothing twice has no block that could not be judged. */
TEST(every_api_and_thread_keeps_to_its_own_blocks)
{
    create(8 * MIB, 4);
    world.env.alignment_bytes = 1536;
    for (int api = 0; api < API_N; api++) {
        if (ioapi_table[api]->probe(NULL) < 0)
            continue;
        run("write", (enum api)api, api == API_PSYNC ? 1 : 8, 4);
        run("randwrite", (enum api)api, api == API_PSYNC ? 1 : 8, 3);
        run("randread", (enum api)api, api == API_PSYNC ? 1 : 8, 2);
    }
    assert_int_equal(world.verify.n_passed_over, 0);
    assert_true(world.verify.n_compared > 8 * MIB / 512);
}

TEST(shifted_requests_leave_the_beginning_alone)
{
    create(4 * MIB, 1);
    world.env.alignment_bytes = 512;
    run("write", API_PSYNC, 1, 1);
    assert_int_equal(n_writes(0, 0), 1);
    assert_int_equal(n_writes(0, 512), 2);
    assert_int_equal(n_writes(0, 2 * MIB), 2);
    /* The last whole request ends 3584 bytes before the file's end. */
    assert_int_equal(n_writes(0, 4 * MIB - 3584 - 512), 2);
    assert_int_equal(n_writes(0, 4 * MIB - 3584), 1);
    assert_int_equal(world.result.bytes_written, 4 * MIB - 4096);
}

TEST(requests_are_shifted_in_every_file)
{
    create(4 * MIB, 2);
    world.env.alignment_bytes = 512;
    run("write", API_PSYNC, 1, 1);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(n_writes(i, 0), 1);
        assert_int_equal(n_writes(i, 512), 2);
    }
}

TEST(alignment_to_the_request_size_changes_nothing)
{
    create(4 * MIB, 1);
    const uint64_t sizes[] = {0, 4096, 8192, MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        world.env.alignment_bytes = sizes[i];
        assert_int_equal(measure_shift_bytes(&world.env, &world.plan.point), 0);
        assert_int_equal(measure_region_bytes(&world.env, &world.plan.point), 4 * MIB);
    }
    world.env.alignment_bytes = 3 * 512;
    assert_int_equal(measure_shift_bytes(&world.env, &world.plan.point), 1536);
    world.plan.point.request_size_bytes = 512;
    assert_int_equal(measure_shift_bytes(&world.env, &world.plan.point), 0);
}

TEST(regions_are_whole_requests_in_every_file)
{
    struct point *point = &world.plan.point;
    create(8 * MIB, 4);
    point->request_size_bytes = 64 * KIB;
    point->threads = 3;
    /* 128 requests, 42.67 for a thread, 10 for a thread and file. */
    assert_int_equal(measure_region_bytes(&world.env, point), 40 * 64 * KIB);
    world.env.alignment_bytes = 4096;
    /* 31 of 32 fit behind the shift: 124 requests, 41.3 for a thread. */
    assert_int_equal(measure_region_bytes(&world.env, point), 40 * 64 * KIB);
    world.env.shared_region = true;
    assert_int_equal(measure_region_bytes(&world.env, point), 124 * 64 * KIB);
}

TEST(mismatch_names_the_file)
{
    uint64_t bytes = 0;
    create(4 * MIB, 4);
    assert_int_equal(pwrite(target_fds(&world.target)[2], "x", 1, 8192 + 99), 1);
    assert_int_equal(measure_read_back(&world.env, &bytes, &world.err), -EBADMSG);
    assert_non_null(strstr(world.err.text, "the block at offset 8192 of file 2 (write 1) is damaged"));
}
