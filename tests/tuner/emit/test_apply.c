/* Tests of tuner/emit/apply: what is in force after every step that fails, the surroundings of a command,
 * and what is told of it. */
#include "tests/tuner/emit/apply_rig.h"
#include "tuner/base/replace.h"

GROUP(rig_enter, rig_leave);

EACH_TEST(make_place, NULL);

static int forget(void *context, struct err *forgot)
{
    (void)context;
    return err_set(forgot, -ENOSPC, "the history is full");
}

/* What is there before a change or a rollback, its commands, and what is there after it. */
struct change {
    const char *name;
    const char *snippet, *previous;       /* before; NULL: none */
    const char *check, *apply, *rollback; /* "": none */
    bool forgets;
    int result;
    const char *after, *previous_after; /* "": none */
    const char *said;                   /* what the commands left in a file; "": none */
    const char *words;                  /* of the error */
};

#define SAY "cat place/snippet >>said"
#define SEES_NEW                                                                                             \
    "grep -q new \"$FSTUNE_SNIPPET\" && grep -q old place/snippet && "                                       \
    "case $FSTUNE_SNIPPET in place/.fstune-*.snippet.new) ;; *) exit 1 ;; esac"

static const struct change changes[] = {
    {"the first one", NULL, NULL, "", "", "", false, 0, "new\n", "", "", ""},
    {"the old one is kept", "old\n", NULL, "", "", "", false, 0, "new\n", "old\n", "", ""},
    {"a failing check leaves everything as it was", "old\n", "older\n", "echo line 3 is wrong; exit 7",
     "touch said", "", false, -EREMOTEIO, "old\n", "older\n", "",
     "check command failed with exit code 7: line 3 is wrong"},
    {"the check sees the new text before it is in force", "old\n", NULL, SEES_NEW, "", "", false, 0, "new\n",
     "old\n", "", ""},
    {"the apply command sees the file in force", "old\n", NULL, "",
     "test \"$FSTUNE_SNIPPET\" = place/snippet && " SAY, "", false, 0, "new\n", "old\n", "new\n", ""},
    {"a failing apply command brings the old file back, and leaves the way back", "old\n", "older\n", "",
     "exit 3", SAY, false, -EREMOTEIO, "old\n", "older\n", "old\n",
     "the old file is back: the apply command failed with exit code 3"},
    {"a failing apply command removes the first one", NULL, NULL, "", "exit 3", "", false, -EREMOTEIO, "", "",
     "", ""},
    {"a failing rollback command is told too", "old\n", NULL, "", "exit 3", "exit 4", false, -EREMOTEIO,
     "old\n", "", "",
     "the old file is back, but the rollback command failed with exit code 4: the apply command failed with "
     "exit code 3"},
    {"what cannot be remembered is taken back, and the way back stays", "old\n", "older\n", "", "", "", true,
     -ENOSPC, "old\n", "older\n", "", ""},
};

static const struct change rollbacks[] = {
    {"the two are exchanged", "old\n", "new\n", "", "exit 1", SAY, false, 0, "new\n", "old\n", "new\n", ""},
    {"a second one undoes the first", "new\n", "old\n", "", "", "", false, 0, "old\n", "new\n", "", ""},
    {"without a rollback command the apply command runs", "old\n", "new\n", "", SAY, "", false, 0, "new\n",
     "old\n", "new\n", ""},
    {"one that fails is exchanged back", "old\n", "new\n", "", "", "exit 1", false, -EREMOTEIO, "old\n",
     "new\n", "", "the files are as before"},
    {"one that cannot be remembered is exchanged back", "old\n", "new\n", "", "", SAY, true, -ENOSPC, "old\n",
     "new\n", "new\nold\n", ""},
    {"without a kept file there is nothing to go back to", "old\n", NULL, "", "", "", false, -ENOENT, "old\n",
     "", "", ""},
    {"nor with one that says the same", "old\n", "old\n", "", "", "", false, -ENOENT, "old\n", "old\n", "",
     ""},
};

static void check_change(const struct change *change,
                         int (*call)(const struct apply_order *order, struct err *err))
{
    struct apply_order order = plain;
    set_up_place(change->snippet, change->previous, NULL);
    order.check = change->check;
    order.apply = change->apply;
    order.rollback = change->rollback;
    order.settle = change->forgets ? forget : NULL;
    int result = call(&order, &err);
    if (result != change->result || strstr(err.text, change->words) == NULL)
        fail_msg("%s: %d: %s", change->name, result, err.text);
    print_message("# %s\n", change->name);
    check_place(change->after, change->previous_after);
    assert_string_equal(contents("said"), change->said);
    assert_int_equal(rig_exists("said"), change->said[0] != '\0');
}

TEST(every_change_leaves_what_it_says)
{
    for (size_t i = 0; i < N_OF(changes); i++)
        check_change(&changes[i], apply_snippet);
}

TEST(every_rollback_leaves_what_it_says)
{
    for (size_t i = 0; i < N_OF(rollbacks); i++)
        check_change(&rollbacks[i], apply_rollback);
}

TEST(the_file_is_for_all_to_read_or_as_the_old_one_was)
{
    assert_int_equal(apply_snippet(&plain, &err), 0);
    assert_int_equal(mode_of("place/snippet"), 0644);
    assert_int_equal(chmod("place/snippet", 0640), 0);
    assert_int_equal(apply_snippet(&plain, &err), 0);
    assert_int_equal(mode_of("place/snippet"), 0640);
}

TEST(bits_that_give_power_are_not_handed_on)
{
    shell("echo old >place/snippet; chmod 7755 place/snippet");
    assert_int_equal(apply_snippet(&plain, &err), 0);
    assert_int_equal(mode_of("place/snippet"), 0755);
    assert_int_equal(mode_of("place/snippet.previous"), 0755);
}

/* What is not ours to write is refused, and nothing is touched. */
TEST(a_place_that_is_not_ours_is_left_alone)
{
    static const struct {
        const char *set_up;
        int result;
        const char *words;
    } cases[] = {
        {"ln -s ../elsewhere place/snippet", -ELOOP, ""},
        {"mkfifo place/snippet", -EINVAL, ""},
        {"mkdir place/snippet", -EINVAL, ""},
        {"chmod 0777 place", -EPERM, "others than its owner may write to it"},
        {"chmod 1777 place", -EPERM, "others than its owner may write to it"},
        {"chmod 0775 place", -EPERM, "others than its owner may write to it"},
        {"chmod 3775 place", -EPERM, "others than its owner may write to it"},
        {"rmdir place", -ENOENT, ""},
        {"echo old >place/snippet; chmod 664 place/snippet", -EPERM, ""},
        {"echo old >place/snippet; ln -f place/snippet second", -EPERM, ""},
        {"test $(id -u) != 0 && chmod 777 place || install -o 1 -g 2 elsewhere place/snippet", -EPERM, ""},
    };
    rig_write("elsewhere", "theirs\n");
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(make_place(NULL), 0);
        shell(cases[i].set_up);
        shell("ls -lR place elsewhere >before 2>&1; true");
        int result = apply_snippet(&plain, &err);
        if (result != cases[i].result || strstr(err.text, cases[i].words) == NULL)
            fail_msg("%s: %d: %s", cases[i].set_up, result, err.text);
        shell("ls -lR place elsewhere 2>&1 | cmp - before");
    }
}

TEST(a_link_in_place_of_the_kept_file_is_replaced_not_followed)
{
    shell("echo theirs >elsewhere; echo old >place/snippet; ln -s ../elsewhere place/snippet.previous");
    assert_int_equal(apply_snippet(&plain, &err), 0);
    assert_string_equal(contents("elsewhere"), "theirs\n");
    check_place("new\n", "old\n");
}

static int apply_as_stranger(void)
{
    become_stranger();
    return apply_snippet(&plain, &err) == -EPERM ? 0 : 1;
}

TEST(the_file_of_another_user_is_refused)
{
    need_root();
    shell("echo old >place/snippet; chmod 666 place/snippet; chown 65534:65534 place");
    assert_int_equal(in_child(apply_as_stranger), 0);
    assert_string_equal(contents("place/snippet"), "old\n");
}

TEST(root_keeps_the_owner_of_the_directory)
{
    struct stat status;
    need_root();
    shell("echo old >place/snippet; chown 1:2 place place/snippet");
    assert_int_equal(apply_snippet(&plain, &err), 0);
    assert_int_equal(stat("place/snippet", &status), 0);
    assert_int_equal(status.st_uid, 1);
    assert_int_equal(status.st_gid, 2);
}

TEST(a_rollback_is_foreseen_without_touching_anything)
{
    set_up_place("old\n", "new\n", NULL);
    assert_int_equal(apply_can_roll_back("place/snippet", &err), 0);
    check_place("old\n", "new\n");
    assert_int_equal(unlink("place/snippet.previous"), 0);
    assert_int_equal(apply_can_roll_back("place/snippet", &err), -ENOENT);
}

static int check_command(const char *command, uint64_t timeout_ns, const atomic_int *interrupted)
{
    static const char facts[] = "FSTUNE_TARGET=vm 1\0FSTUNE_PATH=/a\nb";
    struct apply_order order = plain;
    order.check = command;
    order.timeout_ns = timeout_ns;
    order.facts = facts;
    order.n_facts = sizeof facts;
    order.interrupted = interrupted;
    memset(&err, 0, sizeof err);
    return apply_snippet(&order, &err);
}

TEST(a_command_has_clean_surroundings)
{
    static const char *const expected[] = {"FSTUNE_PATH=/a_b;", "FSTUNE_TARGET=vm 1;", "LANG=C;",
                                           "PATH=/usr/local/sbin:"};
    assert_int_equal(setenv("LD_PRELOAD_OF_NOBODY", "x", 1), 0);
    assert_int_equal(setenv("LC_ALL", "de_DE.UTF-8", 1), 0);
    assert_int_equal(check_command("env -0 | sort -z | tr '\\0\\n' ';_' >said", 20 * SECOND_NS, NULL), 0);
    assert_int_equal(unsetenv("LC_ALL"), 0);
    /* PWD, and dash's own variables, are the shell's. */
    assert_null(strstr(contents("said"), "NOBODY"));
    assert_null(strstr(contents("said"), "LC_ALL"));
    for (size_t i = 0; i < N_OF(expected); i++)
        assert_non_null(strstr(contents("said"), expected[i]));
}

TEST(the_end_of_a_command_is_told)
{
    static const struct {
        const char *command;
        uint64_t timeout_ns;
        int result;
        const char *text;
    } cases[] = {
        /* The last line of much output. */
        {"seq 1 100000; echo the end >&2; echo; exit 9", 20 * SECOND_NS, -EREMOTEIO,
         "the check command failed with exit code 9: the end"},
        {"kill -SEGV $$", 20 * SECOND_NS, -EREMOTEIO, "the check command was ended by signal 11"},
        /* What a command leaves running is not waited for; one that closed its output is. */
        {"sleep 3 &", 20 * SECOND_NS, 0, ""},
        {"exec >/dev/null 2>&1; sleep 0.1; exit 5", 20 * SECOND_NS, -EREMOTEIO, "exit code 5"},
        /* Wherever the output is cut, its last line is the same. */
        {"yes n", 2 * SECOND_NS, -ETIMEDOUT, "the check command did not end within 2.00 s and was killed: n"},
        {"read line && exit 1; ls /proc/self/fd | tr '\\n' ' ' | grep -q '^0 1 2 3 $'", 20 * SECOND_NS, 0,
         ""},
    };
    AUTO(auto_close) int fd = open("said", O_RDWR | O_CREAT, 0600); /* inherited, as of a careless library */
    assert_true(fd >= 0);
    for (size_t i = 0; i < N_OF(cases); i++) {
        int result = check_command(cases[i].command, cases[i].timeout_ns, NULL);
        if (result != cases[i].result || strstr(err.text, cases[i].text) == NULL)
            fail_msg("%s: %d: %s", cases[i].command, result, err.text);
    }
}

TEST(an_end_that_nobody_tells_is_no_success)
{
    signal(SIGCHLD, SIG_IGN);
    int code = check_command("exit 1", 20 * SECOND_NS, NULL);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(code, -ECHILD);
    assert_string_equal(err.text, "place/snippet: how the check command ended is not known");
}

TEST(an_interrupt_ends_a_command)
{
    const atomic_int interrupted = SIGTERM;
    assert_int_equal(check_command("sleep 60", 60 * SECOND_NS, &interrupted), -EINTR);
}

TEST(a_hanging_apply_command_is_killed_with_its_children)
{
    struct apply_order order = plain;
    order.apply = "(sleep 2; touch said) & sleep 60";
    order.timeout_ns = SECOND_NS / 4;
    rig_write("place/snippet", "old\n");
    assert_int_equal(apply_snippet(&order, &err), -ETIMEDOUT);
    assert_string_equal(contents("place/snippet"), "old\n");
    sleep(2);
    usleep(300000);
    assert_false(rig_exists("said"));
}

/* Of tuner/base/replace alone. */
TEST(a_file_is_replaced_by_one_that_all_can_read)
{
    mode_t mask = umask(0077);
    shell("touch -d '2 hours ago' place/.fstune-0123456789abcdef.f.prom.new"); /* of a killed process */
    assert_int_equal(replace_file("place/f.prom", REPLACE_OWN, "a 1\n", 4, &err), 0);
    assert_int_equal(replace_file("place/f.prom", REPLACE_OWN, "a 2\n", 4, &err), 0);
    umask(mask);
    assert_string_equal(contents("place/f.prom"), "a 2\n");
    assert_int_equal(mode_of("place/f.prom"), 0644);
    assert_int_equal(rig_count_entries("place"), 1);
    assert_int_equal(replace_file("place/", REPLACE_OWN, "a", 1, &err), -EINVAL);
    assert_int_equal(replace_file("place/..", REPLACE_OWN, "a", 1, &err), -EINVAL);
}
