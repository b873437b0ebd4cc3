/* Tests of bench/base/spawn: what a program prints, and that none can hold fstune up. */
#include "bench/base/spawn.h"

#include "tests/test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define LONG_NS  20000000000ULL
#define SHORT_NS 300000000ULL

static char output[4096];
static struct err err;
static int status;

static int capture(const char *script, uint64_t timeout_ns, const atomic_int *interrupted, size_t size)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    err = (struct err){0};
    status = -1;
    memset(output, 'x', sizeof(output));
    return spawn_capture(argv, &clock_monotonic, timeout_ns, interrupted, output, size, &status, &err);
}

TEST(output_and_status_are_those_of_the_program)
{
    assert_int_equal(capture("echo one; echo two; exit 3", LONG_NS, NULL, sizeof(output)), 0);
    assert_string_equal(output, "one\ntwo\n");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

TEST(a_silent_program_gives_an_empty_text)
{
    assert_int_equal(capture("true", LONG_NS, NULL, sizeof(output)), 0);
    assert_string_equal(output, "");
    assert_int_equal(status, 0);
}

TEST(errors_of_the_program_are_not_its_output)
{
    assert_int_equal(capture("echo bad >&2; echo good", LONG_NS, NULL, sizeof(output)), 0);
    assert_string_equal(output, "good\n");
}

TEST(it_reads_nothing_and_has_no_descriptor_of_ours)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0); /* without O_CLOEXEC, as a library might leave one */
    assert_int_equal(capture("cat; for fd in /proc/self/fd/*; do echo ${fd##*/}; done | sort -n | tail -1",
                             LONG_NS, NULL, sizeof(output)),
                     0);
    /* The shell itself may hold one for the directory or the pipe. */
    assert_true(strtol(output, NULL, 10) <= 4);
    close(fds[0]);
    close(fds[1]);
}

TEST(a_missing_program_is_enoent)
{
    need_spawn_errors();
    const char *const argv[] = {"fstune-no-such-program", NULL};
    assert_int_equal(
        spawn_capture(argv, &clock_monotonic, LONG_NS, NULL, output, sizeof(output), &status, &err), -ENOENT);
    assert_non_null(strstr(err.text, "fstune-no-such-program is not installed"));
}

TEST(a_program_that_hangs_is_killed_with_its_children)
{
    char script[128], path[64];
    snprintf(path, sizeof(path), "/tmp/fstune-test-spawn-%d", getpid());
    snprintf(script, sizeof(script), "sh -c 'sleep 1; touch %s' & echo begun; sleep 100", path);
    uint64_t start_ns = clock_now_ns(&clock_monotonic);
    assert_int_equal(capture(script, SHORT_NS, NULL, sizeof(output)), -ETIMEDOUT);
    assert_true(clock_now_ns(&clock_monotonic) - start_ns < LONG_NS);
    assert_string_equal(output, "begun\n");
    assert_non_null(strstr(err.text, "in time"));
    usleep(1500000);
    assert_int_not_equal(access(path, F_OK), 0);
}

TEST(one_that_closes_its_output_and_goes_on_is_killed_too)
{
    assert_int_equal(capture("exec >&-; sleep 100", SHORT_NS, NULL, sizeof(output)), -ETIMEDOUT);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

TEST(an_interruption_ends_it)
{
    atomic_int interrupted = 1;
    assert_int_equal(capture("sleep 100", LONG_NS, &interrupted, sizeof(output)), -EINTR);
}

TEST(more_output_than_fits_is_efbig)
{
    assert_int_equal(capture("yes", LONG_NS, NULL, 100), -EFBIG);
    assert_true(strlen(output) < 100);
    assert_int_equal(output[100], 'x');
    assert_int_equal(capture("printf 1234567", LONG_NS, NULL, 9), 0);
    assert_string_equal(output, "1234567");
}

TEST(signals_that_are_ignored_here_work_in_it)
{
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(capture("kill -PIPE $$; echo alive", LONG_NS, NULL, sizeof(output)), 0);
    signal(SIGPIPE, SIG_DFL);
    assert_string_equal(output, "");
    assert_true(WIFSIGNALED(status));
}

TEST(an_end_that_nobody_tells_is_no_success)
{
    signal(SIGCHLD, SIG_IGN);
    int code = capture("echo one; exit 3", LONG_NS, NULL, sizeof(output));
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(code, -ECHILD);
}

TEST(what_it_leaves_running_is_not_waited_for)
{
    assert_int_equal(capture("sleep 100 & echo $!", LONG_NS, NULL, sizeof(output)), 0);
    assert_int_equal(kill((pid_t)strtol(output, NULL, 10), SIGKILL), 0);
}
