/* Tests of bench/io/arena: memory that is there before it is needed, and stays. */
/* LINK: -Wl,--wrap=hostinfo_find_memory_room */
#include "bench/base/rng.h"
#include "bench/io/arena.h"
#include "tests/memory_room.h"

#include <errno.h>
#include <sys/mman.h>

TEST(reserved_memory_is_page_aligned_and_touched)
{
    AUTO(arena_free) struct arena arena = {0};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), n_pages = 64;
    unsigned char resident[64];
    assert_int_equal(arena_reserve(&arena, n_pages * page, 1, NULL), 0);
    assert_int_equal((uintptr_t)arena.memory % page, 0);
    assert_int_equal(arena.size, n_pages * page);
    assert_int_equal(mincore(arena.memory, n_pages * page, resident), 0);
    for (size_t i = 0; i < n_pages; i++)
        assert_true(resident[i] & 1);
}

TEST(contents_are_the_random_numbers_of_the_seed)
{
    AUTO(arena_free) struct arena arena = {0};
    unsigned char expected[10007];
    struct rng rng;
    rng_init(&rng, 42);
    rng_fill(&rng, expected, sizeof(expected));
    assert_int_equal(arena_reserve(&arena, sizeof(expected), 42, NULL), 0);
    assert_memory_equal(arena.memory, expected, sizeof(expected));
}

TEST(enough_memory_is_kept_as_it_is)
{
    AUTO(arena_free) struct arena arena = {0};
    assert_int_equal(arena_reserve(&arena, 65536, 1, NULL), 0);
    unsigned char *memory = arena.memory;
    memory[100] = 0x5A;
    memory[101] = 0xA5;
    assert_int_equal(arena_reserve(&arena, 65536, 2, NULL), 0);
    assert_int_equal(arena_reserve(&arena, 1, 2, NULL), 0);
    assert_int_equal(arena_reserve(&arena, 0, 2, NULL), 0);
    assert_ptr_equal(arena.memory, memory);
    assert_int_equal(arena.size, 65536);
    assert_true(memory[100] == 0x5A && memory[101] == 0xA5);
}

/* Its low 32 bits are a page: a 32-bit process must not take that for the whole. */
TEST(more_than_there_are_addresses_is_refused)
{
    struct arena arena = {0};
    assert_int_equal(arena_reserve(&arena, (1ULL << 60) + 4096, 1, NULL), -ENOMEM);
    assert_null(arena.memory);
    assert_ptr_equal(arena_map((1ULL << 60) + 4096, MAP_NORESERVE), MAP_FAILED);
}

TEST(it_grows_and_returns_what_it_had)
{
    AUTO(arena_free) struct arena arena = {0};
    unsigned char resident;
    assert_int_equal(arena_reserve(&arena, 4096, 1, NULL), 0);
    void *old = arena.memory;
    assert_int_equal(arena_reserve(&arena, 1 << 20, 1, NULL), 0);
    assert_int_equal(mincore(old, 4096, &resident), -1); /* no longer mapped */
    assert_int_equal(arena.size, 1 << 20);
    memset(arena.memory, 1, 1 << 20);
}

TEST(too_much_is_enomem_and_keeps_the_old)
{
    AUTO(arena_free) struct arena arena = {0};
    struct err err = {0};
    assert_int_equal(arena_reserve(&arena, 4096, 1, NULL), 0);
    unsigned char *memory = arena.memory, first = memory[0];
    assert_int_equal(arena_reserve(&arena, INT64_MAX, 1, &err), -ENOMEM);
    CHECK_HAS(err.text, "9223372036854775807 bytes", "lower request size, queue depth or threads");
    assert_ptr_equal(arena.memory, memory);
    assert_int_equal(arena.size, 4096);
    assert_int_equal(arena.memory[0], first);
}

/* The kernel would give the pages, and a memory cgroup kill who touches them. */
TEST(more_than_half_of_the_room_is_enomem)
{
    AUTO(arena_free) struct arena arena = {0};
    room_bytes = 2 << 20;
    assert_int_equal(arena_reserve(&arena, (1 << 20) + 1, 1, NULL), -ENOMEM);
    assert_int_equal(arena_reserve(&arena, 1 << 20, 1, NULL), 0);
    room_bytes = 0;
}

TEST(freed_arena_is_empty_and_can_be_used_again)
{
    struct arena arena = {0};
    arena_free(&arena);
    assert_int_equal(arena_reserve(&arena, 4096, 1, NULL), 0);
    arena_free(&arena);
    assert_null(arena.memory);
    assert_int_equal(arena.size, 0);
    arena_free(&arena);
    assert_int_equal(arena_reserve(&arena, 8192, 1, NULL), 0);
    arena_free(&arena);
}
