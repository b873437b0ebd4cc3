/* Tests of tuner/nightly/apply_place through tuner/nightly/apply: what a stopped fstune leaves, and who may
 * work there. */
#include "tests/tuner/nightly/apply_rig.h"

#include <sys/file.h>

GROUP(enter, rig_leave);

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
    assert_int_equal(make_place(NULL), 0);
    rig_write("place/snippet", "%s", row->snippet);
    write_if("place/snippet.previous", row->previous);
    write_if("place/.fstune-kept.snippet", row->kept);
    write_if("place/.fstune-applying.snippet", row->marker);
    /* A clock that was wrong does not decide. */
    assert_int_equal(system("touch -d @1000000000 place/.fstune-applying.snippet"), 0);
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
    for (size_t i = 0; i < RIG_COUNT(stopped); i++)
        check_stopped(&stopped[i]);
}

TEST(what_a_kill_left_unnamed_is_removed)
{
    static const char *const names[] = {"snippet", "snippet.previous", ".fstune-applying.snippet",
                                        ".fstune-kept.snippet"};
    bool recovered;
    rig_write("place/snippet", "old\n");
    rig_write("place/.fstune-kept.snippet", "older\n");
    for (size_t i = 0; i < RIG_COUNT(names); i++) {
        char staged[64];
        snprintf(staged, sizeof staged, "place/.fstune-0123456789abcdef.%s.new", names[i]);
        rig_write(staged, "new\n");
    }
    rig_write("place/.fstune-0123456789abcdef.other.new", "of another snippet\n");
    assert_int_equal(apply_recover(&plain, &recovered, &err), 0);
    assert_false(recovered);
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_true(rig_exists("place/.fstune-0123456789abcdef.other.new"));
    assert_int_equal(rig_count_entries("place"), 2);
}

TEST(who_is_second_waits_and_gives_up)
{
    int first = -1, second = -1;
    struct apply_order order = plain;
    order.timeout_ns = SECOND_NS / 30;
    assert_int_equal(apply_lock(&order, &first, &err), 0);
    assert_int_equal(apply_lock(&order, &second, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another fstune"));
    close(first);
    assert_int_equal(apply_lock(&order, &second, &err), 0);
    close(second);
}

#define STRANGER 65534
static int ready[2], done[2];

/* What anybody can do who may look into the directory. */
static int lock_as_nobody(void)
{
    char byte = 0;
    close(done[1]);
    if (setgid(STRANGER) != 0 || setuid(STRANGER) != 0)
        return 99;
    int fd = open("place", O_RDONLY | O_DIRECTORY);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0)
        return 98;
    if (open("place/.fstune-lock", O_RDONLY) >= 0)
        return 1;
    return write(ready[1], &byte, 1) == 1 && read(done[0], &byte, 1) >= 0 ? 0 : 97;
}

TEST(a_stranger_cannot_hold_the_lock)
{
    int fd = -1, status;
    char byte;
    struct apply_order order = plain;
    if (geteuid() != 0) {
        print_message("needs root to become a stranger\n");
        skip();
    }
    order.timeout_ns = SECOND_NS / 30;
    assert_int_equal(apply_lock(&order, &fd, &err), 0); /* so the file is there */
    close(fd);
    assert_true(pipe(ready) == 0 && pipe(done) == 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(lock_as_nobody());
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    int result = apply_lock(&order, &fd, &err);
    close(ready[0]);
    close(done[0]);
    close(done[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(result, 0);
    close(fd);
}

TEST(a_lock_that_is_not_ours_is_refused)
{
    int fd = -1;
    rig_write("elsewhere", "theirs\n");
    assert_int_equal(chmod("elsewhere", 0600), 0);
    assert_int_equal(symlink("../elsewhere", "place/.fstune-lock"), 0);
    assert_int_equal(apply_lock(&plain, &fd, &err), -ELOOP);
    assert_int_equal(unlink("place/.fstune-lock"), 0);
    assert_int_equal(link("elsewhere", "place/.fstune-lock"), 0);
    assert_int_equal(apply_lock(&plain, &fd, &err), -EPERM);
    assert_int_equal(unlink("place/.fstune-lock"), 0);
    rig_write("place/.fstune-lock", "%s", "");
    assert_int_equal(chmod("place/.fstune-lock", 0644), 0);
    assert_int_equal(apply_lock(&plain, &fd, &err), -EPERM);
    assert_non_null(strstr(err.text, "is not the lock that fstune made"));
}

/* Root's rollback must not lock the service out of its own directory. */
TEST(the_lock_belongs_to_the_owner_of_the_directory)
{
    int fd = -1;
    struct stat status;
    if (geteuid() != 0) {
        print_message("needs root to give a directory away\n");
        skip();
    }
    assert_int_equal(chown("place", STRANGER, STRANGER), 0);
    assert_int_equal(apply_lock(&plain, &fd, &err), 0);
    assert_int_equal(fstat(fd, &status), 0);
    close(fd);
    assert_int_equal(status.st_uid, STRANGER);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void plant(uid_t owner, mode_t mode)
{
    static const char *const names[] = {"place/.fstune-applying.snippet", "place/.fstune-kept.snippet"};
    set_up_stopped("change 9223372036854775807\n");
    rig_write("place/.fstune-kept.snippet", "planted\n");
    for (size_t i = 0; i < RIG_COUNT(names); i++)
        assert_true(chmod(names[i], mode) == 0 && chown(names[i], owner, (gid_t)-1) == 0);
}

static void check_refused(void)
{
    bool recovered = false;
    struct apply_order order = plain;
    order.rollback = "touch said";
    assert_int_equal(apply_recover(&order, &recovered, &err), -EPERM);
    assert_false(rig_exists("said"));
    assert_string_equal(contents("place/snippet"), "new\n");
    assert_true(rig_exists("place/.fstune-applying.snippet"));
    assert_true(rig_exists("place/.fstune-kept.snippet"));
}

/* Sticky or not: whoever writes there can bring these files, and root's hook would run on them. */
TEST(nothing_is_recovered_where_others_can_write)
{
    static const mode_t modes[] = {01777, 0777, 0775, 02770};
    for (size_t i = 0; i < RIG_COUNT(modes); i++) {
        plant(geteuid() == 0 ? STRANGER : geteuid(), 0644);
        assert_int_equal(chmod("place", modes[i]), 0);
        check_refused();
    }
}

TEST(a_planted_file_is_not_recovered)
{
    plant(geteuid(), 0664);
    check_refused();
    plant(geteuid(), 0646);
    check_refused();
    if (geteuid() != 0) {
        print_message("the rest needs root to make files of a stranger\n");
        return;
    }
    plant(STRANGER, 0644);
    check_refused();
    assert_int_equal(chown("place/.fstune-applying.snippet", 0, 0), 0);
    check_refused();
    assert_int_equal(chown("place/.fstune-kept.snippet", 0, 0), 0);
    assert_int_equal(link("place/.fstune-kept.snippet", "kept-too"), 0);
    check_refused();
    assert_int_equal(unlink("kept-too"), 0);
}

TEST(a_planted_way_back_is_not_taken)
{
    set_up_both();
    assert_int_equal(chmod("place/snippet.previous", 0666), 0);
    assert_int_equal(apply_rollback(&plain, &state, &err), -EPERM);
    assert_int_equal(state, APPLY_OLD);
    if (geteuid() == 0) {
        assert_true(chmod("place/snippet.previous", 0644) == 0 &&
                    chown("place/snippet.previous", STRANGER, STRANGER) == 0);
        assert_int_equal(apply_rollback(&plain, &state, &err), -EPERM);
    }
    assert_string_equal(contents("place/snippet"), "old\n");
    assert_string_equal(contents("place/snippet.previous"), "new\n");
}

TEST(a_way_that_others_can_turn_is_refused)
{
    struct apply_order order = plain;
    assert_int_equal(mkdir("place/deep", 0755), 0);
    order.path = "place/deep/snippet";
    assert_int_equal(chmod("place", 0775), 0);
    assert_int_equal(apply(order), -EPERM);
    assert_non_null(strstr(err.text, "on the way there: place:"));
    assert_int_equal(chmod("place", 01777), 0);
    assert_int_equal(apply(order), 0);
}

/* It is that user's business what stands there, at every moment. */
TEST(root_recovers_what_the_owner_of_the_directory_left)
{
    bool recovered = false;
    if (geteuid() != 0) {
        print_message("needs root to give a directory away\n");
        skip();
    }
    plant(STRANGER, 0644);
    assert_true(chown("place", STRANGER, STRANGER) == 0 && chown("place/snippet", STRANGER, STRANGER) == 0);
    assert_int_equal(apply_recover(&plain, &recovered, &err), 0);
    assert_true(recovered);
    assert_string_equal(contents("place/snippet"), "planted\n");
}

static int check_as_nobody(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 99;
    return apply_check("place/snippet", &err) == -EACCES ? 0 : 1;
}

TEST(a_directory_that_is_not_ours_to_write_is_found_before)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(".", 0755), 0);
    assert_int_equal(in_child(check_as_nobody), 0);
    assert_int_equal(apply_check("place/snippet", &err), 0);
    assert_int_equal(apply_check("nowhere/snippet", &err), -ENOENT);
}
