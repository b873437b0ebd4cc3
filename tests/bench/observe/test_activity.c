/* What a program does is counted: its calls, processes, mappings and signals, and those of its children. */
#include "bench/observe/activity.h"
#include "tests/test.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

static struct err err;

static struct activity count(const char *line)
{
    const char *const argv[] = {"/bin/sh", "-c", line, NULL};
    struct activity activity = {0};
    int result = activity_count(argv, NULL, &activity, &err);
    if (result == -EPERM) {
        print_message("%s\n", err.text);
        skip();
    }
    assert_int_equal(result, 0);
    return activity;
}

/* Calls of programs with another word size than ours count, and are not told apart. */
static void want_programs_like_us(void)
{
    if (sizeof(void *) == 4) {
        print_message("the programs of this machine have 64 bits, this test has 32\n");
        skip();
    }
}

TEST(calls_of_children_count_too)
{
    const struct activity few = count("dd if=/dev/zero of=/dev/null bs=1 count=1 2>/dev/null");
    const struct activity many = count("dd if=/dev/zero of=/dev/null bs=1 count=1001 2>/dev/null");
    assert_close(many.syscalls - few.syscalls, 2000, 40);
    assert_close(many.transferred_bytes - few.transferred_bytes, 2000, 40);
    want_programs_like_us();
    assert_true(few.maps > 0);
}

TEST(processes_programs_and_signals_are_counted)
{
    const struct activity none = count("exit 0");
    const struct activity some = count("(exit 0); (exit 0); kill -CHLD $$; /bin/true; exit 0");
    assert_close(some.forks - none.forks, 3, 0);
    assert_close(some.execs - none.execs, 1, 0);
    assert_true(some.signals >= none.signals + 1);
}

/* Write-protection that the kernel itself resolves: since Linux 6.7. */
static bool can_watch_pages(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = 1ULL << 15};
    int fd = (int)syscall(SYS_userfaultfd, 1 /* of user space alone */);
    bool has_api = fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0;
    if (fd >= 0)
        close(fd);
#ifdef __x86_64__
    return has_api;
#else
    return has_api && false;
#endif
}

TEST(pages_that_came_with_a_neighbour_count_once_they_are_used)
{
    static const char *const argv[] = {"/bin/sh", "-c", "(exit 0); /bin/ls / >/dev/null; exit 0", NULL};
    struct activity timed = {0};
    if (!can_watch_pages()) {
        print_message("this kernel has no userfaultfd that the test needs\n");
        skip();
    }
    assert_int_equal(activity_time(argv, NULL, &timed, &err), 0);
    const struct activity counted = count(argv[2]);
    assert_true(counted.used_pages > 1.3 * timed.page_faults);
}

TEST(waiting_for_a_time_and_flushing_are_counted)
{
    want_programs_like_us();
    const struct activity none = count("exit 0");
    const struct activity some = count("sleep 0.01; sync -d /dev/null 2>/dev/null; exit 0");
    assert_close(some.sleeps - none.sleeps, 1, 0);
}

TEST(a_run_that_is_timed_has_its_times_and_faults)
{
    static const char *const argv[] = {"/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done",
                                       NULL};
    struct activity activity = {0};
    assert_int_equal(activity_time(argv, NULL, &activity, &err), 0);
    assert_true(activity.seconds > 0 && activity.user_s > 0 && activity.page_faults > 0);
    assert_true(activity.user_s + activity.system_s < 2 * activity.seconds + 0.1);
}

TEST(a_command_that_fails_or_is_not_there_is_an_error)
{
    static const char *const fails[] = {"/bin/sh", "-c", "exit 3", NULL},
                             *const absent[] = {"/absent/x", NULL},
                             *const killed[] = {"/bin/sh", "-c", "kill -9 $$", NULL};
    struct activity activity = {0};
    assert_int_equal(activity_time(fails, NULL, &activity, &err), -ECANCELED);
    assert_contains(err.text, "exit code 3");
    assert_int_equal(activity_time(absent, NULL, &activity, &err), -ENOENT);
    assert_int_equal(activity_time(killed, NULL, &activity, &err), -ECANCELED);
    assert_contains(err.text, "signal 9");
    assert_int_equal(activity_count(fails, NULL, &activity, &err), -ECANCELED);
    assert_int_equal(activity_count(absent, NULL, &activity, &err), -ENOENT);
}

TEST(an_interrupt_ends_the_command)
{
    static atomic_int interrupted = SIGINT;
    static const char *const argv[] = {"/bin/sleep", "1000", NULL};
    struct activity activity = {0};
    assert_int_equal(activity_time(argv, &interrupted, &activity, &err), -EINTR);
}

TEST(what_a_timed_command_leaves_behind_ends_with_it)
{
    static const char *const argv[] = {"/bin/sh", "-c", "sleep 30 & exit 0", NULL};
    struct activity activity = {0};
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    int saved = dup(STDERR_FILENO);
    dup2(fds[1], STDERR_FILENO);
    close(fds[1]);
    int result = activity_time(argv, NULL, &activity, &err);
    dup2(saved, STDERR_FILENO);
    close(saved);
    struct pollfd end = {.fd = fds[0], .events = POLLIN};
    int n_ended = poll(&end, 1, 5000);
    close(fds[0]);
    assert_int_equal(result, 0);
    assert_int_equal(n_ended, 1);
}
