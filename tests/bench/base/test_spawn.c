/* Tests of bench/base/spawn: what a program prints, and that none can hold fstune up. */
#include "bench/base/spawn.h"

#include "tests/check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static void output_and_status_are_those_of_the_program(void **state)
{
    (void)state;
    assert_int_equal(capture("echo one; echo two; exit 3", LONG_NS, NULL, sizeof(output)), 0);
    assert_string_equal(output, "one\ntwo\n");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void a_silent_program_gives_an_empty_text(void **state)
{
    (void)state;
    assert_int_equal(capture("true", LONG_NS, NULL, sizeof(output)), 0);
    assert_string_equal(output, "");
    assert_int_equal(status, 0);
}

static void errors_of_the_program_are_not_its_output(void **state)
{
    (void)state;
    assert_int_equal(capture("echo bad >&2; echo good", LONG_NS, NULL, sizeof(output)), 0);
    assert_string_equal(output, "good\n");
}

static void it_reads_nothing_and_has_no_descriptor_of_ours(void **state)
{
    (void)state;
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

static void a_missing_program_is_enoent(void **state)
{
    (void)state;
    need_spawn_errors();
    const char *const argv[] = {"fstune-no-such-program", NULL};
    assert_int_equal(
        spawn_capture(argv, &clock_monotonic, LONG_NS, NULL, output, sizeof(output), &status, &err), -ENOENT);
    assert_non_null(strstr(err.text, "fstune-no-such-program is not installed"));
}

static void a_program_that_hangs_is_killed_with_its_children(void **state)
{
    (void)state;
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

static void one_that_closes_its_output_and_goes_on_is_killed_too(void **state)
{
    (void)state;
    assert_int_equal(capture("exec >&-; sleep 100", SHORT_NS, NULL, sizeof(output)), -ETIMEDOUT);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void an_interruption_ends_it(void **state)
{
    (void)state;
    atomic_int interrupted = 1;
    assert_int_equal(capture("sleep 100", LONG_NS, &interrupted, sizeof(output)), -EINTR);
}

static void more_output_than_fits_is_efbig(void **state)
{
    (void)state;
    assert_int_equal(capture("yes", LONG_NS, NULL, 100), -EFBIG);
    assert_true(strlen(output) < 100);
    assert_int_equal(output[100], 'x');
    assert_int_equal(capture("printf 1234567", LONG_NS, NULL, 9), 0);
    assert_string_equal(output, "1234567");
}

static void signals_that_are_ignored_here_work_in_it(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(capture("kill -PIPE $$; echo alive", LONG_NS, NULL, sizeof(output)), 0);
    signal(SIGPIPE, SIG_DFL);
    assert_string_equal(output, "");
    assert_true(WIFSIGNALED(status));
}

static void an_end_that_nobody_tells_is_no_success(void **state)
{
    (void)state;
    signal(SIGCHLD, SIG_IGN);
    int code = capture("echo one; exit 3", LONG_NS, NULL, sizeof(output));
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(code, -ECHILD);
}

static void what_it_leaves_running_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(capture("sleep 100 & echo $!", LONG_NS, NULL, sizeof(output)), 0);
    assert_int_equal(kill((pid_t)strtol(output, NULL, 10), SIGKILL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_status_are_those_of_the_program),
        cmocka_unit_test(a_silent_program_gives_an_empty_text),
        cmocka_unit_test(errors_of_the_program_are_not_its_output),
        cmocka_unit_test(it_reads_nothing_and_has_no_descriptor_of_ours),
        cmocka_unit_test(a_missing_program_is_enoent),
        cmocka_unit_test(a_program_that_hangs_is_killed_with_its_children),
        cmocka_unit_test(one_that_closes_its_output_and_goes_on_is_killed_too),
        cmocka_unit_test(an_interruption_ends_it),
        cmocka_unit_test(more_output_than_fits_is_efbig),
        cmocka_unit_test(signals_that_are_ignored_here_work_in_it),
        cmocka_unit_test(an_end_that_nobody_tells_is_no_success),
        cmocka_unit_test(what_it_leaves_running_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
