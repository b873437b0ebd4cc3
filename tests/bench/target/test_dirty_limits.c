/* Tests of bench/target/dirty_limits: on files of a folder, and, where allowed, on the machine's own limits.
 */
/* LINK: -Wl,--wrap=close_range */
#include "bench/target/dirty_limits.h"
#include "tests/test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MIB       (1ULL << 20)
#define TRIES     500
#define TRY_US    10000
#define TEXT_SIZE 64

static const char *const names[] = {"dirty_bytes", "dirty_ratio", "dirty_background_bytes",
                                    "dirty_background_ratio"};
static char folder[] = "/tmp/fstune-dirty-XXXXXX";
static const struct dirty_limits_places places = {folder, folder};
static const struct dirty_limits_places nowhere = {"/nowhere", "/nowhere"};
static struct err err;
static struct dirty_limits limits;

static bool is_old_kernel;

WRAP(int, close_range, (unsigned first, unsigned last, int flags))
{
    if (!is_old_kernel)
        return __real_close_range(first, last, flags);
    errno = ENOSYS;
    return -1;
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static unsigned long long value(const char *name)
{
    char text[TEXT_SIZE] = "";
    FILE *file = fopen(path_of(name), "r");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return n > 0 ? strtoull(text, NULL, 10) : 0;
}

FIXTURE(enter)
{
    return mkdtemp(folder) == NULL ? -1 : 0;
}

FIXTURE(leave)
{
    for (size_t i = 0; i < N_OF(names); i++)
        unlink(path_of(names[i]));
    unlink(path_of("dirty-limits"));
    return rmdir(folder);
}

GROUP(enter, leave);

FIXTURE(as_ratios)
{
    err = (struct err){0};
    limits = (struct dirty_limits){0};
    put("dirty_bytes", "0\n");
    put("dirty_ratio", "20\n");
    put("dirty_background_bytes", "0\n");
    put("dirty_background_ratio", "10\n");
    return 0;
}

/* 64 MiB of background and 128 MiB. */
static void set_limits(void)
{
    assert_int_equal(dirty_limits_set(&limits, &places, 64 * MIB, 128 * MIB, &err), 0);
}

static void restore_limits(void)
{
    assert_int_equal(dirty_limits_restore(&limits, &err), 0);
}

TEST_WITH(values_are_set_and_come_back, as_ratios, NULL)
{
    put("dirty_background_bytes", "123456789\n");
    set_limits();
    assert_true(value("dirty_background_bytes") == 64 * MIB && value("dirty_bytes") == 128 * MIB);
    /* The kernel zeroes the other form; a file does not. */
    put("dirty_ratio", "0\n");
    restore_limits();
    assert_int_equal(value("dirty_ratio"), 20);
    assert_int_equal(value("dirty_background_bytes"), 123456789);
    restore_limits();
}

TEST_WITH(a_second_guard_is_refused_until_the_first_is_gone, as_ratios, NULL)
{
    struct dirty_limits second = {0};
    set_limits();
    assert_int_equal(dirty_limits_set(&second, &places, 32 * MIB, 64 * MIB, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another fstune"));
    assert_true(value("dirty_bytes") == 128 * MIB);
    restore_limits();
    assert_int_equal(dirty_limits_set(&second, &places, 32 * MIB, 64 * MIB, &err), 0);
    assert_int_equal(dirty_limits_restore(&second, &err), 0);
}

TEST_WITH(limits_in_the_wrong_order_change_nothing, as_ratios, NULL)
{
    assert_int_equal(dirty_limits_set(&limits, &places, 128 * MIB, 128 * MIB, &err), -EINVAL);
    assert_int_equal(dirty_limits_set(&limits, &places, 4096, 128 * MIB, &err), -EINVAL);
    assert_int_equal(value("dirty_bytes"), 0);
    assert_true(limits.guard_fd <= 0);
}

TEST_WITH(missing_permission_is_said, as_ratios, NULL)
{
    struct err check_err = {0};
    if (geteuid() == 0 && setegid(65534) == 0 && seteuid(65534) == 0) {
        int results[] = {dirty_limits_set(&limits, &dirty_limits_system, 64 * MIB, 128 * MIB, &err),
                         dirty_limits_check(&dirty_limits_system, 64 * MIB, 128 * MIB, &check_err)};
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(setegid(0), 0);
        for (size_t i = 0; i < N_OF(results); i++)
            assert_true(results[i] == -EACCES || results[i] == -EPERM || results[i] == -EROFS);
        assert_non_null(strstr(err.text, "can be set by root"));
        assert_non_null(strstr(check_err.text, "can be set by root"));
    }
    assert_int_equal(dirty_limits_set(&limits, &nowhere, 64 * MIB, 128 * MIB, &err), -ENOENT);
}

TEST_WITH(a_check_changes_nothing, as_ratios, NULL)
{
    put("dirty_background_bytes", "123456789\n");
    assert_int_equal(dirty_limits_check(&places, 64 * MIB, 128 * MIB, &err), 0);
    assert_int_equal(value("dirty_background_bytes"), 123456789);
    assert_int_equal(value("dirty_ratio"), 20);
    assert_int_equal(dirty_limits_check(&places, 128 * MIB, 128 * MIB, &err), -EINVAL);
    assert_int_equal(dirty_limits_check(&nowhere, 64 * MIB, 128 * MIB, &err), -ENOENT);
}

/* Waits, because the guard works on after the one that was killed. */
static void check_comes_back(const char *name, unsigned long long expected)
{
    for (int i = 0; i < TRIES && value(name) != expected; i++)
        usleep(TRY_US);
    assert_true(value(name) == expected);
}

/* A child that has set the limits, in a group of its own, tells its guard and waits to be killed. */
static pid_t start_holder(int *ret_fd, pid_t *ret_guard)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setpgid(0, 0);
        if (dirty_limits_set(&limits, &places, 64 * MIB, 128 * MIB, NULL) == 0 &&
            write(fds[1], &limits.guard, sizeof limits.guard) == sizeof limits.guard)
            pause();
        _exit(1);
    }
    close(fds[1]);
    *ret_fd = fds[0];
    assert_int_equal(read(fds[0], ret_guard, sizeof *ret_guard), sizeof *ret_guard);
    return pid;
}

static void kill_a_holder(void)
{
    AUTO(auto_close) int fd;
    pid_t guard, pid = start_holder(&fd, &guard);
    char byte;
    /* End of file: nobody else, the guard least of all, holds the other end when the child is gone. */
    kill(-pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(read(fd, &byte, 1), 0);
}

TEST_WITH(a_kill_of_the_whole_group_puts_them_back, as_ratios, NULL)
{
    put("dirty_background_bytes", "77777777\n");
    kill_a_holder();
    check_comes_back("dirty_background_bytes", 77777777);
    check_comes_back("dirty_ratio", 20);
}

TEST_WITH(a_kernel_without_close_range_puts_them_back_too, as_ratios, NULL)
{
    put("dirty_background_bytes", "66666666\n");
    is_old_kernel = true;
    kill_a_holder();
    is_old_kernel = false;
    check_comes_back("dirty_background_bytes", 66666666);
}

/* Those that ask do not end the guard; one that was killed is replaced. */
TEST_WITH(whatever_signal_the_guard_gets_they_come_back, as_ratios, NULL)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGKILL};
    for (size_t i = 0; i < N_OF(signals); i++) {
        as_ratios(NULL);
        set_limits();
        put("dirty_ratio", "0\n");
        kill(limits.guard, signals[i]);
        restore_limits();
        assert_int_equal(value("dirty_ratio"), 20);
    }
}

/* As the kernel does when a control group runs out of memory, or systemd at the end of a unit. */
static void kill_holder_and_guard(void)
{
    AUTO(auto_close) int fd;
    pid_t guard, pid = start_holder(&fd, &guard);
    /* The guard becomes our child when its parent is dead. */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    kill(guard, SIGKILL);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(waitpid(guard, NULL, 0), guard);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
    /* The kernel zeroes the other form; a file does not. */
    put("dirty_ratio", "0\n");
    put("dirty_background_ratio", "0\n");
    assert_true(value("dirty_bytes") == 128 * MIB && value("dirty_background_bytes") == 64 * MIB);
}

static bool recover(void)
{
    bool restored;
    assert_int_equal(dirty_limits_recover(&places, &restored, &err), 0);
    return restored;
}

TEST_WITH(when_all_were_killed_the_next_start_puts_them_back, as_ratios, NULL)
{
    kill_holder_and_guard();
    assert_true(recover());
    assert_int_equal(value("dirty_ratio"), 20);
    assert_int_equal(value("dirty_background_ratio"), 10);
    put("dirty_ratio", "30\n");
    assert_false(recover());
    assert_int_equal(value("dirty_ratio"), 30);
}

TEST_WITH(what_somebody_else_has_set_since_stays, as_ratios, NULL)
{
    kill_holder_and_guard();
    put("dirty_bytes", "99999999\n");
    assert_true(recover());
    assert_int_equal(value("dirty_bytes"), 99999999);
    assert_int_equal(value("dirty_ratio"), 0);
    assert_int_equal(value("dirty_background_ratio"), 10);
    as_ratios(NULL);
    set_limits();
    put("dirty_bytes", "99999999\n");
    put("dirty_ratio", "0\n");
    restore_limits();
    assert_int_equal(value("dirty_bytes"), 99999999);
    assert_int_equal(value("dirty_ratio"), 0);
}

/* Its guard's end alone is no sign that it is dead. */
TEST_WITH(limits_of_a_living_command_are_left_alone, as_ratios, NULL)
{
    assert_false(recover());
    set_limits();
    assert_false(recover());
    kill(limits.guard, SIGKILL);
    assert_int_equal(waitpid(limits.guard, NULL, 0), limits.guard);
    assert_false(recover());
    assert_true(value("dirty_bytes") == 128 * MIB);
    restore_limits();
    assert_false(recover());
}

TEST_WITH(setting_after_a_kill_keeps_the_true_old_values, as_ratios, NULL)
{
    put("dirty_bytes", "55555555\n");
    kill_holder_and_guard();
    assert_int_equal(dirty_limits_set(&limits, &places, 32 * MIB, 64 * MIB, &err), 0);
    restore_limits();
    assert_int_equal(value("dirty_bytes"), 55555555);
}

static void check_distrusted(int expected)
{
    bool restored = true;
    assert_int_equal(dirty_limits_recover(&places, &restored, &err), expected);
    assert_false(restored);
    assert_true(value("dirty_bytes") == 128 * MIB);
}

TEST_WITH(a_record_that_others_could_write_is_refused, as_ratios, NULL)
{
    char record[128], aside[160];
    kill_holder_and_guard();
    snprintf(record, sizeof record, "%s", path_of("dirty-limits"));
    snprintf(aside, sizeof aside, "%s.aside", record);
    assert_int_equal(chmod(record, 0620), 0);
    check_distrusted(-EPERM);
    assert_int_equal(chmod(record, 0600), 0);
    assert_int_equal(chmod(folder, 01777), 0);
    check_distrusted(-EPERM);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(link(record, aside), 0);
    check_distrusted(-EPERM);
    assert_int_equal(unlink(record), 0);
    assert_int_equal(symlink(aside, record), 0);
    check_distrusted(-ELOOP);
    assert_int_equal(rename(aside, record), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(record, 65534, 65534), 0);
        check_distrusted(-EPERM);
        assert_int_equal(chown(record, 0, 0), 0);
    }
    assert_true(recover());
}

TEST_WITH(what_is_no_whole_record_changes_nothing, as_ratios, NULL)
{
    static const char *const texts[] = {
        "bytes 0 ratio 20 background_bytes 0 background_ratio 10 set 134217728 671088",
        "bytes 0 ratio 20 background_bytes 0 background_ratio 10 set 134217728 67108864 end\nmore\n",
        "bytes 0 ratio 200 background_bytes 0 background_ratio 10 set 134217728 67108864 end\n",
        "bytes -1 ratio 20 background_bytes 0 background_ratio 10 set 134217728 67108864 end\n",
        "bytes 0 ratio +20 background_bytes 0 background_ratio 10 set 134217728 67108864 end\n"};
    kill_holder_and_guard();
    for (size_t i = 0; i < N_OF(texts); i++) {
        put("dirty-limits", texts[i]);
        assert_false(recover());
        assert_true(value("dirty_bytes") == 128 * MIB);
    }
    put("dirty-limits", "");
}

TEST_WITH(an_ignored_child_signal_is_no_failure, as_ratios, NULL)
{
    signal(SIGCHLD, SIG_IGN);
    set_limits();
    int result = dirty_limits_restore(&limits, &err);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(result, 0);
}

TEST_WITH(another_child_does_not_keep_the_guard_waiting, as_ratios, NULL)
{
    set_limits();
    pid_t pid = fork(); /* has a copy of the guard's socket */
    assert_true(pid >= 0);
    if (pid == 0) {
        pause();
        _exit(1);
    }
    alarm(30);
    restore_limits();
    alarm(0);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST_WITH(the_guard_keeps_no_descriptor_above_the_limit, as_ratios, NULL)
{
    struct rlimit old, low;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    if (old.rlim_cur <= 200)
        skip();
    assert_int_equal(dup2(fds[1], 200), 200);
    close(fds[1]);
    low = (struct rlimit){100, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    int result = dirty_limits_set(&limits, &places, 64 * MIB, 128 * MIB, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    close(200);
    struct pollfd end = {.fd = fds[0]};
    assert_int_equal(poll(&end, 1, 0), 1);
    assert_true((end.revents & POLLHUP) != 0);
    close(fds[0]);
    assert_int_equal(result, 0);
    restore_limits();
}

TEST(thresholds_are_those_of_the_kernel)
{
    struct dirty_thresholds thresholds;
    int result = dirty_limits_thresholds(&thresholds);
    if (result == -ENOENT)
        skip();
    assert_int_equal(result, 0);
    assert_true(thresholds.background_bytes > 0);
    assert_true(thresholds.background_bytes < thresholds.hard_bytes);
    assert_true(thresholds.cgroup_share > 0 && thresholds.cgroup_share <= 1);
}
