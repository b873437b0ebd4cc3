/* Tests of tuner/profile/load_list: a load becomes requests that have its shares and sizes, and a place in
 * the file. */
#include "tests/tuner/rig.h"
#include "tuner/profile/load_list.h"

#include <errno.h>

#define MIB (1ULL << 20)

GROUP(rig_enter, rig_leave);

static struct load_list list;
static struct err err;

static int take(const char *path, uint64_t most_bytes)
{
    load_list_free(&list);
    return load_list_read(&list, path, most_bytes, 1, &err);
}

static void write_profile(const char *sync, const char *more)
{
    rig_write("p.json",
              "{\"schema\": \"fstune/profile/1\", \"events\": 20000, \"seconds\": 10, \"alignment_bytes\": "
              "4096, \"direct_share\": 1, \"footprint_bytes\": 67108864, \"queue_depth\": {\"mean\": 7.6}, "
              "\"shares\": {\"seq_read\": 0.1, \"seq_write\": 0.2, \"rand_read\": 0.3, \"rand_write\": 0.4}, "
              "\"request_size\": {\"read\": {\"p50\": 4096, \"modes\": [{\"bytes\": 4096, \"share\": 0.75}, "
              "{\"bytes\": 65536, \"share\": 0.25}]}, \"write\": {\"p50\": 8192, \"modes\": []}}, "
              "\"sync\": {\"kind\": \"%s\", \"requests_between_p50\": 5}%s}",
              sync, more);
}

static double share_of(bool (*is_one)(const struct requests_item *item))
{
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++)
        n += is_one(&list.items[i]);
    return (double)n / (double)list.n;
}

static bool is_write(const struct requests_item *item)
{
    return item->writes;
}

static bool is_large(const struct requests_item *item)
{
    return !item->writes && item->n_bytes == 65536;
}

static bool is_flush(const struct requests_item *item)
{
    return item->flushes;
}

TEST(drawn_requests_have_the_shares_and_sizes_of_the_profile)
{
    write_profile("every", "");
    assert_int_equal(take("p.json", 1024 * MIB), 0);
    assert_int_equal(list.n, 20000);
    assert_int_equal(list.depth, 8);
    assert_true(list.direct);
    assert_close(share_of(is_write), 0.6, 0.01);
    assert_close(share_of(is_large), 0.4 * 0.25, 0.01);
    assert_close(share_of(is_flush), 0.6 / 5, 0.001);
    for (size_t i = 0; i < list.n; i++) {
        assert_true(list.items[i].offset_bytes + list.items[i].n_bytes <= list.span_bytes);
        assert_int_equal(list.items[i].offset_bytes % 4096, 0);
        assert_true(list.items[i].at_ns < 10000000000ULL);
    }
}

TEST(a_flush_at_the_end_is_one)
{
    write_profile("end", "");
    assert_int_equal(take("p.json", 1024 * MIB), 0);
    assert_close(share_of(is_flush), 1.0 / 20001, 1e-9);
    assert_true(list.items[list.n - 1].flushes);
}

TEST(phases_follow_one_another)
{
    write_profile("none",
                  ", \"phases\": [{\"start_s\": 0, \"end_s\": 4, \"requests\": 1000, \"shares\": [1, 0, 0, "
                  "0]}, {\"start_s\": 4, \"end_s\": 10, \"requests\": 500, \"shares\": [0, 0, 0, 1]}]");
    assert_int_equal(take("p.json", 1024 * MIB), 0);
    assert_int_equal(list.n, 1500);
    for (size_t i = 0; i < list.n; i++)
        assert_int_equal(list.items[i].writes, i >= 1000);
    assert_true(list.items[999].at_ns < 4000000000ULL && list.items[1000].at_ns >= 4000000000ULL);
}

TEST(a_profile_whose_phases_have_more_requests_than_it_has_ends_where_it_says)
{
    write_profile("end", ", \"phases\": [{\"start_s\": 0, \"end_s\": 1e300, \"requests\": 4000000, "
                         "\"shares\": [1, 0, 0, 0]}]");
    assert_int_equal(take("p.json", 1024 * MIB), 0);
    assert_int_equal(list.n, 20001);
    for (size_t i = 0; i < list.n; i++)
        assert_true(list.items[i].at_ns <= 1000000000000000000ULL);
}

TEST(a_profile_is_folded_into_a_smaller_file)
{
    write_profile("none", "");
    assert_int_equal(take("p.json", 8 * MIB), 0);
    assert_true(list.span_bytes <= 8 * MIB);
    for (size_t i = 0; i < list.n; i++)
        assert_true(list.items[i].offset_bytes + list.items[i].n_bytes <= list.span_bytes);
}

TEST(an_iolog_is_repeated_as_it_stands_with_its_files_behind_each_other)
{
    rig_write("log", "fio version 3 iolog\n0 /f open\n0 /g open\n10 /f write 0 4096\n20 /f sync 0 0\n"
                     "30 /g read 8192 4096\n500 /f read 1048576 4096\n");
    assert_int_equal(take("log", 1024 * MIB), 0);
    assert_int_equal(list.n, 3);
    assert_true(list.items[0].writes && list.items[0].flushes);
    assert_int_equal(list.items[1].offset_bytes, 2 * MIB + 8192);
    assert_int_equal(list.items[2].offset_bytes, MIB);
    assert_int_equal(list.items[2].at_ns, 500000);
    assert_int_equal(list.span_bytes, 3 * MIB);
    assert_int_equal(take("log", 2 * MIB), 0);
    for (size_t i = 0; i < list.n; i++)
        assert_true(list.items[i].offset_bytes + list.items[i].n_bytes <= 2 * MIB);
}

TEST(offsets_beyond_every_file_system_are_left_out)
{
    rig_write("far", "fio version 3 iolog\n0 /f open\n0 /g open\n10 /f read 4611686018427387904 4096\n"
                     "20 /g read 4611686018427387904 4096\n30 /g read 4096 4096\n");
    assert_int_equal(take("far", 1024 * MIB), 0);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.n_left_out, 2);
    assert_true(list.items[0].offset_bytes + list.items[0].n_bytes <= list.span_bytes);
}

TEST(what_is_no_load_is_refused)
{
    assert_int_equal(take(".", MIB), -EISDIR);
    assert_int_equal(take("nowhere", MIB), -ENOENT);
    rig_write("other.json", "{\"schema\": \"fstune/measure/1\"}");
    assert_int_equal(take("other.json", MIB), -EINVAL);
    rig_write("none.json", "{\"schema\": \"fstune/profile/1\", \"events\": 0}");
    assert_int_equal(take("none.json", MIB), -EINVAL);
    rig_write("bare.json",
              "{\"schema\": \"fstune/profile/1\", \"events\": 1e300, \"footprint_bytes\": 4096}");
    assert_int_equal(take("bare.json", MIB), -EINVAL);
    rig_write("text", "some text\n");
    assert_int_equal(take("text", MIB), -EINVAL);
    load_list_free(&list);
}
