/* models/cawl/cawl_cache and models/cawl/cawl_map: blocks, by hand and against an array. */

#include "tests/models/cawl/cawl_plain.h"
#include "tests/models/rng.h"

static struct cawl_cache cache;
static struct cawl_plain plain;

FIXTURE(enter)
{
    cawl_cache_init(&cache);
    return 0;
}

FIXTURE(leave)
{
    cawl_map_done(&cache.map);
    return 0;
}

EACH_TEST(enter, leave);

static void begin_again(void)
{
    cawl_map_done(&cache.map);
    cawl_cache_init(&cache);
}

static void write_at(uint64_t offset, uint64_t size, double endtime)
{
    assert_int_equal(cawl_cache_write(&cache, 0, offset, size, endtime), 0);
    assert_true(cawl_cache_sound(&cache));
}

static void check_bytes(uint64_t fresh, uint64_t aged, uint64_t active)
{
    assert_int_equal(cache.bytes[CAWL_FRESH], fresh);
    assert_int_equal(cache.bytes[CAWL_AGED], aged);
    assert_int_equal(cache.bytes[CAWL_ACTIVE], active);
    assert_int_equal(cawl_cache_dirty(&cache), fresh + aged + active);
}

static void check_block(uint64_t at, uint64_t offset, uint64_t size, enum cawl_list list, double endtime)
{
    const struct cawl_block *block = cawl_map_behind(&cache.map, 0, at);

    assert_int_equal(block->offset, offset);
    assert_int_equal(block->size, size);
    assert_int_equal(block->list, list);
    assert_close(block->endtime, endtime, 0);
}

TEST(disjoint_blocks_stay_inactive)
{
    assert_int_equal(cawl_cache_dirty(&cache), 0);
    assert_close(cawl_cache_oldest(&cache), INFINITY, 0);
    assert_null(cawl_cache_evictable(&cache));
    write_at(100, 50, 1);
    write_at(150, 50, 2); /* touches, does not overlap */
    write_at(50, 50, 3);
    check_bytes(150, 0, 0);
    check_block(50, 50, 50, CAWL_FRESH, 3);
    assert_close(cawl_cache_oldest(&cache), 1, 0);
}

TEST(what_is_dirty_of_a_range_is_found)
{
    assert_int_equal(cawl_cache_covered(&cache, 0, 0, 1000), 0);
    write_at(100, 50, 1);
    write_at(200, 50, 2);
    assert_int_equal(cawl_cache_covered(&cache, 0, 0, 1000), 100);
    assert_int_equal(cawl_cache_covered(&cache, 0, 120, 100), 30 + 20);
    assert_int_equal(cawl_cache_covered(&cache, 0, 110, 10), 10);
    assert_int_equal(cawl_cache_covered(&cache, 0, 150, 50), 0);
    assert_int_equal(cawl_cache_covered(&cache, 1, 0, 1000), 0);
}

struct overlap {
    uint64_t offset, size, fresh, active;
};

TEST(the_overlap_becomes_active_and_nothing_counts_twice)
{
    static const struct overlap cases[] = {
        {50, 100, 50 + 50, 50},  /* left */
        {150, 100, 50 + 50, 50}, /* right */
        {120, 20, 80, 20},       /* inside */
        {100, 100, 0, 100},      /* exact */
        {50, 200, 100, 100},     /* around */
        {100, 30, 70, 30},       /* its head */
        {170, 30, 70, 30},       /* its tail */
    };

    for (size_t i = 0; i < N_OF(cases); i++) {
        begin_again();
        write_at(100, 100, 1);
        write_at(cases[i].offset, cases[i].size, 2);
        check_bytes(cases[i].fresh, 0, cases[i].active);
    }
}

TEST(the_rest_of_an_old_block_keeps_its_age_and_state)
{
    write_at(0, 100, 1);
    write_at(0, 100, 2);
    write_at(40, 20, 3);
    check_block(0, 0, 40, CAWL_ACTIVE, 2);
    check_block(40, 40, 20, CAWL_ACTIVE, 3);
    check_block(60, 60, 40, CAWL_ACTIVE, 2);
    write_at(90, 30, 4);
    check_block(60, 60, 30, CAWL_ACTIVE, 2);
    check_block(90, 90, 10, CAWL_ACTIVE, 4);
    check_block(100, 100, 20, CAWL_FRESH, 4);
}

TEST(active_blocks_beyond_two_thirds_become_inactive_the_oldest_first)
{
    write_at(0, 100, 1);
    write_at(100, 100, 2);
    write_at(200, 100, 3);
    write_at(0, 100, 4);
    write_at(100, 100, 5);
    check_bytes(100, 0, 200);
    assert_int_equal(cawl_cache_evictable(&cache)->offset, 200);
    check_bytes(100, 0, 200); /* just two thirds: nothing moves */
    write_at(200, 100, 6);
    check_bytes(0, 0, 300);
    assert_int_equal(cawl_cache_evictable(&cache)->offset, 0);
    check_bytes(0, 100, 200);
    write_at(0, 100, 7); /* what was inactive again can become active again */
    check_bytes(0, 0, 300);
}

TEST(a_cache_that_forgot_a_byte_is_not_sound)
{
    write_at(0, 100, 1);
    cache.bytes[CAWL_FRESH]--;
    assert_false(cawl_cache_sound(&cache));
}

static void check_same(void)
{
    assert_true(cawl_cache_sound(&cache));
    check_bytes((uint64_t)cawl_plain_bytes(&plain, CAWL_FRESH), (uint64_t)cawl_plain_bytes(&plain, CAWL_AGED),
                (uint64_t)cawl_plain_bytes(&plain, CAWL_ACTIVE));
    if (plain.n == 0)
        return;

    const struct cawl_plain_block *inactive = cawl_plain_oldest(&plain, false),
                                  *active = cawl_plain_oldest(&plain, true);
    double oldest = inactive == NULL                                       ? active->endtime
                    : active == NULL || cawl_plain_older(inactive, active) ? inactive->endtime
                                                                           : active->endtime;

    assert_close(cawl_cache_oldest(&cache), oldest, 0);
}

static void evict_same(void)
{
    struct cawl_block *block = cawl_cache_evictable(&cache);
    struct cawl_plain_block *expected = cawl_plain_evictable(&plain);

    if (expected == NULL) {
        assert_null(block);
        return;
    }

    uint64_t bytes =
        gsl_rng_uniform_int(rng, 3) == 0 ? gsl_rng_uniform_int(rng, block->size + 1) : block->size;

    assert_int_equal(block->file, expected->file);
    assert_close((double)block->offset, expected->offset, 0);
    assert_close((double)block->size, expected->size, 0);
    assert_close(block->endtime, expected->endtime, 0);
    cawl_cache_clean(&cache, block, bytes);
    cawl_plain_clean(&plain, expected, (double)bytes);
}

TEST(random_loads_leave_the_blocks_of_a_plain_array)
{
    gsl_rng_set(rng, 0);
    for (unsigned long load = 0; load < 1000; load++) {
        unsigned long span = 20 + gsl_rng_uniform_int(rng, 400), longest = 1 + gsl_rng_uniform_int(rng, 60);

        begin_again();
        plain.n = 0;
        for (int step = 0; step < 60; step++) {
            uint32_t file = (uint32_t)gsl_rng_uniform_int(rng, 2);
            uint64_t offset = gsl_rng_uniform_int(rng, span), size = 1 + gsl_rng_uniform_int(rng, longest);

            assert_int_equal(cawl_cache_write(&cache, file, offset, size, step), 0);
            cawl_plain_write(&plain, file, (double)offset, (double)(offset + size), step);
            for (unsigned long n = gsl_rng_uniform_int(rng, 4); n > 0; n--)
                evict_same();
            check_same();
        }
    }
}

TEST(files_are_apart_at_their_ends)
{
    static const uint32_t files[] = {0, 1, 7, UINT32_MAX - 1, UINT32_MAX};
    const uint64_t far = INT64_MAX - 5;

    for (size_t i = 0; i < N_OF(files); i++)
        assert_true(cawl_map_add(&cache.map, files[i], far, 5) != NULL &&
                    cawl_map_add(&cache.map, files[i], 2, 1) != NULL);
    for (size_t i = 0; i < N_OF(files); i++) {
        assert_int_equal(cawl_map_behind(&cache.map, files[i], 2)->offset, 2);
        assert_int_equal(cawl_map_behind(&cache.map, files[i], 3)->offset, far);
        assert_int_equal(cawl_map_behind(&cache.map, files[i], far + 4)->file, files[i]);
        assert_null(cawl_map_behind(&cache.map, files[i], far + 5));
    }
    assert_null(cawl_map_behind(&cache.map, 2, 0));
}

/* Neighbours are joined: every range has a gap behind it. */
static void check_ranges(uint32_t file, const bool *bytes, size_t n)
{
    const struct cawl_block *range = cawl_map_behind(&cache.map, file, 0);

    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && bytes[to] == bytes[from];)
            to++;
        if (!bytes[from])
            continue;
        assert_non_null(range);
        assert_true(range->offset == from && range->size == to - from);
        range = cawl_map_behind(&cache.map, file, to);
    }
    assert_null(range);
}

TEST(random_covers_count_what_an_array_of_bytes_counts)
{
    static bool bytes[3][5000];

    gsl_rng_set(rng, 0);
    for (int step = 0; step < 5000; step++) {
        uint32_t file = (uint32_t)gsl_rng_uniform_int(rng, 3);
        unsigned long size = 1 + gsl_rng_uniform_int(rng, step % 100 == 0 ? 400 : 2),
                      offset = gsl_rng_uniform_int(rng, sizeof bytes[0] - size);
        uint64_t n_new = 0, expected = 0;

        assert_int_equal(cawl_map_cover(&cache.map, file, offset, size, &n_new), 0);
        for (unsigned long i = offset; i < offset + size; i++) {
            expected += !bytes[file][i];
            bytes[file][i] = true;
        }
        assert_int_equal(n_new, expected);
    }
    for (uint32_t file = 0; file < 3; file++)
        check_ranges(file, bytes[file], sizeof bytes[0]);
}
