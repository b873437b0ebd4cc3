/* Samples of what tests/faults does at length: I/O that fails at the n-th call, kills at random moments,
 * limits of the environment. The scripts judge; what they print is shown when they fail. */
#include "tests/tuner/rig.h"

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

TEST(failing_io_ends_in_one_clear_line)
{
    run_script("tests/faults/run --smoke ${FAULTFS:+--faultfs \"$FAULTFS\"}");
}

TEST(a_killed_run_leaves_nothing)
{
    run_script("folder=$(mktemp -d) && tests/faults/kills --shared \"$folder\" 10; status=$?; "
               "rmdir \"$folder\" || exit 1; exit $status");
}

TEST(a_killed_night_leaves_file_snippet_and_history_sound)
{
    run_script("folder=$(mktemp -d) && tests/faults/retune_kills --shared \"$folder\" 6; status=$?; "
               "rmdir \"$folder\" || exit 1; exit $status");
}

TEST(hostile_limits_end_in_one_clear_line)
{
    run_script("tests/faults/limits --smoke");
}

static bool find_what_is_needed(void)
{
    if (!rig_find_program())
        return false;
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    return true;
}

GROUP_NEEDS(find_what_is_needed);
