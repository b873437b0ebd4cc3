/* Tests of the whole program without measuring a disk: what users type wrong, help, simulated runs, exit
 * codes. */
#include "tests/tuner/commands/cli_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    rig_simulator("noisy", "run_cv = 0.5; setup_seconds = 0.05;", rig_peak_bps);
    rig_write_blocks("data", 1 << 20);
    rig_write("bad.conf", "pattern = \"read\";\nrequest_size = 5000;\n");
    rig_write("unknown.conf", "pattern = \"read\";\n\npatern = \"read\";\n");
    rig_write("lost.conf", "points = \"lost.csv\";\n");
    return mkdir("dir", 0755);
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define RECOMMEND "recommend --quiet --pattern randwrite "
#define MEASURE                                                                                              \
    "measure --quiet --pattern randwrite --request-size 4k --queue-depth 1 --direct 0 --api psync "

static const struct cli_failure wrong_inputs[] = {
    {"", "a command is missing"},
    {"frobnicate", "'frobnicate' is not a command"},
    {"recomend", "did you mean recommend?"},
    {"--json", "'--json' is not a command"},
    {"-x", "'-x' is not a command"},
    {"recommend", "--pattern is missing"},
    {"measure", "--pattern is missing"},
    {"recommend --patern read", "did you mean --pattern?"},
    {"recommend --xyzzy", "--xyzzy: unknown option"},
    {"recommend --replays 3", "--replays: this command has no such option"},
    {"recommend --pattern", "--pattern: the value is missing"},
    {"recommend --pattern --json", "--pattern: the value is missing"},
    {"recommend --pattern=", "--pattern: "},
    {"recommend --pattern red", "red"},
    {"recommend --pattern rw:101", "101"},
    {"recommend --pattern seq-read=40,rand-write=50", "100"},
    {RECOMMEND "stray", "'stray' is not an option"},
    {RECOMMEND "-q", "'-q' is not an option"},
    {RECOMMEND "--json=yes", "--json: "},
    {RECOMMEND "--request-size 5000", "5000"},
    {RECOMMEND "--accept existing_has_hole", "did you mean existing_has_holes?"},
    {MEASURE "--accept everything", "everything"},
    {RECOMMEND "--request-size 4q", "4q"},
    {RECOMMEND "--request-size 1g", "--request-size: "},
    {RECOMMEND "--request-size 64k..4k", "--request-size: "},
    {RECOMMEND "--queue-depth 0", "--queue-depth: "},
    {RECOMMEND "--queue-depth 1025", "--queue-depth: "},
    {RECOMMEND "--queue-depth -1", "--queue-depth: "},
    {RECOMMEND "--direct 2", "--direct: "},
    {RECOMMEND "--api uring", "--api: "},
    {RECOMMEND "--threads 65", "--threads: "},
    {RECOMMEND "--sync often", "--sync: "},
    {RECOMMEND "--budget 60", "--budget: "},
    {RECOMMEND "--budget 0s", "--budget: "},
    {RECOMMEND "--tolerance 3", "--tolerance: "},
    {RECOMMEND "--tolerance 0%", "--tolerance: "},
    {RECOMMEND "--confidence 100%", "--confidence: "},
    {RECOMMEND "--objective speed", "--objective: "},
    {RECOMMEND "--method magic", "--method: "},
    {RECOMMEND "--cache hot", "--cache: "},
    {RECOMMEND "--seed -1", "--seed: "},
    {RECOMMEND "--seed 9223372036854775808", "--seed: "},
    {RECOMMEND "--max-write -5", "--max-write: "},
    {RECOMMEND "--max-latency-p99 10", "--max-latency-p99: "},
    {RECOMMEND "--current frequency=1", "--current: "},
    {RECOMMEND "--config absent.conf", "absent.conf"},
    {RECOMMEND "--config bad.conf", "bad.conf:2: request_size: "},
    {RECOMMEND "--config unknown.conf", "unknown.conf:3: patern: "},
    {RECOMMEND "--config dir", "dir"},
    {RECOMMEND "--simulate absent.conf", "absent.conf"},
    {RECOMMEND "--simulate lost.conf", "lost.csv"},
    {RECOMMEND "--simulate dir", "dir"},
    {RECOMMEND "--simulate peak.csv", "peak.csv:1"},
    {RECOMMEND "--simulate peak.conf --request-size 512", "--request-size"},
    {RECOMMEND "--simulate peak.conf --sync none", "--sync"},
    {RECOMMEND "--simulate peak.conf --objective latency", "--request-size"},
    {RECOMMEND "--simulate peak.conf --method grid --budget 2s", "--budget"},
    {RECOMMEND "--simulate peak.conf --current threads=2", "--current"},
    {"recommend --quiet --pattern read --simulate peak.conf", "pattern read"},
    {RECOMMEND "--path absent", "absent"},
    {RECOMMEND "--path data", "data"},
    {RECOMMEND "--file-size 1", "--file-size"},
    {RECOMMEND "--objective latency", "--request-size"},
    {RECOMMEND "--api psync --queue-depth 2", "psync"},
    {"measure --pattern read", "--request-size is missing"},
    {"measure --pattern read --request-size 4k", "--queue-depth is missing"},
    {"measure --pattern read --request-size 4k --queue-depth 1 --direct 0", "--api is missing"},
    {"measure --pattern read --request-size 4k,8k", "--request-size: "},
    {MEASURE "--replays 0", "--replays: "},
    {MEASURE "--duration 1ms", "--duration: "},
    {MEASURE "--queue-depth 2", "psync"},
    {MEASURE "--simulate peak.conf --sync none", "--sync"},
    {MEASURE "--simulate peak.conf --threads 2", "2 threads"},
};

TEST(every_wrong_input_is_one_line_and_exit_code_2)
{
    CLI_ALL_FAIL(2, wrong_inputs);
}

TEST(control_characters_do_not_break_the_line)
{
    static const char *const strange[] = {"two\nlines", "\033[2J", "\001"};
    for (size_t i = 0; i < RIG_COUNT(strange); i++) {
        rig_run(&run, NULL, strange[i], NULL);
        rig_check_error(&run, 2, "is not a command");
        assert_null(strchr(run.err, '\033'));
        rig_free(&run);
        rig_run(&run, NULL, "recommend", "--pattern", strange[i], NULL);
        cli_failed(2, "--pattern");
        rig_run(&run, NULL, "recommend", "--pattern", "read", "--path", strange[i], NULL);
        cli_failed(2, "directory");
    }
}

TEST(very_long_arguments_are_refused_in_one_line)
{
    static char text[100000];
    memset(text, 'a', sizeof text - 1);
    static const char *const options[] = {"--pattern", "--path", "--config", "--api", "--current", "--seed"};
    rig_run(&run, NULL, text, NULL);
    cli_failed(2, "fstune: 'aaa");
    for (size_t i = 0; i < RIG_COUNT(options); i++) {
        rig_run(&run, NULL, "recommend", options[i], text, NULL);
        cli_failed(2, options[i]);
    }
}

TEST(help_names_every_command_and_goes_to_stdout)
{
    static const struct {
        const char *line, *part;
    } lines[] = {{"--help", "recommend"},
                 {"--help", "measure"},
                 {"-h", "Example"},
                 {"recommend --help", "--max-latency-p99"},
                 {"measure --help", "--replays"},
                 {"recommend -h", "--budget"},
                 {"recommend --pattern read --help", "--tolerance"}};
    for (size_t i = 0; i < RIG_COUNT(lines); i++)
        cli_prints_alone(0, lines[i].line, lines[i].part, "Example", NULL);
    cli_prints_alone(0, "--version", "fstune " FSTUNE_VERSION "\n", NULL);
}

TEST(the_same_seed_gives_the_same_bytes)
{
    static const char *const lines[] = {RECOMMEND "--simulate noisy.conf --budget 10s --json --seed ",
                                        RECOMMEND "--simulate noisy.conf --budget 10s --seed ",
                                        MEASURE "--simulate noisy.conf --json --seed ",
                                        MEASURE "--simulate noisy.conf --seed "};
    for (size_t i = 0; i < RIG_COUNT(lines); i++) {
        struct rig_run runs[3];
        static const char *const seeds[] = {"1", "1", "2"};
        for (size_t k = 0; k < 3; k++) {
            char line[256];
            snprintf(line, sizeof line, "%s%s", lines[i], seeds[k]);
            rig_run_line(&run, line);
            runs[k] = run;
        }
        assert_true(runs[0].out_size > 100);
        assert_string_equal(runs[0].out, runs[1].out);
        assert_string_equal(runs[0].err, "");
        assert_string_not_equal(runs[0].out, runs[2].out);
        for (size_t k = 0; k < 3; k++)
            rig_free(&runs[k]);
    }
}

TEST(a_drawn_seed_is_printed_and_repeats_the_run)
{
    rig_run_line(&run, RECOMMEND "--simulate noisy.conf --budget 5s --json");
    json_t *document = rig_json(&run);
    json_int_t seed = cli_integer(document, "search.seed");
    struct rig_run first = run;
    char line[256];
    assert_true(seed >= 0);
    snprintf(line, sizeof line, RECOMMEND "--simulate noisy.conf --budget 5s --json --seed %lld",
             (long long)seed);
    rig_run_line(&run, line);
    assert_string_equal(run.out, first.out);
    json_decref(document);
    rig_free(&first);
    rig_free(&run);
}

TEST(exit_codes_say_how_it_ended)
{
    static const struct {
        const char *line;
        int code;
    } cases[] = {
        {RECOMMEND "--json --simulate peak.conf --seed 1", 0},
        {RECOMMEND "--json --simulate noisy.conf --seed 1 --budget 5s", 3},
        {RECOMMEND "--json --simulate peak.conf --seed 1 --max-latency-p99 1us", 5},
        {RECOMMEND "--json --simulate peak.conf --seed 1 --max-write 1k", 5},
        {MEASURE "--json --simulate peak.conf", 0},
    };
    for (size_t i = 0; i < RIG_COUNT(cases); i++) {
        rig_run_line(&run, cases[i].line);
        assert_int_equal(run.code, cases[i].code);
        assert_string_equal(run.err, "");
        json_t *document = rig_json(&run), *recommendation = json_object_get(document, "recommendation");
        assert_true(json_is_false(json_object_get(document, "interrupted")));
        assert_true(cases[i].code != 5 || json_is_null(recommendation));
        assert_true(cases[i].code == 5 || i == 4 || json_is_object(recommendation));
        json_decref(document);
        rig_free(&run);
    }
}

TEST(text_names_the_options_to_use)
{
    rig_run_line(&run, RECOMMEND "--simulate peak.conf --seed 1");
    assert_int_equal(run.code, 0);
    assert_non_null(strstr(run.out, "--request-size 64k --queue-depth 4 --direct 1 --api io_uring"));
    assert_null(strstr(run.out, "nan"));
    rig_free(&run);
    cli_prints(5, RECOMMEND "--simulate peak.conf --seed 1 --max-latency-p99 1us", "No recommendation", NULL);
}

TEST(the_plan_precedes_a_run_unless_quiet)
{
    rig_run_line(&run, "recommend --pattern randwrite --simulate peak.conf --seed 1 --json");
    assert_true(strncmp(run.err, "plan: ", 6) == 0);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1);
    json_decref(rig_json(&run));
    rig_free(&run);
}

TEST(a_measurement_has_its_schema)
{
    static const char *const keys[] = {"schema", "pattern",    "row", "throughput",
                                       "iops",   "latency_ns", "runs"};
    json_t *document = cli_json(CLI_ANY, MEASURE "--simulate peak.conf --json --replays 2 --seed 1");
    for (size_t i = 0; i < RIG_COUNT(keys); i++)
        assert_non_null(json_object_get(document, keys[i]));
    cli_has_text(document, "schema", "fstune/measurement/1");
    assert_int_equal(json_array_size(json_object_get(document, "runs")), 2);
    assert_true(json_is_null(cli_at(document, "throughput.ci_low")));
    json_decref(document);
}

TEST(a_measurement_out_of_write_budget_reports_the_replays_made)
{
    json_t *document = cli_json(0, MEASURE "--simulate peak.conf --json --seed 1 --max-write 1500m"),
           *warnings = json_object_get(document, "warnings");
    size_t n = json_array_size(json_object_get(document, "runs"));
    assert_true(n >= 1 && n < 5);
    assert_true(cli_integer(document, "bytes_written") <= 1500 << 20);
    assert_string_equal(json_string_value(json_object_get(json_array_get(warnings, 0), "code")), "max_write");
    json_decref(document);
}

TEST(bytes_that_are_no_utf8_leave_json_valid)
{
    rig_write("strange.conf", "name = \"caf\xe9\"; points = \"peak.csv\";");
    json_t *document = cli_json(CLI_ANY, RECOMMEND "--simulate strange.conf --json --seed 1 --budget 5s");
    cli_has_text(document, "system.surface", "caf?");
    json_decref(document);
}

TEST(a_configuration_file_is_read_and_the_command_line_wins)
{
    rig_write("fine.conf",
              "pattern = \"randwrite\"; simulate = \"peak.conf\"; seed = 5; json = true; quiet = true;\n"
              "budget = \"5s\"; request_size = [\"4k\", \"64k\"];\n");
    json_t *document = cli_json(CLI_ANY, "recommend --config fine.conf --seed 6"),
           *search = json_object_get(document, "search");
    assert_int_equal(cli_integer(search, "seed"), 6);
    assert_int_equal(cli_integer(search, "space_points"), 2 * 2 * (1 + 3));
    json_decref(document);
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
    for (size_t i = 0; i < RIG_COUNT(ways); i++)
        for (size_t k = 0; k < RIG_COUNT(lines); k++)
            cli_fails_as(ways[i], 1, "cannot write the result to standard output", lines[k]);
}

static bool close_stdin_and_stderr(void)
{
    return close(STDIN_FILENO) == 0 && close(STDERR_FILENO) == 0;
}

TEST(closed_stdin_and_stderr_do_no_harm)
{
    rig_run_line_as(&run, close_stdin_and_stderr,
                    "recommend --pattern randwrite --simulate peak.conf --seed 1 --json");
    assert_int_equal(run.code, 0);
    json_decref(cli_document());
}
