/* Tests of tuner/base/interrupt. What ends or changes a process happens in a child. */
#include "tests/test.h"
#include "tuner/base/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define FINE 42

/* Done before the handlers are set up; NULL: nothing. */
static void (*inherit)(void);

/* Exit code of a child that set the handlers up and called what; minus the number of the signal that ended
 * it. */
static int in_child(int (*what)(void))
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct err err;
        if (inherit != NULL)
            inherit();
        _exit(interrupt_setup(&err) < 0 ? 1 : what());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static bool is_readable(void)
{
    struct pollfd fd = {.fd = interrupt_descriptor(), .events = POLLIN};
    return poll(&fd, 1, 0) == 1 && (fd.revents & POLLIN) != 0;
}

static int quiet(void)
{
    return atomic_load(&interrupt_signal) == 0 && !is_readable() ? FINE : 2;
}

TEST(nothing_is_flagged_before_a_signal)
{
    assert_int_equal(in_child(quiet), FINE);
}

/* Unlike raise(), known by checkers to return. */
static void send_self(int which)
{
    kill(getpid(), which);
}

static int number;

static int raise_once(void)
{
    send_self(number);
    return atomic_load(&interrupt_signal) == number && is_readable() ? FINE : 2;
}

static int raise_twice(void)
{
    send_self(number);
    nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
    send_self(number);
    return 2;
}

/* As timeout(1) does, which signals a process and its group. */
static int raise_twice_at_once(void)
{
    send_self(number);
    send_self(number);
    return FINE;
}

TEST(the_first_signal_is_a_flag_and_the_second_ends_the_process)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < 3; i++) {
        number = numbers[i];
        assert_int_equal(in_child(raise_once), FINE);
        assert_int_equal(in_child(raise_twice), 128 + number);
        assert_int_equal(in_child(raise_twice_at_once), FINE);
    }
}

static int raise_at_once(void)
{
    interrupt_end_at_once(true);
    send_self(number);
    return 2;
}

static int raise_before(void)
{
    send_self(number);
    interrupt_end_at_once(true);
    return 2;
}

static int raise_behind(void)
{
    interrupt_end_at_once(true);
    interrupt_end_at_once(false);
    return raise_once();
}

TEST(work_that_leaves_nothing_behind_ends_with_the_first_signal)
{
    number = SIGTERM;
    assert_int_equal(in_child(raise_at_once), 128 + SIGTERM);
    assert_int_equal(in_child(raise_before), 128 + SIGTERM);
    assert_int_equal(in_child(raise_behind), FINE);
}

static int break_pipe(void)
{
    int fds[2];
    if (pipe(fds) != 0)
        return 2;
    close(fds[0]);
    return write(fds[1], "x", 1) == -1 && errno == EPIPE ? FINE : 3;
}

TEST(a_closed_pipe_is_an_errno)
{
    assert_int_equal(in_child(break_pipe), FINE);
}

static int exceed_file_size(void)
{
    struct rlimit limit = {16, 16};
    FILE *file = tmpfile();
    if (file == NULL || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 2;
    return pwrite(fileno(file), "x", 1, 16) == -1 && errno == EFBIG ? FINE : 3;
}

TEST(a_file_that_may_not_grow_is_an_errno)
{
    assert_int_equal(in_child(exceed_file_size), FINE);
}

static int be_continued(void)
{
    int before = interrupt_n_continued();
    send_self(SIGCONT);
    send_self(SIGCONT);
    return before == 0 && interrupt_n_continued() == 2 && atomic_load(&interrupt_signal) == 0 ? FINE : 2;
}

TEST(continuing_after_a_stop_is_counted)
{
    assert_int_equal(in_child(be_continued), FINE);
}

/* Of its children's ends, and of every signal that is not held back. */
static int hear_of_all(void)
{
    sigset_t blocked;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
        return 2;
    for (int which = 1; sigprocmask(0, NULL, &blocked) == 0 && which < SIGRTMAX; which++) {
        if (sigismember(&blocked, which) == 1)
            return 3;
    }
    return FINE;
}

static void ignore_and_block_all(void)
{
    sigset_t all;
    sigfillset(&all);
    signal(SIGCHLD, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

TEST(what_the_caller_ignored_or_blocked_is_undone)
{
    inherit = ignore_and_block_all;
    number = SIGTERM;
    int heard = in_child(hear_of_all), flagged = in_child(raise_once);
    inherit = NULL;
    assert_int_equal(heard, FINE);
    assert_int_equal(flagged, FINE);
}

static void ignore_as_nohup(void)
{
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
}

static int raise_ignored(void)
{
    send_self(SIGHUP);
    send_self(SIGINT);
    return quiet();
}

TEST(what_nohup_and_scripts_ignore_stays_ignored)
{
    inherit = ignore_as_nohup;
    int code = in_child(raise_ignored);
    inherit = NULL;
    assert_int_equal(code, FINE);
}

static int raise_twice_below(void)
{
    struct err err;
    if (interrupt_setup_below(&err) < 0)
        return 3;
    send_self(number);
    send_self(SIGTERM);
    return atomic_load(&interrupt_signal) == number && is_readable() ? FINE : 2;
}

TEST(a_signal_that_is_passed_on_may_come_twice)
{
    number = SIGINT;
    assert_int_equal(in_child(raise_twice_below), FINE);
}

/* A script's background, where SIGINT is ignored, may be where the tests run. */
FIXTURE(hear_signals)
{
    return signal(SIGINT, SIG_DFL) == SIG_ERR || signal(SIGHUP, SIG_DFL) == SIG_ERR ? -1 : 0;
}

GROUP(hear_signals, NULL);

/* Signals this one in a tenth of a second. */
static void send_soon(int which)
{
    const pid_t parent = getpid();
    if (fork() != 0)
        return;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    kill(parent, which);
    _exit(0);
}

static int wait_for_signals(void)
{
    send_soon(SIGCONT);
    if (!interrupt_wait(-1, 5000) || interrupt_n_continued() != 1)
        return 2;
    send_soon(SIGTERM);
    return !interrupt_wait(-1, 5000) && atomic_load(&interrupt_signal) == SIGTERM ? FINE : 3;
}

static int wait_for_a_descriptor(void)
{
    int ends[2];
    if (pipe(ends) != 0 || !interrupt_wait(ends[0], 1))
        return 2;
    close(ends[1]);
    return !interrupt_wait(ends[0], 5000) ? FINE : 3;
}

TEST(a_wait_goes_on_after_a_stop_and_ends_with_a_signal)
{
    assert_int_equal(in_child(wait_for_signals), FINE);
    assert_int_equal(in_child(wait_for_a_descriptor), FINE);
}
