/* Tests of tuner/nightly/apply_hook: the surroundings of a command, its end, and what is told of it; and of
 * tuner/base/replace alone. */
#include "tests/tuner/nightly/apply_rig.h"
#include "tuner/base/replace.h"
#include "tuner/nightly/apply_hook.h"

GROUP(rig_enter, rig_leave);

EACH_TEST(make_place, NULL);

static int hook(const char *command)
{
    static const char *const facts[] = {"FSTUNE_TARGET=vm 1", "FSTUNE_PATH=/a\nb", NULL};
    const struct apply_hook order = {
        .what = "check", .command = command, .facts = facts, .timeout_ns = 20 * SECOND_NS};
    memset(&err, 0, sizeof err);
    return apply_hook_run(&order, &err);
}

TEST(a_command_has_clean_surroundings)
{
    assert_int_equal(setenv("LD_PRELOAD_OF_NOBODY", "x", 1), 0);
    assert_int_equal(setenv("LC_ALL", "de_DE.UTF-8", 1), 0);
    assert_int_equal(hook("env -0 | sort -z | tr '\\0\\n' ';_' >said"), 0);
    assert_int_equal(unsetenv("LC_ALL"), 0);
    /* PWD, and dash's own variables, are the shell's. */
    assert_null(strstr(contents("said"), "NOBODY"));
    assert_null(strstr(contents("said"), "LC_ALL"));
    assert_non_null(strstr(contents("said"), "FSTUNE_PATH=/a_b;"));
    assert_non_null(strstr(contents("said"), "FSTUNE_TARGET=vm 1;"));
    assert_non_null(strstr(contents("said"), "LANG=C;"));
    assert_non_null(strstr(contents("said"), "PATH=/usr/local/sbin:"));
}

TEST(a_command_has_no_input_and_no_descriptors)
{
    int fd = open("said", O_RDWR | O_CREAT, 0600); /* without O_CLOEXEC, as by a careless library */
    assert_true(fd >= 0);
    assert_int_equal(hook("read line && exit 1; ls /proc/self/fd | tr '\\n' ' ' | grep -q '^0 1 2 3 $'"), 0);
    close(fd);
}

TEST(the_last_line_of_much_output_is_told)
{
    assert_int_equal(hook("seq 1 100000; echo the end >&2; echo; exit 9"), -EREMOTEIO);
    assert_string_equal(err.text, "the check command failed with exit code 9: the end");
}

TEST(a_signal_is_told)
{
    assert_int_equal(hook("kill -SEGV $$"), -EREMOTEIO);
    assert_string_equal(err.text, "the check command was ended by signal 11");
}

TEST(what_a_command_leaves_running_is_not_waited_for)
{
    assert_int_equal(hook("sleep 3 &"), 0);
    assert_int_equal(hook("exec >/dev/null 2>&1; sleep 0.1; exit 5"), -EREMOTEIO);
}

TEST(an_end_that_nobody_tells_is_no_success)
{
    signal(SIGCHLD, SIG_IGN);
    int code = hook("exit 1");
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(code, -ECHILD);
    assert_string_equal(err.text, "how the check command ended is not known");
}

/* Wherever the output is cut, its last line is the same. */
TEST(endless_output_ends_in_time)
{
    const struct apply_hook order = {.what = "check", .command = "yes n", .timeout_ns = 2 * SECOND_NS};
    assert_int_equal(apply_hook_run(&order, &err), -ETIMEDOUT);
    assert_non_null(strstr(err.text, "was killed: n"));
}

TEST(an_interrupt_ends_a_command)
{
    const atomic_int interrupted = SIGTERM;
    const struct apply_hook order = {
        .what = "apply", .command = "sleep 60", .timeout_ns = 60 * SECOND_NS, .interrupted = &interrupted};
    assert_int_equal(apply_hook_run(&order, &err), -EINTR);
}

TEST(a_file_is_replaced_by_one_that_all_can_read)
{
    mode_t mask = umask(0077);
    assert_int_equal(replace_file("place/f.prom", REPLACE_OWN, "a 1\n", 4, &err), 0);
    assert_int_equal(replace_file("place/f.prom", REPLACE_OWN, "a 2\n", 4, &err), 0);
    umask(mask);
    assert_string_equal(contents("place/f.prom"), "a 2\n");
    assert_int_equal(mode_of("place/f.prom"), 0644);
    assert_int_equal(rig_count_entries("place"), 1);
    assert_int_equal(replace_file("place/", REPLACE_OWN, "a", 1, &err), -EINVAL);
    assert_int_equal(replace_file("place/..", REPLACE_OWN, "a", 1, &err), -EINVAL);
}

TEST(a_staged_file_of_a_killed_process_goes_with_the_next_one)
{
    assert_int_equal(system("touch -d '2 hours ago' place/.fstune-0123456789abcdef.f.kept.new"), 0);
    assert_int_equal(replace_file("place/f.kept", REPLACE_OWN, "a 1\n", 4, &err), 0);
    assert_int_equal(rig_count_entries("place"), 1);
}
