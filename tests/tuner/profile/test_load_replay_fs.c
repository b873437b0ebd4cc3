/* Tests of fstune replay on a real file system: what was made is like what was seen, and nothing else is
 * touched. */
#include "tests/tuner/rig.h"

GROUP_NEEDS(rig_find_program);
GROUP(rig_enter, rig_leave);

static const json_t *replay_of(const json_t *document)
{
    return json_object_get(document, "replay");
}

TEST(a_copy_is_repeated_alike_and_its_files_stay_as_they_are)
{
    struct rig_run run = {0};
    rig_write_blocks("from", 8 << 20);
    rig_ends("profile --output p.json -- dd if=from of=to bs=16k conv=fsync status=none", 0, "");
    size_t n_before = rig_count_entries(".");
    rig_run_line(&run, "replay p.json --no-lock --json --quiet");
    assert_int_equal(run.code, 0);
    json_t *document = rig_json(&run);
    assert_true(json_is_true(json_object_get(replay_of(document), "alike")));
    assert_int_equal(json_integer_value(json_object_get(replay_of(document), "requests_made")), 1025);
    CHECK_JSON(document, "source=replay");
    assert_int_equal(rig_count_entries("."), n_before);
    json_decref(document);
    rig_free(&run);
    rig_ends("profile -- cmp from to", 0, "");
}

TEST(a_load_that_needs_more_than_the_write_budget_is_refused_before_it_begins)
{
    rig_write("log", "fio version 3 iolog\n0 /f open\n10 /f write 0 4096\n");
    rig_refused("replay log --no-lock --max-write 1m --quiet", 1, "max-write");
    rig_refused("replay", 2, "the load is missing");
    rig_refused("replay log --timed --as-fast-as-possible", 2, "one of them");
}

TEST(in_time_it_takes_as_long_as_the_load_did)
{
    struct rig_run run = {0};
    rig_write("log", "fio version 3 iolog\n0 /f open\n10 /f write 0 4096\n600000 /f write 4096 4096\n");
    rig_run_line(&run, "replay log --no-lock --timed --json --quiet");
    json_t *document = rig_json(&run);
    assert_true(json_number_value(json_object_get(document, "seconds")) >= 0.59);
    json_decref(document);
    rig_free(&run);
}
