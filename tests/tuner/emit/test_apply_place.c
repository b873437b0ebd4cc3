/* Tests of tuner/emit/apply_place through tuner/emit/apply: what a stopped fstune leaves, and who may
 * work there. */
#include "tests/tuner/emit/apply_rig.h"

#include <sys/file.h>

GROUP(rig_enter, rig_leave);

EACH_TEST(make_place, NULL);

/* What a stopped fstune left, and what apply_recover makes of it. */
static const struct stopped {
    const char *name, *marker, *kept, *snippet, *previous;
    int64_t settled;
    int result;
    bool recovered;
    const char *after, *previous_after; /* "": none */
} stopped[] = {
    {"a night is taken back", "change 7\n", "old\n", "new\n", "older\n", 7, 0, true, "old\n", "older\n"},
    {"a first night leaves nothing", "first 7\n", NULL, "new\n", NULL, 7, 0, true, "", ""},
    {"what was remembered stays", "first 7\n", NULL, "new\n", NULL, 8, 0, false, "new\n", ""},
    {"and keeps its way back", "change 7\n", "old\n", "new\n", "older\n", 8, 0, false, "new\n", "old\n"},
    /* Killed between the last two steps, and the history lost since: nothing is left to be done. */
    {"what was finished stays", "change 7\n", NULL, "new\n", "old\n", 0, 0, false, "new\n", "old\n"},
    {"a rollback before the exchange", "rollback 7\n", "in force\n", "in force\n", "before\n", 7, 0, true,
     "in force\n", "before\n"},
    {"a rollback after it", "rollback 7\n", "in force\n", "before\n", "in force\n", 7, 0, true, "in force\n",
     "before\n"},
    /* Errors until somebody looks. */
    {"what cannot come back", "change 7\n", NULL, "new\n", NULL, 0, -ENOENT, true, "new\n", ""},
    {"a marker without text", "", NULL, "new\n", NULL, 0, -EBADMSG, false, "new\n", ""},
    {"without a number", "change", NULL, "new\n", NULL, 0, -EBADMSG, false, "new\n", ""},
    {"without an end", "change 7", NULL, "new\n", NULL, 0, -EBADMSG, false, "new\n", ""},
    {"of no work", "chang 7\n", NULL, "new\n", NULL, 0, -EBADMSG, false, "new\n", ""},
    {"with more behind", "change 7x\n", NULL, "new\n", NULL, 0, -EBADMSG, false, "new\n", ""},
};

static void check_stopped(const struct stopped *row)
{
    bool recovered;
    struct apply_order order = plain;
    set_up_place(row->snippet, row->previous, row->marker);
    write_if("place/.fstune-kept.snippet", row->kept);
    /* A clock that was wrong does not decide. */
    shell("touch -d @1000000000 place/.fstune-applying.snippet");
    order.settled = row->settled;
    order.rollback = "cat place/snippet >said; true";
    for (int again = 0; again < 2; again++) {
        int result = apply_recover(&order, &recovered, &err);
        if (result != row->result || (result == 0 && recovered != (row->recovered && !again)))
            fail_msg("%s: %d, %d: %s", row->name, result, recovered, err.text);
    }
    print_message("# %s\n", row->name);
    assert_string_equal(contents("said"), row->result == 0 && row->recovered ? row->after : "");
    if (row->result == 0)
        check_place(row->after, row->previous_after);
    else
        assert_string_equal(contents("place/snippet"), row->after);
}

TEST(what_was_stopped_is_taken_back_unless_it_was_remembered)
{
    for (size_t i = 0; i < N_OF(stopped); i++)
        check_stopped(&stopped[i]);
}

TEST(what_a_kill_left_unnamed_is_removed)
{
    bool recovered;
    set_up_place("old\n", NULL, NULL);
    shell("cd place; touch .fstune-kept.snippet .fstune-0123456789abcdef.other.new; for name in snippet "
          "snippet.previous .fstune-applying.snippet .fstune-kept.snippet; do "
          "touch .fstune-0123456789abcdef.$name.new; done");
    assert_int_equal(apply_recover(&plain, &recovered, &err), 0);
    assert_false(recovered);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_true(rig_exists("place/.fstune-0123456789abcdef.other.new"));
    assert_int_equal(rig_count_entries("place"), 2);
}

static struct apply_order impatient(void)
{
    struct apply_order order = plain;
    order.timeout_ns = SECOND_NS / 30;
    return order;
}

TEST(who_is_second_waits_and_gives_up)
{
    int first = -1, second = -1;
    const struct apply_order order = impatient();
    assert_int_equal(apply_lock(&order, &first, &err), 0);
    assert_int_equal(apply_lock(&order, &second, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another fstune"));
    close(first);
    assert_int_equal(apply_lock(&order, &second, &err), 0);
    close(second);
}

static int open_lock_as_stranger(void)
{
    become_stranger();
    return open("place/.fstune-lock", O_RDONLY) >= 0 ? 1 : 0;
}

/* Anybody who may look into the directory can lock that. */
TEST(a_stranger_cannot_hold_the_lock)
{
    const struct apply_order order = impatient();
    int fd;
    need_root();
    AUTO(auto_close) int directory_fd = open("place", O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(directory_fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(apply_lock(&order, &fd, &err), 0);
    close(fd);
    assert_int_equal(in_child(open_lock_as_stranger), 0);
}

TEST(a_lock_that_is_not_ours_is_refused)
{
    static const struct {
        const char *set_up;
        int result;
        const char *words;
    } cases[] = {
        {"ln -s ../elsewhere place/.fstune-lock", -ELOOP, "cannot be opened"},
        {"chmod 600 elsewhere; ln elsewhere place/.fstune-lock", -EPERM, "is not the lock that fstune made"},
        {"touch place/.fstune-lock; chmod 644 place/.fstune-lock", -EPERM,
         "is not the lock that fstune made"},
    };
    int fd = -1;
    rig_write("elsewhere", "theirs\n");
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(make_place(NULL), 0);
        shell(cases[i].set_up);
        assert_int_equal(apply_lock(&plain, &fd, &err), cases[i].result);
        assert_non_null(strstr(err.text, cases[i].words));
    }
}

/* Root's rollback must not lock the service out of its own directory. */
TEST(the_lock_belongs_to_the_owner_of_the_directory)
{
    int fd = -1;
    struct stat status;
    need_root();
    assert_int_equal(chown("place", STRANGER, STRANGER), 0);
    assert_int_equal(apply_lock(&plain, &fd, &err), 0);
    assert_int_equal(fstat(fd, &status), 0);
    close(fd);
    assert_int_equal(status.st_uid, STRANGER);
    assert_int_equal(status.st_mode & 07777, 0600);
}

#define PLANTED "place/.fstune-applying.snippet place/.fstune-kept.snippet"

static void plant(const char *command)
{
    set_up_place("new\n", NULL, "change 9223372036854775807\n");
    rig_write("place/.fstune-kept.snippet", "planted\n");
    shell(command);
}

/* Whoever writes there can bring these files, sticky or not, and root's command would run on them. */
TEST(a_planted_file_is_not_recovered)
{
    static const struct {
        bool needs_root;
        const char *set_up;
    } cases[] = {
        {false, "chmod 1777 place"},
        {false, "chmod 777 place"},
        {false, "chmod 775 place"},
        {false, "chmod 2770 place"},
        {false, "chmod 664 " PLANTED},
        {false, "chmod 646 " PLANTED},
        {false, "ln -f place/.fstune-kept.snippet kept-too"},
        {true, "chown 65534 " PLANTED},
        {true, "chown 65534 place/.fstune-kept.snippet"},
    };
    struct apply_order order = plain;
    order.rollback = "touch said";
    for (size_t i = 0; i < N_OF(cases) && (geteuid() == 0 || !cases[i].needs_root); i++) {
        bool recovered;
        plant(cases[i].set_up);
        if (apply_recover(&order, &recovered, &err) != -EPERM)
            fail_msg("%s: %s", cases[i].set_up, err.text);
        assert_false(rig_exists("said"));
        assert_string_equal(contents("place/snippet"), "new\n");
        shell("ls " PLANTED " >planted");
    }
}

TEST(a_planted_way_back_is_not_taken)
{
    static const char *const cases[] = {"chmod 666 place/snippet.previous",
                                        "chown 65534:65534 place/snippet.previous"};
    for (size_t i = 0; i < N_OF(cases) && (i == 0 || geteuid() == 0); i++) {
        set_up_place("old\n", "new\n", NULL);
        shell(cases[i]);
        assert_int_equal(apply_rollback(&plain, &err), -EPERM);
        check_place("old\n", "new\n");
    }
}

TEST(a_way_that_others_can_turn_is_refused)
{
    struct apply_order order = plain;
    order.path = "place/deep/snippet";
    shell("mkdir -m 755 place/deep; chmod 775 place");
    assert_int_equal(apply_snippet(&order, &err), -EPERM);
    assert_non_null(strstr(err.text, "on the way there: place:"));
    assert_int_equal(chmod("place", 01777), 0);
    assert_int_equal(apply_snippet(&order, &err), 0);
}

/* It is that user's business what stands there, at every moment. */
TEST(root_recovers_what_the_owner_of_the_directory_left)
{
    bool recovered = false;
    need_root();
    plant("chown -R 65534:65534 place");
    assert_int_equal(apply_recover(&plain, &recovered, &err), 0);
    assert_true(recovered);
    assert_string_equal(contents("place/snippet"), "planted\n");
}

static int check_as_stranger(void)
{
    become_stranger();
    return apply_check("place/snippet", &err) == -EACCES ? 0 : 1;
}

TEST(a_directory_that_is_not_ours_to_write_is_found_before)
{
    need_root();
    assert_int_equal(chmod(".", 0755), 0);
    assert_int_equal(in_child(check_as_stranger), 0);
    assert_int_equal(apply_check("place/snippet", &err), 0);
    assert_int_equal(apply_check("nowhere/snippet", &err), -ENOENT);
}
