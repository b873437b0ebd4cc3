/* Tests of bench/run/members: targets that are loaded together, on real files. */
#include "tests/bench/run/measure_rig.h"

#define FILE_BYTES (8 * MIB)
#define N          3

static struct members members;
static struct target others[N - 1];

FIXTURE(enter)
{
    (void)test_state;
    const struct target_plan plan = {.directory = directory,
                                     .size_bytes = FILE_BYTES,
                                     .max_write_bytes = UINT64_MAX,
                                     .clock = &clock_monotonic};
    members = (struct members){.n = N};
    if (world_make_file(&plan) < 0)
        return -1;
    members.target[0] = &world.target;
    for (uint32_t i = 1; i < N; i++) {
        if (target_create(&others[i - 1], &plan, &world.err) < 0)
            return -1;
        members.target[i] = &others[i - 1];
    }
    world.env.members = &members;
    return 0;
}

FIXTURE(leave)
{
    for (uint32_t i = 1; i < N; i++)
        target_close(&others[i - 1]);
    return world_leave(test_state);
}

EACH_TEST(enter, leave);

static void plan_reads(uint32_t threads)
{
    world_plan("randread", (struct point){4096, 4, 0, API_POOL, threads, SYNC_END, 0, 0},
               CLOCK_NS_PER_S / 20);
}

/* Every member did its part, and the parts are the whole. */
static void check_parts(uint64_t least_requests)
{
    uint64_t requests = 0, bytes = 0;
    double bps = 0;
    for (uint32_t i = 0; i < N; i++) {
        const struct member_figures *figures = &members.figures[i];
        assert_true(figures->n_requests >= least_requests);
        assert_true(figures->throughput_bps > 0 && figures->latency.n > 0);
        requests += figures->n_requests;
        bytes += figures->bytes_read + figures->bytes_written;
        bps += figures->throughput_bps;
    }
    assert_int_equal(requests, world.result.n_requests);
    assert_int_equal(bytes, world.result.bytes_read + world.result.bytes_written);
    assert_close(bps / world.result.throughput_bps, 1, 1e-9);
}

TEST(rates_of_members_add_up_to_the_rate)
{
    static const uint32_t threads[] = {1, 2};
    for (size_t i = 0; i < N_OF(threads); i++) {
        plan_reads(threads[i]);
        assert_int_equal(world_measure(), 0);
        check_parts(MEASURE_MIN_REQUESTS);
        assert_close(world.result.achieved_depth, 4, 0.5);
    }
}

/* Without a window each ends at another time, and the rates add up nevertheless. */
TEST(buffered_writes_reach_all_members_and_are_flushed)
{
    world_plan("write", (struct point){65536, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0}, CLOCK_NS_PER_S / 20);
    assert_int_equal(world_measure(), 0);
    assert_false(world.result.windowed);
    check_parts(1);
    for (uint32_t i = 0; i < N; i++) {
        const struct member_figures *figures = &members.figures[i];
        assert_true(figures->bytes_written > 0 && figures->bytes_written <= FILE_BYTES);
        assert_close(figures->seconds / world.result.seconds, 1, 1e-9);
    }
    assert_int_equal(world.result.total_bytes_written, members.figures[0].bytes_written +
                                                           members.figures[1].bytes_written +
                                                           members.figures[2].bytes_written);
}

TEST(a_run_may_move_as_much_as_all_members_hold)
{
    const struct point point = {65536, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0};
    struct pattern pattern;
    pattern_parse("write", &pattern, NULL);
    assert_int_equal(measure_cap_bytes(&world.env, &pattern, &point), N * FILE_BYTES);
    world.env.members = NULL;
    assert_int_equal(measure_cap_bytes(&world.env, &pattern, &point), FILE_BYTES);
}

TEST(a_run_dirties_no_more_than_a_memory_group_can_hold)
{
    struct point point = {4096, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0};
    struct pattern pattern;
    pattern_parse("randrw", &pattern, NULL);
    world.env.dirty_room_bytes = FILE_BYTES / 16;
    assert_int_equal(measure_cap_bytes(&world.env, &pattern, &point), FILE_BYTES / 16);
    point.sync = SYNC_NONE;
    assert_int_equal(measure_cap_bytes(&world.env, &pattern, &point), FILE_BYTES / 16);
    point.direct = 1;
    assert_true(measure_cap_bytes(&world.env, &pattern, &point) > FILE_BYTES / 16);
    point = (struct point){4096, 1, 0, API_PSYNC, 1, SYNC_EACH, 0, 0};
    assert_true(measure_cap_bytes(&world.env, &pattern, &point) > FILE_BYTES / 16);
    pattern_parse("randread", &pattern, NULL);
    assert_true(measure_cap_bytes(&world.env, &pattern, &point) > FILE_BYTES / 16);
    world.env.dirty_room_bytes = 0;
}

/* The last member's file has become short: its reads are short. */
TEST(a_member_that_fails_makes_the_run_void_and_is_named)
{
    snprintf(others[N - 2].name, sizeof others[N - 2].name, "the bad member");
    assert_int_equal(ftruncate(others[N - 2].fd, 4096), 0);
    plan_reads(1);
    assert_true(world_measure() < 0);
    assert_contains(world.err.text, "the bad member");
    assert_int_equal(world.result.n_requests, 0);
}

TEST(a_flush_that_fails_names_its_member)
{
    uint64_t end_ns[MEMBERS_MOST] = {0};
    assert_int_equal(members_flush(&members, &clock_monotonic, end_ns, &world.err), 0);
    for (uint32_t i = 0; i < N; i++)
        assert_true(end_ns[i] > 0);
    snprintf(others[0].name, sizeof others[0].name, "the bad member");
    int fd = others[0].fd;
    others[0].fd = -1;
    int result = members_flush(&members, &clock_monotonic, end_ns, &world.err);
    others[0].fd = fd;
    assert_int_equal(result, -EBADF);
    assert_contains(world.err.text, "the bad member");
}
