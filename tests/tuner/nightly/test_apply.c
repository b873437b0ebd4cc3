/* Tests of tuner/nightly/apply: what is in force after every step that fails. */
#include "tests/tuner/nightly/apply_rig.h"

GROUP(enter, rig_leave);

EACH_TEST(make_place, NULL);

TEST(the_first_snippet_is_written_for_all_to_read)
{
    struct stat status;
    assert_int_equal(apply(plain), 0);
    assert_int_equal(state, APPLY_NEW);
    assert_string_equal(contents("place/snippet"), "new\n");
    assert_int_equal(stat("place/snippet", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0644);
    assert_int_equal(rig_count_entries("place"), 1);
}

TEST(the_old_one_is_kept_and_its_mode_too)
{
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

TEST(a_failing_check_leaves_everything_as_it_was)
{
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

TEST(the_check_sees_the_new_text_before_it_is_in_force)
{
    struct apply_order order = plain;
    order.check = "grep -q new \"$FSTUNE_SNIPPET\" && grep -q old place/snippet && "
                  "case $FSTUNE_SNIPPET in place/.fstune-*.snippet.new) ;; *) exit 1 ;; esac";
    rig_write("place/snippet", "old\n");
    assert_int_equal(apply(order), 0);
}

TEST(the_apply_command_sees_the_file_in_force)
{
    struct apply_order order = plain;
    order.apply = "test \"$FSTUNE_SNIPPET\" = place/snippet && cat place/snippet >said";
    rig_write("place/snippet", "old\n");
    assert_int_equal(apply(order), 0);
    assert_string_equal(contents("said"), "new\n");
}

TEST(a_failing_apply_command_brings_the_old_file_back)
{
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

TEST(a_failing_apply_command_removes_the_first_snippet)
{
    struct apply_order order = plain;
    order.apply = "exit 3";
    assert_int_equal(apply(order), -EREMOTEIO);
    assert_int_equal(state, APPLY_TAKEN_BACK);
    assert_int_equal(rig_count_entries("place"), 0);
}

TEST(a_hanging_apply_command_is_killed_with_its_children)
{
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

TEST(a_failing_rollback_command_is_told_too)
{
    struct apply_order order = plain;
    order.apply = "exit 3";
    order.rollback = "exit 4";
    rig_write("place/snippet", "old\n");
    assert_int_equal(apply(order), -EREMOTEIO);
    assert_non_null(
        strstr(err.text, "the old file is back, but the rollback command failed with exit code 4"));
    assert_non_null(strstr(err.text, "exit code 3"));
}

TEST(a_link_is_not_followed)
{
    rig_write("elsewhere", "theirs\n");
    assert_int_equal(symlink("../elsewhere", "place/snippet"), 0);
    assert_int_equal(apply(plain), -ELOOP);
    assert_int_equal(state, APPLY_OLD);
    assert_string_equal(contents("elsewhere"), "theirs\n");
    assert_int_equal(rig_count_entries("place"), 1);
}

TEST(a_link_in_place_of_the_kept_file_is_replaced_not_followed)
{
    rig_write("elsewhere", "theirs\n");
    rig_write("place/snippet", "old\n");
    assert_int_equal(symlink("../elsewhere", "place/snippet.previous"), 0);
    assert_int_equal(apply(plain), 0);
    assert_string_equal(contents("elsewhere"), "theirs\n");
    assert_string_equal(contents("place/snippet.previous"), "old\n");
}

TEST(what_is_no_file_is_refused)
{
    assert_int_equal(mkfifo("place/snippet", 0600), 0);
    assert_int_equal(apply(plain), -EINVAL);
    assert_int_equal(unlink("place/snippet"), 0);
    assert_int_equal(mkdir("place/snippet", 0700), 0);
    assert_int_equal(apply(plain), -EINVAL);
}

TEST(a_directory_that_others_write_to_is_refused)
{
    static const mode_t modes[] = {0777, 01777, 0775, 03775};
    for (size_t i = 0; i < RIG_COUNT(modes); i++) {
        assert_int_equal(chmod("place", modes[i]), 0);
        assert_int_equal(apply(plain), -EPERM);
        assert_non_null(strstr(err.text, "others than its owner may write to it"));
        assert_int_equal(rig_count_entries("place"), 0);
    }
}

TEST(a_missing_directory_is_an_error)
{
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

TEST(the_file_of_another_user_is_refused)
{
    if (geteuid() != 0)
        skip();
    rig_write("place/snippet", "old\n");
    assert_int_equal(chmod("place/snippet", 0666), 0);
    assert_int_equal(chown("place", 65534, 65534), 0);
    assert_int_equal(in_child(apply_as_nobody), 0);
    assert_string_equal(contents("place/snippet"), "old\n");
}

TEST(root_keeps_the_owner_of_the_directory)
{
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

TEST(a_file_that_others_could_write_is_refused)
{
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

TEST(bits_that_give_power_are_not_handed_on)
{
    struct stat status;
    rig_write("place/snippet", "old\n");
    assert_int_equal(chmod("place/snippet", 07755), 0);
    assert_int_equal(apply(plain), 0);
    assert_int_equal(stat("place/snippet", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0755);
    assert_int_equal(stat("place/snippet.previous", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0755);
}

TEST(what_cannot_be_remembered_is_taken_back)
{
    struct apply_order order = plain;
    order.settle = forget;
    set_up_old();
    assert_int_equal(apply(order), -ENOSPC);
    assert_int_equal(state, APPLY_TAKEN_BACK);
    assert_string_equal(contents("place/snippet"), "old\n");
}

TEST(a_rollback_exchanges_and_a_second_one_undoes_it)
{
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

TEST(without_a_rollback_command_the_apply_command_runs)
{
    struct apply_order order = plain;
    order.apply = "cat place/snippet >said";
    set_up_both();
    assert_int_equal(apply_rollback(&order, &state, &err), 0);
    assert_string_equal(contents("said"), "new\n");
}

TEST(a_failing_rollback_is_exchanged_back)
{
    struct apply_order order = plain;
    order.rollback = "exit 1";
    set_up_both();
    assert_int_equal(apply_rollback(&order, &state, &err), -EREMOTEIO);
    assert_int_equal(state, APPLY_TAKEN_BACK);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_string_equal(contents("place/snippet.previous"), "new\n");
}

TEST(without_a_kept_file_there_is_nothing_to_go_back_to)
{
    set_up_old();
    assert_int_equal(apply_rollback(&plain, &state, &err), -ENOENT);
    rig_write("place/snippet.previous", "old\n");
    assert_int_equal(apply_rollback(&plain, &state, &err), -ENOENT);
    assert_int_equal(state, APPLY_OLD);
}

TEST(a_failing_apply_command_leaves_the_way_back)
{
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

TEST(a_rollback_that_cannot_be_remembered_is_exchanged_back)
{
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

TEST(a_rollback_is_foreseen_without_touching_anything)
{
    set_up_both();
    assert_int_equal(apply_can_roll_back("place/snippet", &err), 0);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_int_equal(unlink("place/snippet.previous"), 0);
    assert_int_equal(apply_can_roll_back("place/snippet", &err), -ENOENT);
}
