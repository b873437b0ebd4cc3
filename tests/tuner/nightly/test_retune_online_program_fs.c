/* Tests of tuner/nightly/retune_online_program: `fstune retune --online` beside programs that really run. */
#include "tests/tuner/commands/cli_rig.h"

#include <signal.h>
#include <sys/wait.h>

static char root[4096], here[256], data[64];
static pid_t writer;

/* The example of the documents; without a compiler there is none. */
FIXTURE(enter)
{
    char command[9000];
    if (getcwd(root, sizeof root) == NULL || rig_enter(test_state) != 0 || getcwd(here, sizeof here) == NULL)
        return -1;
    snprintf(command, sizeof command,
             "cc -O2 -Wall -Wextra -Werror -o writer %s/docs/examples/tunable_writer.c", root);
    return system(command) == 0 ? 0 : -1;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

static void write_config(const char *hook, const char *counter, const char *more)
{
    rig_write(
        "o.conf",
        "slice = \"40ms\"; regret = \"50%%\"; value_file = \"%s/values\"; hook = \"%s\"; %s; settings = ( { "
        "name = \"block\"; values = [512, 4096, 65536]; first = 512; } ); %s",
        here, hook, counter, more);
}

static void write_config_of_writer(const char *more)
{
    char hook[64], counter[300];
    snprintf(hook, sizeof hook, "kill -HUP %d", (int)writer);
    snprintf(counter, sizeof counter, "counter = \"%s/counter\"", here);
    write_config(hook, counter, more);
}

static void wait_for(const char *file)
{
    for (unsigned i = 0; i < 6000 && !rig_exists(file); i++)
        usleep(10000);
    assert_true(rig_exists(file));
}

/* In memory: what a disk has to do meanwhile is no matter of block sizes. */
static void start_writer(void)
{
    snprintf(data, sizeof data, "%s-%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm/fstune-test" : "data",
             (int)getpid());
    writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        execl("./writer", "writer", data, "values", "counter", (char *)NULL);
        _exit(99);
    }
    wait_for("counter");
}

FIXTURE(clean)
{
    return system("rm -rf values counter history *.log .fstune*") == 0 ? 0 : -1;
}

FIXTURE(stop_writer)
{
    if (writer > 0) {
        kill(writer, SIGKILL);
        waitpid(writer, NULL, 0);
        unlink(data);
    }
    writer = 0;
    return 0;
}

EACH_TEST(clean, stop_writer);

static const char *const online[] = {"retune", "--online", "--config", "o.conf", NULL};

static const char *read_values(void)
{
    static char text[64];
    FILE *file = fopen("values", "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static bool is_larger_block(const char *text)
{
    return strcmp(text, "block=4096\n") == 0 || strcmp(text, "block=65536\n") == 0;
}

static void stop(int number)
{
    assert_int_equal(kill(run.pid, number), 0);
    rig_finish(&run);
}

/* A search on a machine busy with other things may prove nothing, and then the first setting stays. */
static void tune_until_it_is_found(void)
{
    for (unsigned i = 0; i < 5; i++) {
        unlink("history");
        rig_start(cli_next(), NULL, online);
        wait_for("history");
        stop(SIGINT);
        assert_int_equal(run.code, 128 + SIGINT);
        if (is_larger_block(read_values()))
            return;
    }
    fail_msg("%s", run.out);
}

TEST(a_faster_block_size_is_found_and_stays_after_a_signal)
{
    start_writer();
    write_config_of_writer("history = \"history\";");
    tune_until_it_is_found();
    assert_non_null(strstr(run.out, "begins with: block=512\n"));
    assert_non_null(strstr(run.out, "times the rate of what ran first\n"));
    assert_non_null(strstr(run.out, "in force: block="));
    /* The next session begins with it, and searches no more. */
    write_config_of_writer("history = \"history\"; duration = \"1s\";");
    json_t *document = cli_json(0, "retune --online --config o.conf --json");
    cli_has_text(document, "schema", "fstune/online/1");
    assert_non_null(strstr(run.err, "begins with: block="));
    assert_null(strstr(run.err, "begins with: block=512"));
}

TEST(a_kill_leaves_a_whole_file_and_no_litter_for_long)
{
    start_writer();
    write_config_of_writer("");
    for (unsigned i = 0; i < 10; i++) {
        rig_start(cli_next(), NULL, online);
        usleep(200000 + 37000 * i);
        stop(SIGKILL);
        const char *values = read_values();
        if (strcmp(values, "block=512\n") != 0 && !is_larger_block(values))
            fail_msg("'%s'", values);
    }
    write_config_of_writer("duration = \"1s\";");
    cli_prints_alone(0, "retune --online --config o.conf --quiet", "in force: block=", NULL);
    assert_int_equal(system("ls -A | grep -q 'fstune-.*new' && exit 1 || exit 0"), 0);
}

TEST(a_hook_that_fails_puts_the_first_setting_back)
{
    start_writer();
    write_config("echo it is gone; echo x >>hook.log; test $(wc -l <hook.log) -ne 2",
                 "counter_command = \"cat counter\"", "");
    rig_run_line(cli_next(), "retune --online --config o.conf --quiet");
    assert_int_equal(run.code, 1);
    if (strstr(
            run.err,
            "the hook command failed with exit code 1: it is gone; the first setting is back: block=512") ==
        NULL)
        fail_msg("%s", run.err);
    assert_string_equal(read_values(), "block=512\n");
}

TEST(a_hook_that_hangs_is_killed)
{
    rig_write("counter", "%s", "1");
    write_config("sleep 100", "counter = \"counter\"", "hook_timeout = \"1s\";");
    cli_fails(1, "the hook command did not end within 1.00 s and was killed",
              "retune --online --config o.conf");
}

static const struct {
    const char *counter, *words;
} counters[] = {
    {"counter = \"absent\"", "counter absent: cannot be opened"},
    {"counter = \"/\"", "counter /: cannot be read"},
    {"counter_command = \"true\"", "the counter says ''"},
    {"counter_command = \"echo -5\"", "the counter says '-5', which is no number"},
    {"counter_command = \"echo 9223372036854775808\"", "which is no number of 0 to 2^63 - 1"},
    {"counter_command = \"echo 18446744073709551616\"", "which is no number of 0 to 2^63 - 1"},
    {"counter_command = \"echo 5 a/b\"", "the counter says 'a/b', which is no word for a load"},
    {"counter_command = \"echo 1; exit 7\"", "counter_command: failed with exit code 7"},
    {"counter_command = \"kill -9 $$\"", "counter_command: was ended by signal 9"},
    {"counter_command = \"sleep 100\"; hook_timeout = \"1s\"", "counter_command: "},
};

TEST(a_counter_that_cannot_be_read_changes_nothing)
{
    for (size_t i = 0; i < N_OF(counters); i++) {
        write_config("true", counters[i].counter, "");
        cli_fails(1, counters[i].words, "retune --online --config o.conf");
        assert_false(rig_exists("values"));
    }
}

/* A program that writes its counter anew empties it first. */
TEST(a_counter_that_is_empty_for_a_moment_is_read_again)
{
    rig_write("counter", "%s", "");
    write_config("true", "counter = \"counter\"", "duration = \"1s\";");
    rig_start(cli_next(), NULL, online);
    usleep(50000);
    rig_write("counter", "%s", "5 some-load\n");
    rig_finish(&run);
    assert_int_equal(run.code, 0);
    assert_non_null(strstr(run.out, "some-load: not settled, 0 trials"));
}

TEST(one_fstune_at_a_time_works_in_a_directory)
{
    start_writer();
    write_config_of_writer("");
    rig_start(cli_next(), NULL, online);
    wait_for("values");
    struct rig_run first = cli_taken();
    cli_fails(1, "another fstune works in this directory", "retune --online --config o.conf");
    kill(first.pid, SIGTERM);
    rig_finish(&first);
    assert_int_equal(first.code, 128 + SIGTERM);
    rig_free(&first);
}

TEST(a_plan_changes_nothing)
{
    rig_write("counter", "%s", "7 reads");
    write_config("touch hook.log", "counter = \"counter\"", "");
    cli_prints_alone(0, "retune --online --config o.conf --dry-run", "block=512 runs first",
                     "would hold:\nblock=512\n", "the counter is at 7, load reads", NULL);
    json_t *document = cli_json(0, "retune --online --config o.conf --dry-run --json");
    cli_has_text(document, "kind", "reads");
    assert_false(rig_exists("values"));
    assert_false(rig_exists("hook.log"));
}

#define HISTORY                                                                                              \
    "{\"format\": \"fstune/online-history/1\", \"kinds\": [{\"kind\": \"reads\", \"setting\": "              \
    "\"block=65536\", \"gain\": 2.0}]}"

TEST(a_plan_says_what_a_session_begins_with)
{
    rig_write("counter", "%s", "9223372036854775807 reads");
    rig_write("history", "%s", HISTORY);
    write_config("true", "counter = \"counter\"", "history = \"history\"; duration = \"1s\";");
    cli_prints_alone(0, "retune --online --config o.conf --dry-run", "block=65536 runs first",
                     "would hold:\nblock=65536\n", NULL);
    json_t *document = cli_json(0, "retune --online --config o.conf --dry-run --json");
    CHECK_JSON(document, "first=block=65536", "text=block=65536\n", "counter=9223372036854775807");
    cli_prints_alone(0, "retune --online --config o.conf", "begins with: block=65536\n", NULL);
    rig_write("history", "%s", "[]");
    cli_fails(2, "history history: it is no history of this program",
              "retune --online --config o.conf --dry-run");
}

TEST(bytes_that_are_no_utf8_are_question_marks_in_a_plan)
{
    char expected[300];
    rig_write("counter", "%s", "7");
    rig_write(
        "o.conf",
        "value_file = \"%s/val\xfc\"; template = \"\xfc{a}\"; counter = \"counter\"; settings = ( { name = "
        "\"a\"; values = [1, 2]; first = 1; } );",
        here);
    json_t *document = cli_json(0, "retune --online --config o.conf --dry-run --json");
    snprintf(expected, sizeof expected, "%s/val?", here);
    cli_has_text(document, "value_file", expected);
    cli_has_text(document, "text", "?1");
}

/* The file was a night's, which was killed while it changed it. */
TEST(what_a_killed_night_left_is_cleared_away)
{
    rig_write("counter", "%s", "7");
    rig_write("values", "%s", "block=4096\n");
    rig_write(".fstune-kept.values", "%s", "block=512\n");
    rig_write(".fstune-applying.values", "%s", "change 1\n");
    write_config("true", "counter = \"counter\"", "duration = \"1s\";");
    cli_prints_alone(0, "retune --online --config o.conf", "in force: block=512", NULL);
    assert_false(rig_exists(".fstune-kept.values") || rig_exists(".fstune-applying.values"));
    assert_string_equal(read_values(), "block=512\n");
}

TEST(a_file_that_is_not_ours_is_refused)
{
    rig_write("counter", "%s", "7");
    write_config("true", "counter = \"counter\"", "");
    assert_int_equal(symlink("counter", "values"), 0);
    cli_fails(1, "is a symbolic link", "retune --online --config o.conf");
    assert_int_equal(system("rm values; mkdir -m 777 open"), 0);
    rig_write("o.conf",
              "value_file = \"%s/open/values\"; counter = \"counter\"; settings = ( { name = \"a\"; values = "
              "[1, 2]; first = "
              "1; } );",
              here);
    cli_fails(1, "value_file: ", "retune --online --config o.conf");
}

static const struct cli_failure of_nights[] = {
    {"retune --online", "--config is missing"},
    {"retune --online --config o.conf --db x", "--db: is of nights"},
    {"retune --online --config o.conf --target x", "--target: is of nights"},
    {"retune --online --config o.conf --force", "--force: is of nights"},
    {"retune --online --config o.conf --prometheus x", "--prometheus: is of nights"},
    {"retune rollback --online --config o.conf", "rollback: is of nights"},
    {"retune --config o.conf", "o.conf:1: slice: unknown setting"},
};

TEST(what_is_of_nights_is_refused)
{
    write_config("true", "counter = \"counter\"", "");
    CLI_ALL_FAIL(2, of_nights);
}
