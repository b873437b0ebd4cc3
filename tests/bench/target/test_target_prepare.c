/* tests/bench/target/test_target_prepare: the preparation script before filling. */
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <errno.h>
#include <signal.h>

static char script_path[300], note_path[300];

/* 0, or what target_create returned for a plan with this script. The note is what the script wrote to
 * "$FSTUNE_DIR/note". */
static int create_with(const char *script, uint64_t timeout_ns, const atomic_int *interrupted,
                       struct err *err)
{
    struct target target = {0};
    struct target_plan plan = rig_plan(directory, 2 * MIB);
    FILE *file = fopen(script_path, "w");
    assert_non_null(file);
    fputs(script, file);
    assert_int_equal(fclose(file), 0);
    unlink(note_path);
    plan.prepare_script = script_path;
    plan.prepare_timeout_ns = timeout_ns;
    plan.interrupted = interrupted;
    int code = target_create(&target, &plan, err);
    if (code == 0)
        assert_int_equal(target.size_bytes, 2 * MIB);
    target_close(&target);
    return code;
}

static void read_note(char buffer[static 600])
{
    AUTO(auto_fclose) FILE *file = fopen(note_path, "r");
    assert_non_null(file);
    size_t n = fread(buffer, 1, 599, file);
    buffer[n] = '\0';
}

TEST(script_sees_directory_and_empty_file)
{
    char note[600], expected[600];
    setenv("FSTUNE_DIR", "/stale", 1);
    int code = create_with("[ -w \"$FSTUNE_FILE\" ]\n"
                           "echo \"$FSTUNE_DIR $(stat -L -c %s \"$FSTUNE_FILE\") $(env | grep -c ^FSTUNE_)\" "
                           ">\"$FSTUNE_DIR/note\"\n",
                           0, NULL, NULL);
    unsetenv("FSTUNE_DIR");
    assert_int_equal(code, 0);
    read_note(note);
    char *absolute = realpath(directory, NULL);
    snprintf(expected, sizeof(expected), "%s 0 2\n", absolute);
    free(absolute);
    assert_string_equal(note, expected);
}

TEST(script_inherits_no_descriptor_and_no_stdout)
{
    char note[600];
    assert_int_equal(dup2(2, 57), 57); /* not close-on-exec */
    int code = create_with(
        "[ ! -e /proc/$$/fd/57 ] && [ \"$(readlink /proc/$$/fd/1)\" = \"$(readlink /proc/$$/fd/2)\" ]\n"
        "readlink /proc/$$/fd/0 >\"$FSTUNE_DIR/note\"\n",
        0, NULL, NULL);
    close(57);
    assert_int_equal(code, 0);
    read_note(note);
    assert_string_equal(note, "/dev/null\n");
}

TEST(failing_script_is_an_error)
{
    struct err err = {0};
    assert_int_equal(create_with("exit 3\n", 0, NULL, &err), -ECHILD);
    assert_non_null(strstr(err.text, "status 3"));
    assert_non_null(strstr(err.text, script_path));
    assert_int_equal(create_with("false\ntrue\n", 0, NULL, &err), -ECHILD); /* -e */
    assert_int_equal(create_with("kill -TERM $$\n", 0, NULL, &err), -ECHILD);
    assert_non_null(strstr(err.text, "signal 15"));
}

/* Gone, or dead and waiting for a parent that does not collect it. */
static bool is_dead(long pid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return true;
    bool read = fgets(line, sizeof(line), file) != NULL;
    fclose(file);
    const char *after_name = strrchr(line, ')');
    return !read || after_name == NULL || after_name[2] == 'Z' || after_name[2] == 'X';
}

TEST(timeout_kills_the_whole_group)
{
    struct err err = {0};
    char note[600];
    int code =
        create_with("sleep 1000 &\necho $! >\"$FSTUNE_DIR/note\"\nwait\n", CLOCK_NS_PER_S / 2, NULL, &err);
    assert_int_equal(code, -ETIMEDOUT);
    read_note(note);
    long sleeper = strtol(note, NULL, 10);
    assert_true(sleeper > 1);
    for (int i = 0; i < 500 && !is_dead(sleeper); i++)
        clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + 10000000);
    assert_true(is_dead(sleeper));
}

TEST(interruption_ends_the_script)
{
    atomic_int interrupted = 1;
    assert_int_equal(create_with("sleep 1000\n", 0, &interrupted, NULL), -EINTR);
}

FIXTURE(setup)
{
    snprintf(script_path, sizeof(script_path), "%s", rig_in("prepare"));
    snprintf(note_path, sizeof(note_path), "%s", rig_in("note"));
    return 0;
}

GROUP(setup, NULL);
