/* Tests of tuner/base/child: what goes in, what comes out, and that nothing lives on. */
#include "tests/tuner/rig.h"
#include "tuner/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

GROUP(rig_enter, rig_leave);

static struct err err;
static struct child_result result;
static atomic_int interrupted;

static int run_shell(const char *script, const char *input, uint64_t timeout_ns)
{
    const char *const arguments[] = {"sh", "-c", script, NULL};
    struct child child = {
        .arguments = arguments, .input = input, .timeout_ns = timeout_ns, .interrupted = &interrupted};
    err = (struct err){0};
    child_free(&result);
    return child_run(&child, &result, &err);
}

TEST(both_streams_and_the_exit_code_are_returned)
{
    assert_int_equal(run_shell("echo out; echo err >&2; exit 7", NULL, 0), 0);
    assert_string_equal(result.output, "out\n");
    assert_string_equal(result.errors, "err\n");
    assert_int_equal(result.code, 7);
    child_free(&result);
    assert_null(result.output);
}

TEST(silence_is_an_empty_text)
{
    assert_int_equal(run_shell("exit 0", NULL, 0), 0);
    assert_string_equal(result.output, "");
    assert_string_equal(result.errors, "");
}

TEST(the_input_arrives_and_ends)
{
    /* More than a pipe holds. */
    char long_input[300000];
    memset(long_input, 'x', sizeof long_input - 1);
    long_input[sizeof long_input - 1] = '\0';
    assert_int_equal(run_shell("cat", long_input, 0), 0);
    assert_string_equal(result.output, long_input);
    assert_int_equal(result.output_size, sizeof long_input - 1);
}

TEST(more_than_a_pipe_holds_is_read)
{
    assert_int_equal(run_shell("head -c 300000 /dev/zero | tr '\\0' y; "
                               "head -c 300000 /dev/zero | tr '\\0' z >&2",
                               NULL, 0),
                     0);
    assert_int_equal(strlen(result.output), 300000);
    assert_int_equal(strlen(result.errors), 300000);
}

TEST(a_program_that_is_not_there_is_enoent)
{
    need_spawn_errors();
    static const char *const arguments[] = {"fstune-no-such-program", NULL};
    struct child child = {.arguments = arguments};
    child_free(&result);
    assert_int_equal(child_run(&child, &result, &err), -ENOENT);
    assert_non_null(strstr(err.text, "fstune-no-such-program"));
}

TEST(death_by_signal_is_a_negative_code)
{
    assert_int_equal(run_shell("kill -TERM $$", NULL, 0), 0);
    assert_int_equal(result.code, -SIGTERM);
}

/* The pid that the script wrote into `name`; it must be gone, not merely a zombie of somebody. */
static void check_gone(const char *name)
{
    int pid = 0;
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    for (int i = 0; i < 200 && kill(pid, 0) == 0; i++)
        usleep(10000);
    assert_int_equal(kill(pid, 0), -1);
}

TEST(a_late_program_is_killed_with_its_children)
{
    assert_int_equal(run_shell("sleep 100 & echo $! >late; wait", NULL, 300000000), -ETIMEDOUT);
    assert_non_null(strstr(err.text, "sh did not end in time"));
    check_gone("late");
}

TEST(an_interrupt_kills_it)
{
    atomic_store(&interrupted, SIGINT);
    int code = run_shell("sleep 100", NULL, 0);
    atomic_store(&interrupted, 0);
    assert_int_equal(code, -EINTR);
}

TEST(it_inherits_no_descriptor)
{
    int fd = open("/dev/null", O_RDONLY); /* without O_CLOEXEC, on purpose */
    assert_true(fd > 2);
    char script[64];
    snprintf(script, sizeof script, "[ -e /proc/self/fd/%d ] && echo open", fd);
    assert_int_equal(run_shell(script, NULL, 0), 0);
    assert_string_equal(result.output, "");
    close(fd);
}

/* Its end is waited for under the same rules as its output. */
TEST(one_that_closes_its_output_is_killed_all_the_same)
{
    assert_int_equal(run_shell("echo $$ >mute; exec >&- 2>&-; exec sleep 20", NULL, 300000000), -ETIMEDOUT);
    check_gone("mute");
    atomic_store(&interrupted, SIGINT);
    int code = run_shell("echo $$ >mute; exec >&- 2>&-; exec sleep 20", NULL, 0);
    atomic_store(&interrupted, 0);
    assert_int_equal(code, -EINTR);
}

TEST(an_end_that_nobody_tells_is_no_success)
{
    signal(SIGCHLD, SIG_IGN);
    int code = run_shell("exit 1", NULL, 0);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(code, -ECHILD);
    assert_string_equal(err.text, "how sh ended is not known");
}
