/* models/cawl/cawl_cache and models/cawl/cawl_map: blocks, by hand and against an array. */
#include "models/cawl/cawl_internal.h"

#include "tests/models/cawl/cawl_plain.h"
#include "tests/models/rng.h"

static void write_at(struct cawl_cache *cache, uint64_t offset, uint64_t size, double endtime)
{
    assert_int_equal(cawl_cache_write(cache, 0, offset, size, endtime), 0);
    assert_true(cawl_cache_sound(cache));
}

static void check_bytes(const struct cawl_cache *cache, uint64_t fresh, uint64_t aged, uint64_t active)
{
    assert_int_equal(cache->bytes[CAWL_FRESH], fresh);
    assert_int_equal(cache->bytes[CAWL_AGED], aged);
    assert_int_equal(cache->bytes[CAWL_ACTIVE], active);
    assert_int_equal(cawl_cache_dirty(cache), fresh + aged + active);
}

static void check_block(const struct cawl_cache *cache, uint64_t at, uint64_t offset, uint64_t size,
                        enum cawl_list list, double endtime)
{
    uint32_t found = cawl_map_behind(&cache->map, 0, at);
    const struct cawl_block *block = &cache->map.blocks[found];

    assert_int_equal(block->offset, offset);
    assert_int_equal(block->size, size);
    assert_int_equal(block->list, list);
    assert_close(cache->map.ages[found].endtime, endtime, 0);
}

TEST(disjoint_blocks_stay_inactive)
{
    AUTO(cawl_cache_done) struct cawl_cache cache = {0};

    assert_int_equal(cawl_cache_dirty(&cache), 0);
    assert_close(cawl_cache_oldest(&cache), INFINITY, 0);
    assert_int_equal(cawl_cache_evictable(&cache), CAWL_NONE);
    write_at(&cache, 100, 50, 1);
    write_at(&cache, 150, 50, 2); /* touches, does not overlap */
    write_at(&cache, 50, 50, 3);
    check_bytes(&cache, 150, 0, 0);
    check_block(&cache, 50, 50, 50, CAWL_FRESH, 3);
    assert_close(cawl_cache_oldest(&cache), 1, 0);
}

TEST(what_is_dirty_of_a_range_is_found)
{
    AUTO(cawl_cache_done) struct cawl_cache cache = {0};

    assert_int_equal(cawl_cache_covered(&cache, 0, 0, 1000), 0);
    write_at(&cache, 100, 50, 1);
    write_at(&cache, 200, 50, 2);
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

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        AUTO(cawl_cache_done) struct cawl_cache cache = {0};

        write_at(&cache, 100, 100, 1);
        write_at(&cache, cases[i].offset, cases[i].size, 2);
        check_bytes(&cache, cases[i].fresh, 0, cases[i].active);
    }
}

TEST(the_rest_of_an_old_block_keeps_its_age_and_state)
{
    AUTO(cawl_cache_done) struct cawl_cache cache = {0};

    write_at(&cache, 0, 100, 1);
    write_at(&cache, 0, 100, 2);
    write_at(&cache, 40, 20, 3);
    check_block(&cache, 0, 0, 40, CAWL_ACTIVE, 2);
    check_block(&cache, 40, 40, 20, CAWL_ACTIVE, 3);
    check_block(&cache, 60, 60, 40, CAWL_ACTIVE, 2);
    write_at(&cache, 90, 30, 4);
    check_block(&cache, 60, 60, 30, CAWL_ACTIVE, 2);
    check_block(&cache, 90, 90, 10, CAWL_ACTIVE, 4);
    check_block(&cache, 100, 100, 20, CAWL_FRESH, 4);
}

TEST(one_write_fills_the_gaps_of_many_blocks)
{
    AUTO(cawl_cache_done) struct cawl_cache cache = {0};

    for (uint64_t i = 0; i < 5; i++)
        write_at(&cache, 100 * i, 10, (double)i);
    write_at(&cache, 5, 400, 9);
    check_bytes(&cache, 5 + 4 * 90 + 5, 0, 5 + 3 * 10 + 5);
}

TEST(rewritten_bytes_that_lie_together_become_one_block)
{
    AUTO(cawl_cache_done) struct cawl_cache cache = {0};

    for (uint64_t i = 0; i < 10; i++)
        write_at(&cache, 10 * i, 10, (double)i);
    write_at(&cache, 5, 80, 20);
    check_block(&cache, 50, 5, 80, CAWL_ACTIVE, 20);
    check_bytes(&cache, 5 + 5 + 10, 0, 80);
}

TEST(files_do_not_overlap)
{
    AUTO(cawl_cache_done) struct cawl_cache cache = {0};

    assert_int_equal(cawl_cache_write(&cache, 7, 0, 100, 1), 0);
    assert_int_equal(cawl_cache_write(&cache, 5, 0, 100, 2), 0);
    assert_int_equal(cawl_cache_write(&cache, UINT32_MAX, 0, 100, 3), 0);
    check_bytes(&cache, 300, 0, 0);
    assert_int_equal(cawl_map_behind(&cache.map, 6, 0), CAWL_NONE);
    assert_int_equal(cawl_map_behind(&cache.map, 5, 100), CAWL_NONE);
}

TEST(active_blocks_beyond_two_thirds_become_inactive_the_oldest_first)
{
    AUTO(cawl_cache_done) struct cawl_cache cache = {0};

    write_at(&cache, 0, 100, 1);
    write_at(&cache, 100, 100, 2);
    write_at(&cache, 200, 100, 3);
    write_at(&cache, 0, 100, 4);
    write_at(&cache, 100, 100, 5);
    check_bytes(&cache, 100, 0, 200);
    assert_int_equal(cache.map.blocks[cawl_cache_evictable(&cache)].offset, 200);
    check_bytes(&cache, 100, 0, 200); /* just two thirds: nothing moves */
    write_at(&cache, 200, 100, 6);
    check_bytes(&cache, 0, 0, 300);
    assert_int_equal(cache.map.blocks[cawl_cache_evictable(&cache)].offset, 0);
    check_bytes(&cache, 0, 100, 200);
    write_at(&cache, 0, 100, 7); /* what was inactive again can become active again */
    check_bytes(&cache, 0, 0, 300);
}

TEST(the_front_of_a_block_is_cleaned)
{
    AUTO(cawl_cache_done) struct cawl_cache cache = {0};

    write_at(&cache, 100, 100, 1);
    cawl_cache_clean(&cache, cawl_cache_evictable(&cache), 30);
    assert_true(cawl_cache_sound(&cache));
    check_block(&cache, 0, 130, 70, CAWL_FRESH, 1);
    write_at(&cache, 100, 40, 2);
    check_bytes(&cache, 90, 0, 10);
    cawl_cache_clean(&cache, cawl_map_behind(&cache.map, 0, 0), 30);
    check_bytes(&cache, 60, 0, 10);
    assert_true(cawl_cache_sound(&cache));
}

TEST(a_cache_that_forgot_a_byte_is_not_sound)
{
    AUTO(cawl_cache_done) struct cawl_cache cache = {0};

    write_at(&cache, 0, 100, 1);
    cache.bytes[CAWL_FRESH]--;
    assert_false(cawl_cache_sound(&cache));
}

static void check_same(struct cawl_cache *cache, struct cawl_plain *plain)
{
    assert_true(cawl_cache_sound(cache));
    check_bytes(cache, (uint64_t)cawl_plain_bytes(plain, CAWL_FRESH),
                (uint64_t)cawl_plain_bytes(plain, CAWL_AGED), (uint64_t)cawl_plain_bytes(plain, CAWL_ACTIVE));
    if (plain->n == 0)
        return;

    const struct cawl_plain_block *inactive = cawl_plain_oldest(plain, false),
                                  *active = cawl_plain_oldest(plain, true);
    double oldest = inactive == NULL                                       ? active->endtime
                    : active == NULL || cawl_plain_older(inactive, active) ? inactive->endtime
                                                                           : active->endtime;

    assert_close(cawl_cache_oldest(cache), oldest, 0);
}

static void evict_same(struct cawl_cache *cache, struct cawl_plain *plain)
{
    uint32_t evictable = cawl_cache_evictable(cache);
    struct cawl_plain_block *expected = cawl_plain_evictable(plain);

    if (expected == NULL) {
        assert_int_equal(evictable, CAWL_NONE);
        return;
    }

    const struct cawl_block *block = &cache->map.blocks[evictable];
    uint64_t bytes =
        gsl_rng_uniform_int(rng, 3) == 0 ? gsl_rng_uniform_int(rng, block->size + 1) : block->size;

    assert_int_equal(block->file, expected->file);
    assert_close((double)block->offset, expected->offset, 0);
    assert_close((double)block->size, expected->size, 0);
    assert_close(cache->map.ages[evictable].endtime, expected->endtime, 0);
    cawl_cache_clean(cache, evictable, bytes);
    cawl_plain_clean(plain, expected, (double)bytes);
}

TEST(random_loads_leave_the_blocks_of_a_plain_array)
{
    gsl_rng_set(rng, 0);
    AUTO(auto_free) struct cawl_plain *plain = malloc(sizeof(*plain));

    for (unsigned long load = 0; load < 1000; load++) {
        AUTO(cawl_cache_done) struct cawl_cache cache = {0};
        unsigned long span = 20 + gsl_rng_uniform_int(rng, 400), longest = 1 + gsl_rng_uniform_int(rng, 60);

        plain->n = 0;
        for (int step = 0; step < 60; step++) {
            uint32_t file = (uint32_t)gsl_rng_uniform_int(rng, 2);
            uint64_t offset = gsl_rng_uniform_int(rng, span), size = 1 + gsl_rng_uniform_int(rng, longest);

            assert_int_equal(cawl_cache_write(&cache, file, offset, size, step), 0);
            cawl_plain_write(plain, file, (double)offset, (double)(offset + size), step);
            for (unsigned long n = gsl_rng_uniform_int(rng, 4); n > 0; n--)
                evict_same(&cache, plain);
            check_same(&cache, plain);
        }
    }
}

TEST(covering_counts_new_bytes_once_and_joins_neighbours)
{
    AUTO(cawl_map_done) struct cawl_map map = {0};
    uint64_t n_new = 0;

    assert_int_equal(cawl_map_cover(&map, 1, 100, 100, &n_new), 0);
    assert_int_equal(n_new, 100);
    assert_int_equal(cawl_map_cover(&map, 1, 300, 100, &n_new), 0);
    assert_int_equal(cawl_map_cover(&map, 1, 150, 200, &n_new), 0);
    assert_int_equal(n_new, 100);
    assert_int_equal(cawl_map_cover(&map, 1, 400, 10, &n_new), 0);
    assert_int_equal(n_new, 10);
    assert_int_equal(cawl_map_cover(&map, 1, 99, 1, &n_new), 0);
    assert_int_equal(cawl_map_cover(&map, 2, 99, 5, &n_new), 0);
    assert_int_equal(n_new, 5);

    const struct cawl_block *joined = &map.blocks[cawl_map_behind(&map, 1, 0)];

    assert_int_equal(joined->offset, 99);
    assert_int_equal(joined->size, 311);
    assert_int_equal(cawl_map_cover(&map, 1, 200, 10, &n_new), 0);
    assert_int_equal(n_new, 0);
}
