/* Tests of bench/run/replay_warm: memory is kept until it is needed, and all of it is given back. */
/* LINK: -Wl,--wrap=hostinfo_find_memory_room */
#include "bench/run/replay_internal.h"
#include "tests/memory_room.h"

#include <sys/mman.h>

#define MIB (1ULL << 20)

static const struct replay_write writes[] = {
    {.size_bytes = 8 * MIB}, {.size_bytes = 100}, {.size_bytes = 8 * MIB}};

static struct replay_plan plan_of(enum replay_mode mode)
{
    return (struct replay_plan){.mode = mode, .writes = writes, .n = 3, .n_files = 1};
}

/* Pages of the first piece and of the last one that are in memory. */
static bool is_resident(const struct replay_warm *warm, uint64_t at)
{
    unsigned char present = 0;
    assert_int_equal(mincore(warm->memory + at, 4096, &present), 0);
    return (present & 1) != 0;
}

TEST(memory_is_touched_and_given_piece_by_piece)
{
    struct replay_plan plan = plan_of(REPLAY_NOSYNC);
    struct replay_warm warm;
    replay_warm_open(&warm, &plan);
    if (warm.memory == NULL)
        skip(); /* hardly any memory is available */
    assert_true(warm.size_bytes >= 16 * MIB);
    assert_true(is_resident(&warm, 0) && is_resident(&warm, warm.size_bytes - 4096));
    assert_true(replay_warm_give(&warm, writes[0].size_bytes));
    assert_true(warm.given_bytes >= writes[0].size_bytes && warm.given_bytes < warm.size_bytes);
    assert_false(is_resident(&warm, 0));
    assert_true(is_resident(&warm, warm.size_bytes - 4096));
    assert_false(replay_warm_give(&warm, writes[1].size_bytes));
    assert_true(replay_warm_give(&warm, writes[2].size_bytes));
    replay_warm_close(&warm);
    replay_warm_close(&warm);
}

TEST(no_more_is_given_than_there_is)
{
    struct replay_plan plan = plan_of(REPLAY_STDIO);
    AUTO(replay_warm_close) struct replay_warm warm;
    replay_warm_open(&warm, &plan);
    (void)replay_warm_give(&warm, UINT64_MAX / 2);
    assert_true(warm.given_bytes == warm.size_bytes);
    assert_false(replay_warm_give(&warm, 1));
}

TEST(direct_writes_and_first_touches_need_none)
{
    struct replay_plan plan = plan_of(REPLAY_DIRECT);
    AUTO(replay_warm_close) struct replay_warm warm;
    replay_warm_open(&warm, &plan);
    assert_null(warm.memory);
    plan = plan_of(REPLAY_NOSYNC);
    plan.first_touch = true;
    replay_warm_open(&warm, &plan);
    assert_null(warm.memory);
    assert_false(replay_warm_give(&warm, MIB));
}

TEST(half_of_the_room_is_the_most)
{
    struct replay_plan plan = plan_of(REPLAY_NOSYNC);
    struct replay_warm warm;
    room_bytes = 17 * MIB;
    replay_warm_open(&warm, &plan);
    assert_true(warm.size_bytes == 8 * MIB);
    replay_warm_close(&warm);
    room_bytes = INFINITY; /* not known */
    replay_warm_open(&warm, &plan);
    assert_null(warm.memory);
    room_bytes = 0;
}
