/* Samples of what tests/faults does at length: I/O that fails at the n-th call, kills at random moments,
 * limits of the environment. The scripts judge; what they print is shown when they fail. */
#include "tests/check.h"
#include "tests/tuner/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Runs a script; 77 from it is a skipped test. */
static void run_script(const char *command)
{
    int status = system(command);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void failing_io_ends_in_one_clear_line(void **state)
{
    (void)state;
    run_script("tests/faults/run --smoke ${FAULTFS:+--faultfs \"$FAULTFS\"}");
}

static void a_killed_run_leaves_nothing(void **state)
{
    (void)state;
    run_script("folder=$(mktemp -d) && tests/faults/kills --shared \"$folder\" 10; status=$?; "
               "rmdir \"$folder\" || exit 1; exit $status");
}

static void a_killed_night_leaves_file_snippet_and_history_sound(void **state)
{
    (void)state;
    run_script("folder=$(mktemp -d) && tests/faults/retune_kills --shared \"$folder\" 6; status=$?; "
               "rmdir \"$folder\" || exit 1; exit $status");
}

static void hostile_limits_end_in_one_clear_line(void **state)
{
    (void)state;
    run_script("tests/faults/limits --smoke");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_io_ends_in_one_clear_line),
        cmocka_unit_test(a_killed_run_leaves_nothing),
        cmocka_unit_test(a_killed_night_leaves_file_snippet_and_history_sound),
        cmocka_unit_test(hostile_limits_end_in_one_clear_line),
    };
    if (!rig_find_program())
        return RIG_SKIPPED;
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    return cmocka_run_group_tests_name("tuner/faults_fs", tests, NULL, NULL);
}
