/* Tests of tuner/nightly/apply: what is in force after every step that fails. */
#include "tests/tuner/nightly/apply_rig.h"

static void the_first_snippet_is_written_for_all_to_read(void **test_state)
{
    (void)test_state;
    struct stat status;
    assert_int_equal(apply(plain), 0);
    assert_int_equal(state, APPLY_NEW);
    assert_string_equal(contents("place/snippet"), "new\n");
    assert_int_equal(stat("place/snippet", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0644);
    assert_int_equal(rig_count_entries("place"), 1);
}

static void the_old_one_is_kept_and_its_mode_too(void **test_state)
{
    (void)test_state;
    struct stat status;
    rig_write("place/snippet", "old\n");
    assert_int_equal(chmod("place/snippet", 0640), 0);
    assert_int_equal(apply(plain), 0);
    assert_string_equal(contents("place/snippet"), "new\n");
    assert_string_equal(contents("place/snippet.previous"), "old\n");
    assert_int_equal(stat("place/snippet", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(rig_count_entries("place"), 2);
}

static void a_failing_check_leaves_everything_as_it_was(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.check = "echo line 3 is wrong; exit 7";
    order.apply = "touch said";
    rig_write("place/snippet", "old\n");
    rig_write("place/snippet.previous", "older\n");
    assert_int_equal(apply(order), -EREMOTEIO);
    assert_int_equal(state, APPLY_OLD);
    assert_non_null(strstr(err.text, "check command failed with exit code 7: line 3 is wrong"));
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_string_equal(contents("place/snippet.previous"), "older\n");
    assert_int_equal(rig_count_entries("place"), 2);
    assert_false(rig_exists("said"));
}

static void the_check_sees_the_new_text_before_it_is_in_force(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.check = "grep -q new \"$FSTUNE_SNIPPET\" && grep -q old place/snippet && "
                  "case $FSTUNE_SNIPPET in place/.fstune-*.snippet.new) ;; *) exit 1 ;; esac";
    rig_write("place/snippet", "old\n");
    assert_int_equal(apply(order), 0);
}

static void the_apply_command_sees_the_file_in_force(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.apply = "test \"$FSTUNE_SNIPPET\" = place/snippet && cat place/snippet >said";
    rig_write("place/snippet", "old\n");
    assert_int_equal(apply(order), 0);
    assert_string_equal(contents("said"), "new\n");
}

static void a_failing_apply_command_brings_the_old_file_back(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.apply = "exit 3";
    order.rollback = "cat place/snippet >said";
    rig_write("place/snippet", "old\n");
    assert_int_equal(apply(order), -EREMOTEIO);
    assert_int_equal(state, APPLY_TAKEN_BACK);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_string_equal(contents("said"), "old\n");
    assert_non_null(strstr(err.text, "the old file is back: the apply command failed with exit code 3"));
}

static void a_failing_apply_command_removes_the_first_snippet(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.apply = "exit 3";
    assert_int_equal(apply(order), -EREMOTEIO);
    assert_int_equal(state, APPLY_TAKEN_BACK);
    assert_int_equal(rig_count_entries("place"), 0);
}

static void a_hanging_apply_command_is_killed_with_its_children(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.apply = "(sleep 2; touch said) & sleep 60";
    order.timeout_ns = SECOND_NS / 4;
    rig_write("place/snippet", "old\n");
    assert_int_equal(apply(order), -ETIMEDOUT);
    assert_int_equal(state, APPLY_TAKEN_BACK);
    assert_string_equal(contents("place/snippet"), "old\n");
    sleep(2);
    usleep(300000);
    assert_false(rig_exists("said"));
}

static void a_failing_rollback_command_is_told_too(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.apply = "exit 3";
    order.rollback = "exit 4";
    rig_write("place/snippet", "old\n");
    assert_int_equal(apply(order), -EREMOTEIO);
    assert_non_null(
        strstr(err.text, "the old file is back, but the rollback command failed with exit code 4"));
    assert_non_null(strstr(err.text, "exit code 3"));
}

static void a_link_is_not_followed(void **test_state)
{
    (void)test_state;
    rig_write("elsewhere", "theirs\n");
    assert_int_equal(symlink("../elsewhere", "place/snippet"), 0);
    assert_int_equal(apply(plain), -ELOOP);
    assert_int_equal(state, APPLY_OLD);
    assert_string_equal(contents("elsewhere"), "theirs\n");
    assert_int_equal(rig_count_entries("place"), 1);
}

static void a_link_in_place_of_the_kept_file_is_replaced_not_followed(void **test_state)
{
    (void)test_state;
    rig_write("elsewhere", "theirs\n");
    rig_write("place/snippet", "old\n");
    assert_int_equal(symlink("../elsewhere", "place/snippet.previous"), 0);
    assert_int_equal(apply(plain), 0);
    assert_string_equal(contents("elsewhere"), "theirs\n");
    assert_string_equal(contents("place/snippet.previous"), "old\n");
}

static void what_is_no_file_is_refused(void **test_state)
{
    (void)test_state;
    assert_int_equal(mkfifo("place/snippet", 0600), 0);
    assert_int_equal(apply(plain), -EINVAL);
    assert_int_equal(unlink("place/snippet"), 0);
    assert_int_equal(mkdir("place/snippet", 0700), 0);
    assert_int_equal(apply(plain), -EINVAL);
}

static void a_directory_that_others_write_to_is_refused(void **test_state)
{
    static const mode_t modes[] = {0777, 01777, 0775, 03775};
    (void)test_state;
    for (size_t i = 0; i < RIG_COUNT(modes); i++) {
        assert_int_equal(chmod("place", modes[i]), 0);
        assert_int_equal(apply(plain), -EPERM);
        assert_non_null(strstr(err.text, "others than its owner may write to it"));
        assert_int_equal(rig_count_entries("place"), 0);
    }
}

static void a_missing_directory_is_an_error(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.path = "nowhere/snippet";
    assert_int_equal(apply(order), -ENOENT);
}

static int apply_as_nobody(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 99;
    return apply(plain) == -EPERM ? 0 : 1;
}

static void the_file_of_another_user_is_refused(void **test_state)
{
    (void)test_state;
    if (geteuid() != 0)
        skip();
    rig_write("place/snippet", "old\n");
    assert_int_equal(chmod("place/snippet", 0666), 0);
    assert_int_equal(chown("place", 65534, 65534), 0);
    assert_int_equal(in_child(apply_as_nobody), 0);
    assert_string_equal(contents("place/snippet"), "old\n");
}

static void root_keeps_the_owner_of_the_directory(void **test_state)
{
    (void)test_state;
    struct stat status;
    if (geteuid() != 0) {
        print_message("needs root to give a file away\n");
        skip();
    }
    rig_write("place/snippet", "old\n");
    assert_int_equal(chown("place/snippet", 1, 2), 0);
    assert_int_equal(apply(plain), -EPERM);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_int_equal(chown("place", 1, 2), 0);
    assert_int_equal(apply(plain), 0);
    assert_int_equal(stat("place/snippet", &status), 0);
    assert_int_equal(status.st_uid, 1);
    assert_int_equal(status.st_gid, 2);
}

static void a_file_that_others_could_write_is_refused(void **test_state)
{
    (void)test_state;
    rig_write("place/snippet", "old\n");
    assert_int_equal(chmod("place/snippet", 0664), 0);
    assert_int_equal(apply(plain), -EPERM);
    assert_int_equal(chmod("place/snippet", 0644), 0);
    assert_int_equal(link("place/snippet", "second"), 0);
    assert_int_equal(apply(plain), -EPERM);
    assert_int_equal(unlink("second"), 0);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_int_equal(rig_count_entries("place"), 1);
}

static void bits_that_give_power_are_not_handed_on(void **test_state)
{
    (void)test_state;
    struct stat status;
    rig_write("place/snippet", "old\n");
    assert_int_equal(chmod("place/snippet", 07755), 0);
    assert_int_equal(apply(plain), 0);
    assert_int_equal(stat("place/snippet", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0755);
    assert_int_equal(stat("place/snippet.previous", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0755);
}

static void what_cannot_be_remembered_is_taken_back(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.settle = forget;
    set_up_old();
    assert_int_equal(apply(order), -ENOSPC);
    assert_int_equal(state, APPLY_TAKEN_BACK);
    assert_string_equal(contents("place/snippet"), "old\n");
}

static void a_rollback_exchanges_and_a_second_one_undoes_it(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.rollback = "cat place/snippet >said";
    order.apply = "exit 1";
    set_up_both();
    assert_int_equal(apply_rollback(&order, &state, &err), 0);
    assert_string_equal(contents("place/snippet"), "new\n");
    assert_string_equal(contents("place/snippet.previous"), "old\n");
    assert_string_equal(contents("said"), "new\n");
    assert_int_equal(apply_rollback(&order, &state, &err), 0);
    assert_string_equal(contents("place/snippet"), "old\n");
}

static void without_a_rollback_command_the_apply_command_runs(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.apply = "cat place/snippet >said";
    set_up_both();
    assert_int_equal(apply_rollback(&order, &state, &err), 0);
    assert_string_equal(contents("said"), "new\n");
}

static void a_failing_rollback_is_exchanged_back(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.rollback = "exit 1";
    set_up_both();
    assert_int_equal(apply_rollback(&order, &state, &err), -EREMOTEIO);
    assert_int_equal(state, APPLY_TAKEN_BACK);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_string_equal(contents("place/snippet.previous"), "new\n");
}

static void without_a_kept_file_there_is_nothing_to_go_back_to(void **test_state)
{
    (void)test_state;
    set_up_old();
    assert_int_equal(apply_rollback(&plain, &state, &err), -ENOENT);
    rig_write("place/snippet.previous", "old\n");
    assert_int_equal(apply_rollback(&plain, &state, &err), -ENOENT);
    assert_int_equal(state, APPLY_OLD);
}

static void a_failing_apply_command_leaves_the_way_back(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    rig_write("place/snippet", "old\n");
    rig_write("place/snippet.previous", "older\n");
    order.apply = "exit 1";
    assert_int_equal(apply(order), -EREMOTEIO);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_string_equal(contents("place/snippet.previous"), "older\n");
    assert_int_equal(rig_count_entries("place"), 2);
    order.apply = "";
    order.settle = forget;
    assert_int_equal(apply(order), -ENOSPC);
    assert_string_equal(contents("place/snippet.previous"), "older\n");
}

static void a_rollback_that_cannot_be_remembered_is_exchanged_back(void **test_state)
{
    (void)test_state;
    struct apply_order order = plain;
    order.settle = forget;
    order.rollback = "cat place/snippet >>said";
    set_up_both();
    assert_int_equal(apply_rollback(&order, &state, &err), -ENOSPC);
    assert_int_equal(state, APPLY_TAKEN_BACK);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_string_equal(contents("place/snippet.previous"), "new\n");
    assert_string_equal(contents("said"), "new\nold\n");
    assert_int_equal(rig_count_entries("place"), 2);
}

static void a_rollback_is_foreseen_without_touching_anything(void **test_state)
{
    (void)test_state;
    set_up_both();
    assert_int_equal(apply_can_roll_back("place/snippet", &err), 0);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_int_equal(unlink("place/snippet.previous"), 0);
    assert_int_equal(apply_can_roll_back("place/snippet", &err), -ENOENT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, make_place)
    const struct CMUnitTest tests[] = {
        TEST(the_first_snippet_is_written_for_all_to_read),
        TEST(the_old_one_is_kept_and_its_mode_too),
        TEST(a_failing_check_leaves_everything_as_it_was),
        TEST(the_check_sees_the_new_text_before_it_is_in_force),
        TEST(the_apply_command_sees_the_file_in_force),
        TEST(a_failing_apply_command_brings_the_old_file_back),
        TEST(a_failing_apply_command_removes_the_first_snippet),
        TEST(a_hanging_apply_command_is_killed_with_its_children),
        TEST(a_failing_rollback_command_is_told_too),
        TEST(a_link_is_not_followed),
        TEST(a_link_in_place_of_the_kept_file_is_replaced_not_followed),
        TEST(what_is_no_file_is_refused),
        TEST(a_directory_that_others_write_to_is_refused),
        TEST(a_missing_directory_is_an_error),
        TEST(the_file_of_another_user_is_refused),
        TEST(root_keeps_the_owner_of_the_directory),
        TEST(a_file_that_others_could_write_is_refused),
        TEST(bits_that_give_power_are_not_handed_on),
        TEST(what_cannot_be_remembered_is_taken_back),
        TEST(a_rollback_exchanges_and_a_second_one_undoes_it),
        TEST(without_a_rollback_command_the_apply_command_runs),
        TEST(a_failing_rollback_is_exchanged_back),
        TEST(without_a_kept_file_there_is_nothing_to_go_back_to),
        TEST(a_failing_apply_command_leaves_the_way_back),
        TEST(a_rollback_that_cannot_be_remembered_is_exchanged_back),
        TEST(a_rollback_is_foreseen_without_touching_anything),
    };
    return cmocka_run_group_tests(tests, enter, rig_leave);
}
