/* Tests of tuner/nightly/apply: what is in force after every step that fails. */
#include "tests/tuner/nightly/apply_rig.h"

GROUP(enter, rig_leave);

EACH_TEST(make_place, NULL);

TEST(the_file_is_for_all_to_read_or_as_the_old_one_was)
{
    assert_int_equal(apply(plain), 0);
    assert_int_equal(mode_of("place/snippet"), 0644);
    assert_int_equal(chmod("place/snippet", 0640), 0);
    assert_int_equal(apply(plain), 0);
    assert_int_equal(mode_of("place/snippet"), 0640);
}

/* What is there before a change or a rollback, its commands, and what is there after it. */
struct change {
    const char *name;
    const char *snippet, *previous; /* before; NULL: none */
    const char *check, *apply, *rollback;
    int (*settle)(void *context, struct err *err);
    int result;
    enum apply_state state;
    const char *after, *previous_after; /* "": none */
    const char *words[2];               /* of the error */
    const char *said;                   /* what the commands left in a file; NULL: none */
};

#define SAY "cat place/snippet >>said"

static const struct change changes[] = {
    {.name = "the first one", .state = APPLY_NEW, .after = "new\n", .previous_after = ""},
    {.name = "the old one is kept",
     .snippet = "old\n",
     .state = APPLY_NEW,
     .after = "new\n",
     .previous_after = "old\n"},
    {.name = "a failing check leaves everything as it was",
     .snippet = "old\n",
     .previous = "older\n",
     .check = "echo line 3 is wrong; exit 7",
     .apply = "touch said",
     .result = -EREMOTEIO,
     .state = APPLY_OLD,
     .after = "old\n",
     .previous_after = "older\n",
     .words = {"check command failed with exit code 7: line 3 is wrong"}},
    {.name = "the check sees the new text before it is in force",
     .snippet = "old\n",
     .check = "grep -q new \"$FSTUNE_SNIPPET\" && grep -q old place/snippet && "
              "case $FSTUNE_SNIPPET in place/.fstune-*.snippet.new) ;; *) exit 1 ;; esac",
     .state = APPLY_NEW,
     .after = "new\n",
     .previous_after = "old\n"},
    {.name = "the apply command sees the file in force",
     .snippet = "old\n",
     .apply = "test \"$FSTUNE_SNIPPET\" = place/snippet && " SAY,
     .state = APPLY_NEW,
     .after = "new\n",
     .previous_after = "old\n",
     .said = "new\n"},
    {.name = "a failing apply command brings the old file back, and leaves the way back",
     .snippet = "old\n",
     .previous = "older\n",
     .apply = "exit 3",
     .rollback = SAY,
     .result = -EREMOTEIO,
     .state = APPLY_TAKEN_BACK,
     .after = "old\n",
     .previous_after = "older\n",
     .words = {"the old file is back: the apply command failed with exit code 3"},
     .said = "old\n"},
    {.name = "a failing apply command removes the first one",
     .apply = "exit 3",
     .result = -EREMOTEIO,
     .state = APPLY_TAKEN_BACK,
     .after = "",
     .previous_after = ""},
    {.name = "a failing rollback command is told too",
     .snippet = "old\n",
     .apply = "exit 3",
     .rollback = "exit 4",
     .result = -EREMOTEIO,
     .state = APPLY_TAKEN_BACK,
     .after = "old\n",
     .previous_after = "",
     .words = {"the old file is back, but the rollback command failed with exit code 4", "exit code 3"}},
    {.name = "what cannot be remembered is taken back, and the way back stays",
     .snippet = "old\n",
     .previous = "older\n",
     .settle = forget,
     .result = -ENOSPC,
     .state = APPLY_TAKEN_BACK,
     .after = "old\n",
     .previous_after = "older\n"},
};

static const struct change rollbacks[] = {
    {.name = "the two are exchanged",
     .snippet = "old\n",
     .previous = "new\n",
     .apply = "exit 1",
     .rollback = SAY,
     .state = APPLY_NEW,
     .after = "new\n",
     .previous_after = "old\n",
     .said = "new\n"},
    {.name = "a second one undoes the first",
     .snippet = "new\n",
     .previous = "old\n",
     .state = APPLY_NEW,
     .after = "old\n",
     .previous_after = "new\n"},
    {.name = "without a rollback command the apply command runs",
     .snippet = "old\n",
     .previous = "new\n",
     .apply = SAY,
     .state = APPLY_NEW,
     .after = "new\n",
     .previous_after = "old\n",
     .said = "new\n"},
    {.name = "one that fails is exchanged back",
     .snippet = "old\n",
     .previous = "new\n",
     .rollback = "exit 1",
     .result = -EREMOTEIO,
     .state = APPLY_TAKEN_BACK,
     .after = "old\n",
     .previous_after = "new\n"},
    {.name = "one that cannot be remembered is exchanged back",
     .snippet = "old\n",
     .previous = "new\n",
     .rollback = SAY,
     .settle = forget,
     .result = -ENOSPC,
     .state = APPLY_TAKEN_BACK,
     .after = "old\n",
     .previous_after = "new\n",
     .said = "new\nold\n"},
    {.name = "without a kept file there is nothing to go back to",
     .snippet = "old\n",
     .result = -ENOENT,
     .state = APPLY_OLD,
     .after = "old\n",
     .previous_after = ""},
    {.name = "nor with one that says the same",
     .snippet = "old\n",
     .previous = "old\n",
     .result = -ENOENT,
     .state = APPLY_OLD,
     .after = "old\n",
     .previous_after = "old\n"},
};

static void check_change(const struct change *change,
                         int (*call)(const struct apply_order *order, enum apply_state *ret_state,
                                     struct err *err))
{
    struct apply_order order = plain;
    assert_int_equal(make_place(NULL), 0);
    write_if("place/snippet", change->snippet);
    write_if("place/snippet.previous", change->previous);
    order.check = change->check != NULL ? change->check : "";
    order.apply = change->apply != NULL ? change->apply : "";
    order.rollback = change->rollback != NULL ? change->rollback : "";
    order.settle = change->settle;
    int result = call(&order, &state, &err);
    if (result != change->result || state != change->state)
        fail_msg("%s: %d, state %d: %s", change->name, result, (int)state, err.text);
    for (size_t i = 0; i < RIG_COUNT(change->words) && change->words[i] != NULL; i++) {
        if (strstr(err.text, change->words[i]) == NULL)
            fail_msg("%s: '%s' lacks '%s'", change->name, err.text, change->words[i]);
    }
    print_message("# %s\n", change->name);
    check_place(change->after, change->previous_after);
    assert_string_equal(contents("said"), change->said != NULL ? change->said : "");
    assert_int_equal(rig_exists("said"), change->said != NULL);
}

TEST(every_change_leaves_what_it_says)
{
    for (size_t i = 0; i < RIG_COUNT(changes); i++)
        check_change(&changes[i], apply_snippet);
}

TEST(every_rollback_leaves_what_it_says)
{
    for (size_t i = 0; i < RIG_COUNT(rollbacks); i++)
        check_change(&rollbacks[i], apply_rollback);
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
    rig_write("place/snippet", "old\n");
    assert_int_equal(chmod("place/snippet", 07755), 0);
    assert_int_equal(apply(plain), 0);
    assert_int_equal(mode_of("place/snippet"), 0755);
    assert_int_equal(mode_of("place/snippet.previous"), 0755);
}

TEST(a_rollback_is_foreseen_without_touching_anything)
{
    set_up_both();
    assert_int_equal(apply_can_roll_back("place/snippet", &err), 0);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_int_equal(unlink("place/snippet.previous"), 0);
    assert_int_equal(apply_can_roll_back("place/snippet", &err), -ENOENT);
}
