/* Tests of tuner/apply_place through tuner/apply: what a stopped fstune leaves, and who may work there. */
#include "tests/tuner/apply_rig.h"

static void a_stopped_night_is_taken_back(void **test_state)
{
    (void)test_state;
    bool recovered;
    struct apply_order order = plain;
    order.rollback = "cat place/snippet >said";
    set_up_stopped("change 7\n");
    rig_write("place/.fstune-kept.snippet", "old\n");
    rig_write("place/snippet.previous", "older\n");
    assert_int_equal(apply_recover(&order, &recovered, &err), 0);
    assert_true(recovered);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_string_equal(contents("said"), "old\n");
    assert_int_equal(apply_recover(&order, &recovered, &err), 0);
    assert_false(recovered);
    assert_string_equal(contents("place/snippet.previous"), "older\n");
    assert_int_equal(rig_count_entries("place"), 2);
}

static void a_stopped_first_night_leaves_nothing(void **test_state)
{
    (void)test_state;
    bool recovered;
    set_up_stopped("first 7\n");
    assert_int_equal(apply_recover(&plain, &recovered, &err), 0);
    assert_true(recovered);
    assert_int_equal(rig_count_entries("place"), 0);
}

static void what_was_remembered_is_not_taken_back(void **test_state)
{
    (void)test_state;
    bool recovered;
    set_up_stopped("first 7\n");
    struct apply_order order = plain;
    order.settled = 8;
    assert_int_equal(apply_recover(&order, &recovered, &err), 0);
    assert_false(recovered);
    assert_string_equal(contents("place/snippet"), "new\n");
    assert_int_equal(rig_count_entries("place"), 1);
}

static void what_a_kill_left_unnamed_is_removed(void **test_state)
{
    static const char *const names[] = {"snippet", "snippet.previous", ".fstune-applying.snippet",
                                        ".fstune-kept.snippet"};
    (void)test_state;
    bool recovered;
    rig_write("place/snippet", "old\n");
    rig_write("place/.fstune-kept.snippet", "older\n");
    for (size_t i = 0; i < RIG_COUNT(names); i++) {
        char staged[64];
        snprintf(staged, sizeof staged, "place/.fstune-0123456789abcdef.%s", names[i]);
        rig_write(staged, "new\n");
    }
    rig_write("place/.fstune-0123456789abcdef.other", "of another snippet\n");
    assert_int_equal(apply_recover(&plain, &recovered, &err), 0);
    assert_false(recovered);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_true(rig_exists("place/.fstune-0123456789abcdef.other"));
    assert_int_equal(rig_count_entries("place"), 2);
}

static void what_cannot_come_back_is_an_error_until_somebody_looks(void **test_state)
{
    (void)test_state;
    bool recovered;
    set_up_stopped("change 7\n");
    assert_int_equal(apply_recover(&plain, &recovered, &err), -ENOENT);
    assert_int_equal(apply_recover(&plain, &recovered, &err), -ENOENT);
    assert_string_equal(contents("place/snippet"), "new\n");
}

/* Killed between the last two steps, and the history lost since: nothing is left to be done. */
static void what_was_finished_stays_without_a_history_too(void **test_state)
{
    (void)test_state;
    bool recovered;
    set_up_stopped("change 7\n");
    rig_write("place/snippet.previous", "old\n");
    assert_int_equal(apply_recover(&plain, &recovered, &err), 0);
    assert_false(recovered);
    assert_string_equal(contents("place/snippet"), "new\n");
    assert_string_equal(contents("place/snippet.previous"), "old\n");
    assert_int_equal(rig_count_entries("place"), 2);
}

static void what_was_remembered_keeps_its_way_back(void **test_state)
{
    (void)test_state;
    bool recovered;
    struct apply_order order = plain;
    order.settled = 8;
    set_up_stopped("change 7\n");
    rig_write("place/.fstune-kept.snippet", "old\n");
    rig_write("place/snippet.previous", "older\n");
    assert_int_equal(apply_recover(&order, &recovered, &err), 0);
    assert_false(recovered);
    assert_string_equal(contents("place/snippet"), "new\n");
    assert_string_equal(contents("place/snippet.previous"), "old\n");
    assert_int_equal(rig_count_entries("place"), 2);
}

static void a_clock_that_is_wrong_does_not_decide(void **test_state)
{
    (void)test_state;
    bool recovered;
    struct apply_order order = plain;
    order.settled = 7;
    set_up_stopped("first 7\n");
    assert_int_equal(system("touch -d @1000000000 place/.fstune-applying.snippet"), 0);
    assert_int_equal(apply_recover(&order, &recovered, &err), 0);
    assert_true(recovered);
}

static void a_damaged_marker_is_an_error_until_somebody_looks(void **test_state)
{
    static const char *const texts[] = {"", "change", "change 7", "chang 7\n", "change 7x\n"};
    (void)test_state;
    bool recovered;
    for (size_t i = 0; i < RIG_COUNT(texts); i++) {
        set_up_stopped(texts[i]);
        assert_int_equal(apply_recover(&plain, &recovered, &err), -EBADMSG);
        assert_string_equal(contents("place/snippet"), "new\n");
    }
}

/* Killed before and after the files were exchanged. */
static void a_stopped_rollback_is_taken_back(void **test_state)
{
    (void)test_state;
    for (int exchanged = 0; exchanged < 2; exchanged++) {
        bool recovered;
        struct apply_order order = plain;
        order.settled = 7;
        order.rollback = "cat place/snippet >said";
        assert_int_equal(make_place(NULL), 0);
        rig_write("place/snippet", exchanged ? "before\n" : "in force\n");
        rig_write("place/snippet.previous", exchanged ? "in force\n" : "before\n");
        rig_write("place/.fstune-kept.snippet", "in force\n");
        rig_write("place/.fstune-applying.snippet", "rollback 7\n");
        assert_int_equal(apply_recover(&order, &recovered, &err), 0);
        assert_true(recovered);
        assert_string_equal(contents("place/snippet"), "in force\n");
        assert_string_equal(contents("place/snippet.previous"), "before\n");
        assert_string_equal(contents("said"), "in force\n");
        assert_int_equal(rig_count_entries("place"), 2);
    }
}

static void who_is_second_waits_and_gives_up(void **test_state)
{
    (void)test_state;
    int first = -1, second = -1;
    struct apply_order order = plain;
    order.timeout_ns = SECOND_NS / 30;
    assert_int_equal(apply_lock(&order, &first, &err), 0);
    assert_int_equal(apply_lock(&order, &second, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another fstune"));
    close(first);
    assert_int_equal(apply_lock(&order, &second, &err), 0);
    close(second);
    assert_int_equal(rig_count_entries("place"), 0);
}

static int check_as_nobody(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 99;
    return apply_check("place/snippet", &err) == -EACCES ? 0 : 1;
}

static void a_directory_that_is_not_ours_to_write_is_found_before(void **test_state)
{
    (void)test_state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(".", 0755), 0);
    assert_int_equal(in_child(check_as_nobody), 0);
    assert_int_equal(apply_check("place/snippet", &err), 0);
    assert_int_equal(apply_check("nowhere/snippet", &err), -ENOENT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, make_place)
    const struct CMUnitTest tests[] = {
        TEST(a_stopped_night_is_taken_back),
        TEST(a_stopped_first_night_leaves_nothing),
        TEST(what_was_remembered_is_not_taken_back),
        TEST(what_a_kill_left_unnamed_is_removed),
        TEST(what_cannot_come_back_is_an_error_until_somebody_looks),
        TEST(what_was_finished_stays_without_a_history_too),
        TEST(what_was_remembered_keeps_its_way_back),
        TEST(a_clock_that_is_wrong_does_not_decide),
        TEST(a_damaged_marker_is_an_error_until_somebody_looks),
        TEST(a_stopped_rollback_is_taken_back),
        TEST(who_is_second_waits_and_gives_up),
        TEST(a_directory_that_is_not_ours_to_write_is_found_before),
    };
    return cmocka_run_group_tests(tests, enter, rig_leave);
}
