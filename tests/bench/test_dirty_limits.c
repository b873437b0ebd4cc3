/* Tests of bench/dirty_limits: on files of a folder, and, where allowed, on the machine's own limits. */
/* LINK: -Wl,--wrap=close_range */
#include "bench/dirty_limits.h"
#include "tests/check.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB        (1ULL << 20)
#define TRIES      500
#define TRY_US     10000
#define TEXT_SIZE  64
#define N_OF(list) (sizeof(list) / sizeof((list)[0]))

static const char *const names[] = {"dirty_bytes", "dirty_ratio", "dirty_background_bytes",
                                    "dirty_background_ratio"};
static char folder[] = "/tmp/fstune-dirty-XXXXXX";
static struct err err;

static bool is_old_kernel;

int __real_close_range(unsigned first, unsigned last, int flags);
int __wrap_close_range(unsigned first, unsigned last, int flags);

int __wrap_close_range(unsigned first, unsigned last, int flags)
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

static int enter(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int leave(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(names); i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

static int as_ratios(void **state)
{
    (void)state;
    memset(&err, 0, sizeof err);
    put("dirty_bytes", "0\n");
    put("dirty_ratio", "20\n");
    put("dirty_background_bytes", "0\n");
    put("dirty_background_ratio", "10\n");
    return 0;
}

static void values_are_set_and_come_back(void **state)
{
    struct dirty_limits limits = {0};
    (void)state;
    put("dirty_background_bytes", "123456789\n");
    assert_int_equal(dirty_limits_set(&limits, folder, 64 * MIB, 128 * MIB, &err), 0);
    assert_true(value("dirty_background_bytes") == 64 * MIB && value("dirty_bytes") == 128 * MIB);
    /* The kernel zeroes the other form; a file does not. */
    put("dirty_ratio", "0\n");
    assert_int_equal(dirty_limits_restore(&limits, &err), 0);
    assert_int_equal(value("dirty_ratio"), 20);
    assert_int_equal(value("dirty_background_bytes"), 123456789);
    assert_int_equal(dirty_limits_restore(&limits, &err), 0);
}

static void a_second_guard_is_refused_until_the_first_is_gone(void **state)
{
    struct dirty_limits first = {0}, second = {0};
    (void)state;
    assert_int_equal(dirty_limits_set(&first, folder, 64 * MIB, 128 * MIB, &err), 0);
    assert_int_equal(dirty_limits_set(&second, folder, 32 * MIB, 64 * MIB, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another fstune"));
    assert_true(value("dirty_bytes") == 128 * MIB);
    assert_int_equal(dirty_limits_restore(&first, &err), 0);
    assert_int_equal(dirty_limits_set(&second, folder, 32 * MIB, 64 * MIB, &err), 0);
    assert_int_equal(dirty_limits_restore(&second, &err), 0);
}

static void limits_in_the_wrong_order_change_nothing(void **state)
{
    struct dirty_limits limits = {0};
    (void)state;
    assert_int_equal(dirty_limits_set(&limits, folder, 128 * MIB, 128 * MIB, &err), -EINVAL);
    assert_int_equal(dirty_limits_set(&limits, folder, 4096, 128 * MIB, &err), -EINVAL);
    assert_int_equal(value("dirty_bytes"), 0);
    assert_true(limits.guard_fd <= 0);
}

static void missing_permission_is_said(void **state)
{
    struct dirty_limits limits = {0};
    (void)state;
    if (geteuid() == 0 && setegid(65534) == 0 && seteuid(65534) == 0) {
        int result = dirty_limits_set(&limits, DIRTY_LIMITS_DIRECTORY, 64 * MIB, 128 * MIB, &err);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(setegid(0), 0);
        assert_true(result == -EACCES || result == -EPERM || result == -EROFS);
        assert_non_null(strstr(err.text, "can be set by root"));
    }
    assert_int_equal(dirty_limits_set(&limits, "/nowhere", 64 * MIB, 128 * MIB, &err), -ENOENT);
}

static void a_check_changes_nothing_and_knows_who_may_not(void **state)
{
    (void)state;
    put("dirty_background_bytes", "123456789\n");
    assert_int_equal(dirty_limits_check(folder, 64 * MIB, 128 * MIB, &err), 0);
    assert_int_equal(value("dirty_background_bytes"), 123456789);
    assert_int_equal(value("dirty_ratio"), 20);
    assert_int_equal(dirty_limits_check(folder, 128 * MIB, 128 * MIB, &err), -EINVAL);
    assert_int_equal(dirty_limits_check("/nowhere", 64 * MIB, 128 * MIB, &err), -ENOENT);
    if (geteuid() == 0 && setegid(65534) == 0 && seteuid(65534) == 0) {
        int result = dirty_limits_check(DIRTY_LIMITS_DIRECTORY, 64 * MIB, 128 * MIB, &err);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(setegid(0), 0);
        assert_true(result == -EACCES || result == -EPERM || result == -EROFS);
        assert_non_null(strstr(err.text, "can be set by root"));
    }
}

/* Waits, because the guard works on after the one that was killed. */
static void check_comes_back(const char *name, unsigned long long expected)
{
    for (int i = 0; i < TRIES && value(name) != expected; i++)
        usleep(TRY_US);
    assert_true(value(name) == expected);
}

/* A child sets, says so, and waits to be killed; so that its whole group can be killed, it has one. */
static void kill_a_holder(void)
{
    int fds[2];
    char byte;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct dirty_limits limits = {0};
        setpgid(0, 0);
        if (dirty_limits_set(&limits, folder, 64 * MIB, 128 * MIB, NULL) == 0 && write(fds[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    /* End of file: nobody else, the guard least of all, holds the other end when the child is gone. */
    kill(-pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(read(fds[0], &byte, 1), 0);
    close(fds[0]);
}

static void a_kill_of_the_whole_group_puts_them_back(void **state)
{
    (void)state;
    put("dirty_background_bytes", "77777777\n");
    kill_a_holder();
    check_comes_back("dirty_background_bytes", 77777777);
    check_comes_back("dirty_ratio", 20);
}

static void a_kernel_without_close_range_puts_them_back_too(void **state)
{
    (void)state;
    put("dirty_background_bytes", "66666666\n");
    is_old_kernel = true;
    kill_a_holder();
    is_old_kernel = false;
    check_comes_back("dirty_background_bytes", 66666666);
}

static void signals_do_not_end_the_guard(void **state)
{
    struct dirty_limits limits = {0};
    (void)state;
    assert_int_equal(dirty_limits_set(&limits, folder, 64 * MIB, 128 * MIB, &err), 0);
    put("dirty_ratio", "0\n");
    kill(limits.guard, SIGTERM);
    kill(limits.guard, SIGINT);
    kill(limits.guard, SIGHUP);
    assert_int_equal(dirty_limits_restore(&limits, &err), 0);
    assert_int_equal(value("dirty_ratio"), 20);
}

static void a_guard_that_was_killed_is_an_error(void **state)
{
    struct dirty_limits limits = {0};
    (void)state;
    assert_int_equal(dirty_limits_set(&limits, folder, 64 * MIB, 128 * MIB, &err), 0);
    kill(limits.guard, SIGKILL);
    assert_int_equal(dirty_limits_restore(&limits, &err), -EIO);
}

static void an_ignored_child_signal_is_no_failure(void **state)
{
    struct dirty_limits limits = {0};
    (void)state;
    signal(SIGCHLD, SIG_IGN);
    assert_int_equal(dirty_limits_set(&limits, folder, 64 * MIB, 128 * MIB, &err), 0);
    int result = dirty_limits_restore(&limits, &err);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(result, 0);
}

static void another_child_does_not_keep_the_guard_waiting(void **state)
{
    struct dirty_limits limits = {0};
    (void)state;
    assert_int_equal(dirty_limits_set(&limits, folder, 64 * MIB, 128 * MIB, &err), 0);
    pid_t pid = fork(); /* has a copy of the guard's socket */
    assert_true(pid >= 0);
    if (pid == 0) {
        pause();
        _exit(1);
    }
    alarm(30);
    assert_int_equal(dirty_limits_restore(&limits, &err), 0);
    alarm(0);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void the_guard_keeps_no_descriptor_above_the_limit(void **state)
{
    struct dirty_limits limits = {0};
    struct rlimit old, low;
    int fds[2];
    (void)state;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    if (old.rlim_cur <= 200)
        skip();
    assert_int_equal(dup2(fds[1], 200), 200);
    close(fds[1]);
    low = (struct rlimit){100, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    int result = dirty_limits_set(&limits, folder, 64 * MIB, 128 * MIB, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    close(200);
    struct pollfd end = {.fd = fds[0]};
    assert_int_equal(poll(&end, 1, 0), 1);
    assert_true((end.revents & POLLHUP) != 0);
    close(fds[0]);
    assert_int_equal(result, 0);
    assert_int_equal(dirty_limits_restore(&limits, &err), 0);
}

static void thresholds_are_those_of_the_kernel(void **state)
{
    struct dirty_thresholds thresholds;
    (void)state;
    int result = dirty_limits_thresholds(&thresholds);
    if (result == -ENOENT)
        skip();
    assert_int_equal(result, 0);
    assert_true(thresholds.background_bytes > 0);
    assert_true(thresholds.background_bytes < thresholds.hard_bytes);
    assert_true(thresholds.cgroup_share > 0 && thresholds.cgroup_share <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(values_are_set_and_come_back, as_ratios),
        cmocka_unit_test_setup(a_second_guard_is_refused_until_the_first_is_gone, as_ratios),
        cmocka_unit_test_setup(limits_in_the_wrong_order_change_nothing, as_ratios),
        cmocka_unit_test_setup(missing_permission_is_said, as_ratios),
        cmocka_unit_test_setup(a_check_changes_nothing_and_knows_who_may_not, as_ratios),
        cmocka_unit_test_setup(a_kill_of_the_whole_group_puts_them_back, as_ratios),
        cmocka_unit_test_setup(a_kernel_without_close_range_puts_them_back_too, as_ratios),
        cmocka_unit_test_setup(signals_do_not_end_the_guard, as_ratios),
        cmocka_unit_test_setup(a_guard_that_was_killed_is_an_error, as_ratios),
        cmocka_unit_test_setup(an_ignored_child_signal_is_no_failure, as_ratios),
        cmocka_unit_test_setup(another_child_does_not_keep_the_guard_waiting, as_ratios),
        cmocka_unit_test_setup(the_guard_keeps_no_descriptor_above_the_limit, as_ratios),
        cmocka_unit_test(thresholds_are_those_of_the_kernel),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
