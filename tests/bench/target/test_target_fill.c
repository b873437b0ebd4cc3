/* tests/bench/target/test_target_fill: the contents of the target file, its size under a budget, and how
 * filling ends early. */
/* LINK: -Wl,--wrap=hostinfo_find_memory_room */
#include "tests/bench/target/own_target.h"
#include "tests/memory_room.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

/* Every reading is a second after the one before. */
static uint64_t next_second(const struct clock *clock)
{
    *clock->virtual_ns += CLOCK_NS_PER_S;
    return *clock->virtual_ns;
}

static void sleep_not(const struct clock *clock, uint64_t deadline_ns)
{
    (void)clock;
    (void)deadline_ns;
}

static const struct clock_ops second_ops = {next_second, sleep_not};

static void limit_file_size(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    (void)context;
    (void)total_bytes;
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = done_bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(file_size_limit_is_explained)
{
    struct rlimit before;
    struct target_plan plan = rig_plan(directory, 80 * MIB);
    plan.progress = limit_file_size;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    int code = target_create(&target, &plan, &err);
    plan.progress = NULL;
    int next = target_create(&target, &plan, NULL); /* the limit is there from the start */
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, -EFBIG);
    assert_int_equal(next, -EFBIG);
    assert_non_null(strstr(err.text, "ulimit -f"));
    assert_int_equal(target.fd, 0);
}

static atomic_int interrupted;

static void interrupt(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    (void)total_bytes;
    *(uint64_t *)context = done_bytes;
    atomic_store(&interrupted, SIGINT);
}

/* Filling ends with its first flush; the bytes that were written until then. */
static uint64_t fill_until_flushed(double memory_bytes)
{
    uint64_t done = 0;
    struct target_plan plan = rig_plan(directory, 80 * MIB);
    plan.interrupted = &interrupted;
    plan.progress = interrupt;
    plan.progress_context = &done;
    room_bytes = memory_bytes;
    int code = target_create(&target, &plan, NULL);
    atomic_store(&interrupted, 0);
    room_bytes = 0;
    assert_int_equal(code, -EINTR);
    assert_int_equal(target.fd, 0);
    assert_int_equal(rig_count_entries(directory), 0);
    return done;
}

TEST(interruption_ends_filling)
{
    assert_int_equal(fill_until_flushed(0), 64 * MIB);
}

TEST(filling_is_flushed_before_a_memory_group_is_full)
{
    assert_int_equal(fill_until_flushed(100.0 * MIB), 25 * MIB);
}

TEST(every_block_is_random_and_written)
{
    AUTO(target_close) struct target again = {0};
    struct stat status;
    unsigned char first[4096], second[4096], same[4096];
    uint64_t bins[256] = {0};
    make(&target, 3 * MIB + 12345);
    make(&again, 3 * MIB);
    assert_int_equal(target.size_bytes, 3 * MIB);
    assert_int_equal(target.filled_bytes, 3 * MIB);
    assert_int_equal(fstat(target.fd, &status), 0);
    assert_int_equal(status.st_size, 3 * MIB);
    assert_true((uint64_t)status.st_blocks * 512 >= 3 * MIB);
    assert_int_equal(pread(target.fd, first, 4096, 0), 4096);
    assert_int_equal(pread(target.fd, second, 4096, (off_t)(2 * MIB)), 4096);
    assert_int_equal(pread(again.fd, same, 4096, 0), 4096);
    assert_memory_not_equal(first, second, 4096);
    assert_memory_equal(first, same, 4096); /* the same seed */
    for (size_t i = 0; i < 4096; i++)
        bins[first[i]]++;
    for (size_t i = 0; i < 256; i++)
        assert_in_range(bins[i], 1, 48); /* 16 expected; far beyond chance, and the seed is fixed */
    assert_close(target.fill_bps * target.fill_seconds, 3.0 * MIB, 1.0);
}

static uint64_t size_under_budget(uint64_t requested, bool is_default, uint64_t budget_s)
{
    uint64_t hand = 0;
    struct clock clock = {&second_ops, &hand};
    struct target_plan plan = rig_plan(directory, requested);
    plan.size_is_default = is_default;
    plan.budget_ns = budget_s * CLOCK_NS_PER_S;
    plan.clock = &clock;
    if (target_create(&target, &plan, NULL) != 0)
        return 0;
    uint64_t size = target.size_bytes;
    target_close(&target);
    return size;
}

/* One reading of that clock per 64 MiB: 64 MiB/s, of which a fifth of the budget may be used. */
TEST(default_size_follows_rate_and_budget)
{
    assert_int_equal(size_under_budget(256 * MIB, true, 15), 192 * MIB);
    assert_int_equal(size_under_budget(256 * MIB, true, 1), 128 * MIB);
    assert_int_equal(size_under_budget(192 * MIB, true, 100), 192 * MIB);
}

TEST(explicit_size_ignores_budget)
{
    assert_int_equal(size_under_budget(192 * MIB, false, 1), 192 * MIB);
}
