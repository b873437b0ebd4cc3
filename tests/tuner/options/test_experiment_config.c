/* Tests of tuner/options/experiment_config: files of experiments, several values, tests in one file. */
#include "tests/tuner/experiment/experiment_rig.h"

#include "tuner/options/options.h"

#include <errno.h>

GROUP(rig_enter, rig_leave);

#define FILE_SIZES (FACTOR_N + CONDITION_FILE_SIZE)
#define FILES      (FACTOR_N + CONDITION_FILES)
#define ALIGNMENTS (FACTOR_N + CONDITION_ALIGNMENT)
#define PATTERNS   (FACTOR_N + CONDITION_PATTERN)

static void check_levels(size_t test, size_t factor, size_t n, uint64_t first, uint64_t last)
{
    const struct levels *levels = experiment_config_levels(&settings, test, factor);
    assert_int_equal(levels->n, n);
    assert_true(levels->value[0] == first && levels->value[n - 1] == last);
}

static void check_refused(const char *text, const char *part)
{
    rig_write("bad.conf", "%s", text);
    assert_int_equal(read_line("bad.conf"), -EINVAL);
    if (strstr(err.text, part) == NULL)
        fail_msg("no '%s' in: %s", part, err.text);
}

TEST(levels_are_texts_lists_and_ranges)
{
    rig_write("a.conf",
              "pattern = [\"read\", \"randwrite\"]; request_size = \"4k..1m\"; queue_depth = [1, 8];\n"
              "cache = \"warm,cold\"; file_size = ( \"1g\", \"128m\" ); direct = 1;\n");
    assert_int_equal(read_line("a.conf"), 0);
    check_levels(0, FACTOR_REQUEST_SIZE, 9, 4096, 1U << 20);
    check_levels(0, FACTOR_QUEUE_DEPTH, 2, 1, 8);
    check_levels(0, FACTOR_DIRECT, 1, 1, 1);
    check_levels(0, FACTOR_N + CONDITION_CACHE, 2, MEASURE_CACHE_COLD, MEASURE_CACHE_WARM);
    check_levels(0, FILE_SIZES, 2, 128U << 20, 1U << 30);
    check_levels(0, PATTERNS, 2, 0, 1);
    assert_string_equal(settings.experiment.patterns[1].name, "randwrite");
}

TEST(the_file_is_as_large_as_the_largest_level)
{
    assert_int_equal(read_line("--pattern read --file-size 128m,512m,256m"), 0);
    assert_true(settings.file.size_given && settings.file.size_bytes == 512U << 20);
    assert_int_equal(read_line("--pattern read"), 0);
    assert_false(settings.file.size_given);
}

TEST(numbers_of_files_and_alignments_are_levels)
{
    rig_write("a.conf", "pattern = \"read\"; files = [8, 1]; alignment = \"512..2k\";\n"
                        "tests = ( { files = 16; }, { request_size = \"8k\"; } );\n");
    assert_int_equal(read_line("a.conf"), 0);
    check_levels(0, FILES, 1, 16, 16);
    check_levels(1, FILES, 2, 1, 8);
    check_levels(1, ALIGNMENTS, 3, 512, 2048);
    /* The session's own target has the most files. */
    assert_int_equal(settings.file.n, 16);
    assert_int_equal(settings.workload.alignment_bytes, 2048);
    assert_int_equal(settings.experiment.order[1], FILES);
    assert_int_equal(read_line("--pattern read --alignment 700"), -EINVAL);
    assert_int_equal(read_line("--pattern read --files 0"), -EINVAL);
    assert_int_equal(read_line("--pattern read"), 0);
    assert_int_equal(settings.file.n, 1);
    assert_int_equal(settings.workload.alignment_bytes, 0);
}

TEST(the_command_line_wins)
{
    rig_write("a.conf", "pattern = \"read\"; queue_depth = \"1,4\"; replays = 7; duration = \"1s\";\n");
    assert_int_equal(read_line("--queue-depth 2 a.conf --replays 3"), 0);
    check_levels(0, FACTOR_QUEUE_DEPTH, 1, 2, 2);
    assert_int_equal(settings.runs.replays, 3);
    assert_int_equal(settings.runs.duration_ns, CLOCK_NS_PER_S);
    assert_int_equal(settings.runs.warmup_limit_ns, 30 * CLOCK_NS_PER_S);
}

TEST(a_pattern_that_writes_speaks_for_all)
{
    assert_int_equal(read_line("--pattern read,randwrite,write"), 0);
    assert_int_equal(settings.workload.pattern.percent[PATTERN_RAND_WRITE], 100);
    assert_string_equal(settings.workload.pattern.name, "read,randwrite,write");
}

TEST(shares_end_where_they_sum_to_100)
{
    assert_int_equal(read_line("--pattern seq-read=40,rand-write=60,seq-read=20,rand-write=80,read"), 0);
    check_levels(0, PATTERNS, 3, 0, 2);
    assert_string_equal(settings.experiment.patterns[1].name, "seq-read=20,rand-write=80");
    assert_int_equal(read_line("--pattern read,seq-read=40"), -EINVAL);
}

TEST(a_test_takes_the_rest_from_the_file)
{
    rig_write("a.conf", "queue_depth = 4; pattern = \"read\";\n"
                        "tests = ( { name = \"large\"; request_size = \"1m\"; pattern = \"write\"; },\n"
                        "          { request_size = \"4k,8k\"; } );\n");
    assert_int_equal(read_line("a.conf"), 0);
    assert_int_equal(experiment_config_n_tests(&settings), 2);
    assert_string_equal(settings.experiment.tests[0].name, "large");
    check_levels(0, FACTOR_REQUEST_SIZE, 1, 1U << 20, 1U << 20);
    check_levels(1, FACTOR_REQUEST_SIZE, 2, 4096, 8192);
    check_levels(1, FACTOR_QUEUE_DEPTH, 1, 4, 4);
    const struct levels *patterns = experiment_config_levels(&settings, 0, PATTERNS);
    assert_string_equal(settings.experiment.patterns[patterns->value[0]].name, "write");
    assert_int_equal(read_line("a.conf --request-size 64k"), 0);
    check_levels(0, FACTOR_REQUEST_SIZE, 1, 65536, 65536);
    check_levels(1, FACTOR_REQUEST_SIZE, 1, 65536, 65536);
}

TEST(errors_name_file_line_and_key)
{
    check_refused("pattern = \"read\";\nquque_depth = 4;\n", "bad.conf:2: quque_depth: unknown setting");
    check_refused("pattern = \"read\";\ntests = ( { direct = 2; } );\n", "bad.conf:2: tests: line 2: direct");
    check_refused("tests = ( { replays = 2; } );\n", "outside of the tests");
    check_refused("tests = ( { tests = ( { direct = 1; } ); } );\n", "outside of the tests");
    check_refused("tests = ( { name = 3; } );\n", "line 1: name: wants a text");
    check_refused("tests = ();\n", "1 to 16 tests");
    check_refused("tests = ( 3 );\n", "a group in braces");
    check_refused("request_size = \"4k\";\n", "--pattern is missing");
    check_refused("pattern = \"read\"; design = \"sobol\";\n", "sobol:16");
    check_refused("pattern = \"read\"; design = \"half\";\n", "'half' is unknown");
    check_refused("pattern = \"read\"; budget = 5;\n", "budget");
}

TEST(other_commands_still_take_one_value)
{
    struct settings one;
    struct err why = {0};
    char *argv[] = {(char *)"recommend", (char *)"--pattern", (char *)"read,write"};
    settings_init(&one);
    assert_int_equal(options_parse(&one, OPTIONS_RECOMMEND, 3, argv, &why), -EINVAL);
}
