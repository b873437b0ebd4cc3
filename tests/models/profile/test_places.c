/* Tests of models/profile/places: samples are counted by place, and none is lost in a full table. */
#include "models/profile/places.h"
#include "tests/test.h"

static struct places places;

static uint64_t sum(uint64_t object)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < PLACES_MOST; i++)
        n += places.counts[i].n > 0 && places.counts[i].object == object ? places.counts[i].n : 0;
    return n;
}

TEST(samples_of_one_place_are_counted_together)
{
    memset(&places, 0, sizeof places);
    for (unsigned i = 0; i < 1000; i++)
        assert_true(places_add(&places, 7, i % 10, 3));
    assert_int_equal(sum(7), 3000);
    size_t n_used = 0;
    for (uint32_t i = 0; i < PLACES_MOST; i++)
        n_used += places.counts[i].n > 0;
    assert_int_equal(n_used, 10);
}

TEST(objects_are_apart_also_the_unknown_one)
{
    memset(&places, 0, sizeof places);
    assert_true(places_add(&places, 0, 0, 4));
    assert_true(places_add(&places, 5, 0, 2));
    assert_true(places_add(&places, 0, 0, 1));
    assert_int_equal(sum(0), 5);
    assert_int_equal(sum(5), 2);
}

TEST(what_finds_no_room_is_told)
{
    uint64_t n_kept = 0;
    memset(&places, 0, sizeof places);
    for (uint64_t i = 0; i < 2 * PLACES_MOST; i++)
        n_kept += places_add(&places, 9, i, 1);
    assert_true(n_kept >= PLACES_MOST / 2 && n_kept <= PLACES_MOST);
    assert_int_equal(sum(9), n_kept);
    assert_true(places_add(&places, 9, 0, 1));
}
