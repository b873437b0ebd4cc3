/* Tests of tuner/nightly/disk_ways. */
#include "tests/test.h"
#include "tuner/nightly/disk_ways.h"

#include <errno.h>

static size_t size_of(struct disk_ways *ways, const char *kind)
{
    struct fst_space *space = disk_ways_space(ways, kind_find(kind));
    struct fst_options options = FST_OPTIONS;
    if (space == NULL)
        return 0;
    struct fst_search *search = fst_search_new(space, &options);
    size_t n = search != NULL ? fst_search_size(search) : 0;
    fst_search_free(search);
    fst_space_free(space);
    return n;
}

static size_t n_settings(bool can_direct, bool can_split, const char *kind)
{
    struct disk_ways ways = {.can_direct = can_direct, .can_split = can_split};
    return size_of(&ways, kind);
}

TEST(only_settings_that_make_a_difference_are_tried)
{
    assert_int_equal(n_settings(true, true, "seq-read-large"), 15);
    assert_int_equal(n_settings(true, true, "seq-read-small"), 5);
    assert_int_equal(n_settings(true, true, "random-read-small"), 3);
    assert_int_equal(n_settings(true, true, "random-write-small"), 4);
    assert_int_equal(n_settings(true, true, "seq-write-large"), 6);
    assert_int_equal(n_settings(false, false, "random-write-large"), 3);
    assert_int_equal(n_settings(false, false, "random-read-large"), 2);
    assert_int_equal(n_settings(true, false, "seq-read-large"), 5);
}

TEST(what_leaves_less_in_the_cache_is_not_tried_where_it_holds_the_image)
{
    struct disk_ways ways = {.can_direct = true, .can_split = true, .is_kept = true};
    struct online_setting plain = disk_ways_to_setting(DISK_WAYS_PLAIN),
                          none = disk_ways_to_setting((struct image_way){0});
    assert_int_equal(size_of(&ways, "random-write-small"), 3);
    assert_int_equal(size_of(&ways, "random-read-small"), 0);
    assert_int_equal(size_of(&ways, "seq-read-large"), 9);
    assert_true(disk_ways_may_use(&ways, &plain));
    assert_false(disk_ways_may_use(&ways, &none));
    ways.is_kept = false;
    assert_true(disk_ways_may_use(&ways, &none));
}

TEST(what_is_written_is_parsed_again)
{
    static const char *const texts[] = {"cached",         "cached,ahead=none",          "cached,ahead=1m",
                                        "direct",         "cached,pieces=64k,ahead=4m", "direct,pieces=128k",
                                        "cached,out=64k", "cached,pieces=128k,out=1m"};
    char text[DISK_WAYS_TEXT_SIZE];
    for (size_t i = 0; i < N_OF(texts); i++) {
        struct image_way way;
        assert_int_equal(disk_ways_parse(texts[i], &way), 0);
        struct online_setting setting = disk_ways_to_setting(way);
        assert_string_equal(disk_ways_format(disk_ways_of_setting(&setting), text), texts[i]);
    }
}

TEST(other_words_are_refused)
{
    static const char *const texts[] = {"",
                                        "fast",
                                        "direct,ahead=4m",
                                        "direct,ahead=none",
                                        "cached,ahead=3m",
                                        "cached,pieces=1k",
                                        "cached,pieces",
                                        "cached,",
                                        "cached,direct",
                                        "cached,ahead=1",
                                        "cached,out=2m",
                                        "direct,out=1m"};
    for (size_t i = 0; i < N_OF(texts); i++) {
        struct image_way way = {0};
        assert_int_equal(disk_ways_parse(texts[i], &way), -EINVAL);
    }
}
