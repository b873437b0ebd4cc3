/* Tests of the whole program without measuring a disk: hostile input, seeds, output that is lost. What it
 * prints, and what users type wrong, stands in tests/golden. */
#include "tests/tuner/commands/cli_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    rig_simulator("noisy", "run_cv = 0.5; setup_seconds = 0.05;", rig_peak_bps);
    return 0;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define RECOMMEND "recommend --quiet --pattern randwrite "
#define MEASURE                                                                                              \
    "measure --quiet --pattern randwrite --request-size 4k --queue-depth 1 --direct 0 --api psync "

TEST(control_characters_do_not_break_the_line)
{
    static const char *const strange[] = {"two\nlines", "\033[2J", "\001"};
    for (size_t i = 0; i < N_OF(strange); i++) {
        rig_run(cli_next(), NULL, strange[i], NULL);
        rig_check_error(&run, 2, "is not a command");
        assert_null(strchr(run.err, '\033'));
        rig_run(cli_next(), NULL, "recommend", "--pattern", strange[i], NULL);
        cli_failed(2, "--pattern");
        rig_run(cli_next(), NULL, "recommend", "--pattern", "read", "--path", strange[i], NULL);
        cli_failed(2, "directory");
    }
}

TEST(very_long_arguments_are_refused_in_one_line)
{
    static char text[100000];
    memset(text, 'a', sizeof text - 1);
    static const char *const options[] = {"--pattern", "--path", "--config", "--api", "--current", "--seed"};
    rig_run(cli_next(), NULL, text, NULL);
    cli_failed(2, "fstune: 'aaa");
    for (size_t i = 0; i < N_OF(options); i++) {
        rig_run(cli_next(), NULL, "recommend", options[i], text, NULL);
        cli_failed(2, options[i]);
    }
}

/* That a seed that was given repeats it, tests/golden shows. */
TEST(a_drawn_seed_is_printed_and_repeats_the_run)
{
    rig_run_line(cli_next(), RECOMMEND "--simulate noisy.conf --budget 5s --json");
    json_int_t seed = cli_integer(cli_document(), "search.seed");
    AUTO(rig_free) struct rig_run first = cli_taken();
    char line[256];
    assert_true(seed >= 0);
    for (json_int_t other = 0; other < 2; other++) {
        snprintf(line, sizeof line, RECOMMEND "--simulate noisy.conf --budget 5s --json --seed %lld",
                 (long long)(seed ^ other));
        rig_run_line(cli_next(), line);
        assert_int_equal(strcmp(run.out, first.out) == 0, other == 0);
    }
}

/* One that goes on reads an empty file, and ends with 2. */
TEST(ctrl_c_ends_a_prediction_at_once)
{
    static const char *const arguments[] = {"advise", "write",          "--host", "pipe", "--total",
                                            "1m",     "--request-size", "4k",     NULL};
    assert_int_equal(mkfifo("pipe", 0600), 0);
    rig_start(cli_next(), NULL, arguments);
    int fd = open("pipe", O_WRONLY | O_CLOEXEC); /* waits for it to read */
    assert_true(fd >= 0);
    kill(run.pid, SIGINT);
    close(fd);
    rig_finish(&run);
    assert_int_equal(run.code, 130);
    assert_int_equal(unlink("pipe"), 0);
}

TEST(bytes_that_are_no_utf8_leave_json_valid)
{
    rig_write("strange.conf", "name = \"caf\xe9\"; points = \"peak.csv\";");
    json_t *document = cli_json(CLI_ANY, RECOMMEND "--simulate strange.conf --json --seed 1 --budget 5s");
    cli_has_text(document, "system.surface", "caf?");
}

static bool close_stdout(void)
{
    return close(STDOUT_FILENO) == 0;
}

static bool fill_stdout(void)
{
    return freopen("/dev/full", "w", stdout) != NULL;
}

TEST(output_that_is_lost_is_a_failure)
{
    static bool (*const ways[])(void) = {close_stdout, fill_stdout};
    static const char *const lines[] = {
        "--help",
        "--version",
        "measure --help",
        RECOMMEND "--simulate peak.conf --seed 1 --budget 5s",
        RECOMMEND "--simulate peak.conf --seed 1 --budget 5s --json",
        RECOMMEND "--simulate peak.conf --seed 1 --budget 5s --dry-run",
        RECOMMEND "--simulate peak.conf --dry-run --json",
        MEASURE "--simulate peak.conf",
        MEASURE "--simulate peak.conf --json",
        MEASURE "--simulate peak.conf --dry-run",
    };
    for (size_t i = 0; i < N_OF(ways); i++)
        for (size_t k = 0; k < N_OF(lines); k++)
            cli_fails_as(ways[i], 1, "cannot write the result to standard output", lines[k]);
}

TEST(who_asks_for_json_gets_a_document_of_the_refusal)
{
    static const struct {
        const char *line;
        int code;
        const char *error;
    } cases[] = {
        {"recommend --json", 2, "--pattern is missing"},
        {"recommend --format json", 2, "--pattern is missing"},
        {"recommend --format=json --pattern read --path absent", 2, "directory"},
        {"frobnicate --json", 2, "not a command"},
        {"history show 1 --db absent.db --json", 2, "absent.db"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        json_t *document = cli_json(cases[i].code, cases[i].line);
        cli_has_text(document, "schema", "fstune/error/1");
        assert_int_equal(cli_integer(document, "exit_code"), cases[i].code);
        assert_contains(json_string_value(json_at(document, "error")), cases[i].error);
    }
    cli_fails(2, "--pattern is missing", "recommend");
    assert_int_equal(run.out_size, 0);
}

TEST(a_table_has_a_row_for_each_measured_setting)
{
    size_t n = json_array_size(
        json_at(cli_json(CLI_ANY, RECOMMEND "--simulate peak.conf --seed 1 --budget 5s --json"), "points"));
    rig_run_line(cli_next(), RECOMMEND "--simulate peak.conf --seed 1 --budget 5s --format csv");
    assert_true(n > 10);
    assert_int_equal(count_of(run.out, "\r\n"), n + 1);
    assert_int_equal(count_of(run.out, ",recommended"), 1);
    assert_int_equal(count_of(run.out, ",baseline,"), 1);
    rig_run_line(cli_next(), RECOMMEND "--simulate peak.conf --seed 1 --budget 5s --format markdown");
    assert_int_equal(count_of(run.out, "\n| "), 12);
    assert_int_equal(count_of(run.out, "| recommended"), 1);
    assert_int_equal(count_of(run.out, "\n- **Use**: `--request-size "), 1);
}

TEST(a_table_has_no_place_for_more_than_its_rows)
{
    static const struct cli_failure cases[] = {
        {RECOMMEND "--simulate peak.conf --format csv --emit qemu",
         "--emit: --format csv has no place for it"},
        {RECOMMEND "--simulate peak.conf --format markdown --pareto", "--pareto: --format markdown has no"},
        {RECOMMEND "--simulate peak.conf --format csv --profiles", "--profiles: "},
        {RECOMMEND "--simulate peak.conf --format csv --fio-job", "--fio-job: "},
    };
    CLI_ALL_FAIL(2, cases);
}

TEST(what_would_be_passed_over_is_refused)
{
    static const struct cli_failure cases[] = {
        {MEASURE "--simulate peak.conf --existing peak.conf", "--existing and --simulate exclude each other"},
        {MEASURE "--simulate peak.conf --replays 3 --until-steady",
         "--replays and --until-steady exclude each other"},
    };
    CLI_ALL_FAIL(2, cases);
}

static bool close_stdin_and_stderr(void)
{
    return close(STDIN_FILENO) == 0 && close(STDERR_FILENO) == 0;
}

TEST(closed_stdin_and_stderr_do_no_harm)
{
    rig_run_line_as(cli_next(), close_stdin_and_stderr,
                    "recommend --pattern randwrite --simulate peak.conf --seed 1 --json");
    assert_int_equal(run.code, 0);
    cli_document();
}
