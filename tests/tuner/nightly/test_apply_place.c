/* Tests of tuner/nightly/apply_place through tuner/nightly/apply: what a stopped fstune leaves, and who may
 * work there. */
#include "tests/tuner/nightly/apply_rig.h"

#include <sys/file.h>

GROUP(enter, rig_leave);

EACH_TEST(make_place, NULL);

TEST(a_stopped_night_is_taken_back)
{
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

TEST(a_stopped_first_night_leaves_nothing)
{
    bool recovered;
    set_up_stopped("first 7\n");
    assert_int_equal(apply_recover(&plain, &recovered, &err), 0);
    assert_true(recovered);
    assert_int_equal(rig_count_entries("place"), 0);
}

TEST(what_was_remembered_is_not_taken_back)
{
    bool recovered;
    set_up_stopped("first 7\n");
    struct apply_order order = plain;
    order.settled = 8;
    assert_int_equal(apply_recover(&order, &recovered, &err), 0);
    assert_false(recovered);
    assert_string_equal(contents("place/snippet"), "new\n");
    assert_int_equal(rig_count_entries("place"), 1);
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

TEST(what_cannot_come_back_is_an_error_until_somebody_looks)
{
    bool recovered;
    set_up_stopped("change 7\n");
    assert_int_equal(apply_recover(&plain, &recovered, &err), -ENOENT);
    assert_int_equal(apply_recover(&plain, &recovered, &err), -ENOENT);
    assert_string_equal(contents("place/snippet"), "new\n");
}

/* Killed between the last two steps, and the history lost since: nothing is left to be done. */
TEST(what_was_finished_stays_without_a_history_too)
{
    bool recovered;
    set_up_stopped("change 7\n");
    rig_write("place/snippet.previous", "old\n");
    assert_int_equal(apply_recover(&plain, &recovered, &err), 0);
    assert_false(recovered);
    assert_string_equal(contents("place/snippet"), "new\n");
    assert_string_equal(contents("place/snippet.previous"), "old\n");
    assert_int_equal(rig_count_entries("place"), 2);
}

TEST(what_was_remembered_keeps_its_way_back)
{
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

TEST(a_clock_that_is_wrong_does_not_decide)
{
    bool recovered;
    struct apply_order order = plain;
    order.settled = 7;
    set_up_stopped("first 7\n");
    assert_int_equal(system("touch -d @1000000000 place/.fstune-applying.snippet"), 0);
    assert_int_equal(apply_recover(&order, &recovered, &err), 0);
    assert_true(recovered);
}

TEST(a_damaged_marker_is_an_error_until_somebody_looks)
{
    static const char *const texts[] = {"", "change", "change 7", "chang 7\n", "change 7x\n"};
    bool recovered;
    for (size_t i = 0; i < RIG_COUNT(texts); i++) {
        set_up_stopped(texts[i]);
        assert_int_equal(apply_recover(&plain, &recovered, &err), -EBADMSG);
        assert_string_equal(contents("place/snippet"), "new\n");
    }
}

/* Killed before and after the files were exchanged. */
TEST(a_stopped_rollback_is_taken_back)
{
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
