/* Tests of tuner/options/config: files in a temporary directory that the tests work in, and the scan on
 * texts. */
#include "tests/tuner/options/options_rig.h"
#include "tuner/options/config.h"
#include "tuner/session/warnings.h"

#include <libconfig.h>

static const char file_name[] = "nightly.conf";

static void write_bytes(const char *text, size_t length)
{
    FILE *stream = fopen(file_name, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, length, stream), length);
    assert_int_equal(fclose(stream), 0);
}

static void write_text(const char *text)
{
    write_bytes(text, strlen(text));
}

static int read_text(const char *text)
{
    write_text(text);
    settings_init(&settings);
    memset(&err, 0, sizeof(err));
    return config_read_settings(file_name, NULL, &settings, OPTIONS_RECOMMEND, &err);
}

TEST(every_kind_of_value_is_read)
{
    assert_int_equal(read_text("# nightly\n"
                               "pattern = \"randwrite\"; path = \"/srv\"\n"
                               "request_size = [ \"64k\", \"4k\" ];\n"
                               "queue_depth = ( 8, \"1..2\" );\n"
                               "threads = 4; direct = true;\n"
                               "api = \"psync,io_uring\";\n"
                               "file_size = 8589934592L; max_write = 1073741824;\n"
                               "tolerance = 0.05; confidence = \"99%\"; warmup_coef = 1.0;\n"
                               "budget = \"2m\"; quiet = true; json = false; seed = 7;\n"
                               "current = \"request_size=4k\"; method = \"random\";\n"),
                     0);
    assert_string_equal(settings.workload.pattern.name, "randwrite");
    assert_true(settings.workload.pattern_given && settings.file.size_given && settings.seed_given);
    assert_string_equal(settings.file.path, "/srv");
    assert_int_equal(settings.workload.levels[FACTOR_REQUEST_SIZE].n, 2);
    assert_int_equal(settings.workload.levels[FACTOR_REQUEST_SIZE].value[0], 4096);
    assert_int_equal(settings.workload.levels[FACTOR_QUEUE_DEPTH].n, 3);
    assert_int_equal(settings.workload.levels[FACTOR_QUEUE_DEPTH].value[2], 8);
    assert_int_equal(settings.workload.levels[FACTOR_THREADS].value[0], 4);
    assert_int_equal(settings.workload.levels[FACTOR_DIRECT].n, 1);
    assert_int_equal(settings.workload.levels[FACTOR_DIRECT].value[0], 1);
    assert_int_equal(settings.workload.levels[FACTOR_API].n, 2);
    assert_true(settings.file.size_bytes == 8589934592);
    assert_int_equal(settings.limits.max_write_bytes, 1073741824);
    assert_close(settings.search.tolerance_share, 0.05, 0.0);
    assert_close(settings.runs.confidence_share, 0.99, 0.0);
    assert_close(settings.runs.warmup_coef_share, 1.0, 0.0);
    assert_int_equal(settings.limits.budget_ns, 120 * NS_PER_S);
    assert_true(settings.quiet && !settings.json);
    assert_int_equal(settings.search.current.value[FACTOR_REQUEST_SIZE], 4096);
    assert_string_equal(settings.search.method, "random");
}

TEST(direct_takes_integers_and_lists)
{
    assert_int_equal(read_text("direct = [ 0, 1 ];"), 0);
    assert_int_equal(settings.workload.levels[FACTOR_DIRECT].n, 2);
    assert_int_equal(read_text("direct = (false, true);"), 0);
    assert_int_equal(settings.workload.levels[FACTOR_DIRECT].n, 2);
    assert_int_equal(read_text("direct = 1;"), 0);
    assert_int_equal(settings.workload.levels[FACTOR_DIRECT].value[0], 1);
}

TEST(codes_are_text_or_lists_of_text)
{
    uint64_t both = WARNINGS_BIT(WARNING_NOT_COLD) | WARNINGS_BIT(WARNING_STEAL);
    assert_int_equal(read_text("accept = \"steal,not_cold\";"), 0);
    assert_int_equal(settings.runs.accept, both);
    assert_int_equal(read_text("accept = [\"not_cold\", \"steal\"];"), 0);
    assert_int_equal(settings.runs.accept, both);
    assert_int_equal(read_text("accept = \"not_colt\";"), -EINVAL);
    assert_non_null(strstr(err.text, "did you mean not_cold?"));
}

TEST(empty_file_changes_nothing)
{
    struct settings before;
    settings_init(&before);
    assert_int_equal(read_text(""), 0);
    assert_memory_equal(&settings, &before, sizeof(settings));
}

TEST(settings_of_another_command_are_accepted)
{
    assert_int_equal(read_text("replays = 7; budget = \"30s\";"), 0);
    assert_int_equal(settings.runs.replays, 7);
    settings_init(&settings);
    assert_int_equal(config_read_settings(file_name, NULL, &settings, OPTIONS_MEASURE, &err), 0);
    assert_int_equal(settings.limits.budget_ns, 30 * NS_PER_S);
}

/* Two more are in tests/golden/expected/wrong. */
TEST(faults_are_named_with_file_and_line)
{
    static const struct {
        const char *text, *message;
    } faults[] = {
        {"request_size = [ \"4k\",\n \"5000\" ];\n",
         "nightly.conf:1: request_size: 5000 is not a multiple of 512; use 4608 or 5120"},
        {"request-size = \"4k\";",
         "nightly.conf:1: request-size: unknown setting; did you mean request_size?"},
        {"zzz = 1;", "nightly.conf:1: zzz: unknown setting; see fstune recommend --help"},
        {"help = true;", "nightly.conf:1: help: unknown setting; see fstune recommend --help"},
        {"config = \"other\";",
         "nightly.conf:1: config: cannot stand in a configuration file; give it on the command line"},
        {"file_size = 1048576;\nfile_size = 8589934592;\n",
         "nightly.conf:2: file_size: 8589934592 would be misread; write \"8g\" or \"8589934592\", in quotes"},
        {"queue_depth = [ 1L, 68719476737 ];",
         "nightly.conf:1: queue_depth: 68719476737 would be misread; write it in quotes"},
        {"a = 1;\n\ntolerance = 1e400;",
         "nightly.conf:3: tolerance: 1e400 is too large for a number; write a smaller one"},
        {"\n@include \"other.conf\"\n",
         "nightly.conf:2: @include is not supported; copy the settings into this file"},
        {"budget = 60;", "nightly.conf:1: budget: '60' has no unit; write 60s or 1m"},
        {"budget = 1.5;",
         "nightly.conf:1: budget: a value of this kind is not accepted; write it as a text in quotes"},
        {"budget = true;", "nightly.conf:1: budget: true is no value here; write one in quotes"},
        {"queue_depth = true;", "nightly.conf:1: queue_depth: true is no value here; write one in quotes"},
        {"queue_depth = -1;", "nightly.conf:1: queue_depth: '-1' is not a whole number; use 1..1024"},
        {"queue_depth = [];",
         "nightly.conf:1: queue_depth: a value is missing; write values with single commas between"},
        {"queue_depth = ((1));",
         "nightly.conf:1: queue_depth: a value of this kind is not accepted; write it as a text in quotes"},
        {"tolerance = 3;", "nightly.conf:1: tolerance: '3' can be misread; write 3% or 0.03"},
        {"tolerance = 3.0;", "nightly.conf:1: tolerance: '3.0' can be misread; write 3.0% or 0.03"},
        {"tolerance = -0.5;", "nightly.conf:1: tolerance: -0.5 is no share; write one like \"3%\" or 0.03"},
        {"quiet = 1;",
         "nightly.conf:1: quiet: '1' is neither true nor false; write one of them, without quotes"},
        {"path = 5;", "nightly.conf:1: path: wants a text; write it in quotes"},
        {"path = true;", "nightly.conf:1: path: true is no value here; write one in quotes"},
        {"pattern = [ \"read\" ];",
         "nightly.conf:1: pattern: takes one value, not a list; write it in quotes"},
        {"current = { direct = 1; };", "nightly.conf:1: current: is a group in braces; write a value"},
        {"json = true;\njson = true;", "nightly.conf:2: the setting is repeated; keep one"},
        {"json = true;\nformat = \"csv\";",
         "nightly.conf:2: format: stands beside json, which sets the same; keep one"},
        {"io_uring_ring = \"plain\"; pattern = \"read\";\nio_uring_cooperative = true;",
         "nightly.conf:2: io_uring_cooperative: stands beside io_uring_ring, which sets the same; keep one"},
        {"json = true;\nquiet = ;\n",
         "nightly.conf:2: syntax error; settings are written as key = \"value\";"},
        {"pattern,request_size,throughput_bps\nread,4096,1e8\n",
         "nightly.conf: a table, no configuration; give the .conf file that names it"},
    };
    struct settings before;
    settings_init(&before);
    for (size_t i = 0; i < N_OF(faults); i++) {
        assert_int_equal(read_text(faults[i].text), -EINVAL);
        assert_string_equal(err.text, faults[i].message);
        assert_memory_equal(&settings, &before, sizeof(settings));
    }
}

TEST(good_settings_before_a_fault_are_not_kept)
{
    assert_int_equal(read_text("budget = \"2m\";\nseed = \"x\";\n"), -EINVAL);
    assert_int_equal(settings.limits.budget_ns, 60 * NS_PER_S);
}

TEST(values_too_long_are_refused)
{
    static char text[40000];
    /* Room for 8191 characters: after these the next number would lose its last digits. */
    static const size_t lengths[] = {8188, 30000};
    for (size_t i = 0; i < N_OF(lengths); i++) {
        size_t used = (size_t)snprintf(text, sizeof text, "queue_depth = [");
        for (size_t k = 0; k < lengths[i] / 2; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "1,");
        snprintf(text + used, sizeof text - used, "1024];");
        assert_int_equal(read_text(text), -EINVAL);
        assert_non_null(strstr(err.text, "queue_depth: the list is too long"));
    }
    snprintf(text, sizeof text, "path = \"%020000d\";", 0);
    assert_int_equal(read_text(text), -EINVAL);
    assert_non_null(strstr(err.text, "path: the value is too long"));
}

TEST(unreadable_files_are_errors)
{
    settings_init(&settings);
    assert_int_equal(config_read_settings("missing.conf", NULL, &settings, OPTIONS_RECOMMEND, &err), -ENOENT);
    assert_string_equal(err.text, "missing.conf: cannot be opened: No such file or directory");
    assert_int_equal(config_read_settings(".", NULL, &settings, OPTIONS_RECOMMEND, &err), -EISDIR);
    write_bytes("seed = 1;\0garbage", 17);
    assert_int_equal(config_read_settings(file_name, NULL, &settings, OPTIONS_RECOMMEND, &err), -EINVAL);
    assert_non_null(strstr(err.text, "zero byte"));
    assert_int_equal(truncate(file_name, (1 << 20) + 1), 0);
    assert_int_equal(config_read_settings(file_name, NULL, &settings, OPTIONS_RECOMMEND, &err), -EINVAL);
}

TEST(command_line_wins_over_the_file)
{
    write_text("budget = \"2m\"; request_size = \"4k..1m\"; tolerance = \"5%\";");
    assert_int_equal(RECOMMEND("--budget=20s", "--request-size=8k", "--config", "nightly.conf"), 0);
    assert_int_equal(settings.limits.budget_ns, 20 * NS_PER_S);
    assert_int_equal(settings.workload.levels[FACTOR_REQUEST_SIZE].n, 1);
    assert_int_equal(settings.workload.levels[FACTOR_REQUEST_SIZE].value[0], 8192);
    assert_close(settings.search.tolerance_share, 0.05, 0.0);
    assert_string_equal(settings.config, "nightly.conf");
}

TEST(measure_takes_a_single_value_from_the_command_line_over_many_in_the_file)
{
    write_text("request_size = \"4k..1m\"; duration = \"3s\";");
    assert_int_equal(MEASURE("--config=nightly.conf", "--request-size=8k"), 0);
    assert_int_equal(settings.workload.levels[FACTOR_REQUEST_SIZE].n, 1);
    assert_int_equal(settings.runs.duration_ns, 3 * NS_PER_S);
    assert_int_equal(MEASURE("--config=nightly.conf"), -EINVAL);
    assert_string_equal(err.text, "--request-size: 9 values are given, but measure takes one; keep one");
}

TEST(what_an_option_needs_may_stand_in_the_file)
{
    write_text("existing = \"f\";");
    assert_int_equal(RECOMMEND("--config", "nightly.conf", "--overwrite"), 0);
}

TEST(a_second_configuration_is_refused)
{
    write_text("seed = 3;");
    assert_int_equal(RECOMMEND("--config=missing.conf", "--config=nightly.conf"), -EINVAL);
    assert_string_equal(err.text, "--config: is given twice; keep one");
}

TEST(the_command_line_wins_over_another_name_of_the_same_in_the_file)
{
    write_text("json = true; io_uring_cooperative = true;");
    assert_int_equal(RECOMMEND("--config=nightly.conf"), 0);
    assert_true(settings.json && settings.format == FORMAT_JSON);
    assert_int_equal(RECOMMEND("--config=nightly.conf", "--format=csv", "--io-uring-ring=plain"), 0);
    assert_true(!settings.json && settings.format == FORMAT_CSV);
    assert_false(settings_wants_modern_ring(&settings));
    write_text("format = \"csv\"; json = false; io_uring_cooperative = false;");
    assert_int_equal(RECOMMEND("--config=nightly.conf", "--emit=qemu"), 0);
    assert_int_equal(settings.format, FORMAT_CSV);
    assert_false(settings_wants_modern_ring(&settings));
    assert_int_equal(RECOMMEND("--config=nightly.conf", "--json"), 0);
    assert_int_equal(settings.format, FORMAT_JSON);
}

TEST(errors_of_the_file_leave_the_parser_as_they_are)
{
    write_text("\nseed = \"x\";");
    assert_int_equal(RECOMMEND("--config=nightly.conf"), -EINVAL);
    assert_string_equal(err.text,
                        "nightly.conf:2: seed: 'x' is not a whole number; use 0..9223372036854775807");
}

TEST(misread_numbers_are_found_with_their_line)
{
    static const struct {
        const char *text;
        unsigned line; /* 0: nothing to find */
    } texts[] = {
        {"a = 2147483647;", 0},
        {"a = 2147483648;", 1},
        {"a = -2147483648;", 0},
        {"a = -2147483649;", 1},
        {"a = +2147483648;", 1},
        {"a = 8589934592L; b = 8589934592LL;", 0},
        {"a = 9223372036854775807L;", 0},
        {"a = 9223372036854775808L;", 1},
        {"a = -9223372036854775808L;", 0},
        {"a = 99999999999999999999999L;", 1},
        {"a = 0x7FFFFFFF;", 0},
        {"a = 0x80000000;", 1},
        {"a = 0XFFFFFFFFFL;", 0},
        {"a = 0xFFFFFFFFFFFFFFFFL;", 1},
        {"a = 1e308; b = 1e-400; c = 9999999999.5; d = .5; e = 1.;", 0},
        {"a = 1e400;", 1},
        {"a = -1.5E+400;", 1},
        {"a = 000000000000000000000000000000000000000000000000000000000000000000000000001;", 1},
        {"a = \"8589934592\";", 0},
        {"a = \"x\\\"8589934592\\\\\"; b = \"\n\"; c = 8589934592;", 2},
        {"# 8589934592\n// 8589934592\n/* 8589934592\n*/ a = 1;", 0},
        {"# \"\n/* \" */ a = 8589934592;", 2},
        {"a = [ 1,\n 2,\n 8589934592 ];", 3},
        {"a-8589934592 = 1; b_8589934592 = 2; *8589934592 = 3;", 0},
        {"# @include \"x\"\na = \"@include\";", 0},
        {"\n  @include \"x\"", 2},
        {"", 0},
        {"\"", 0},
        {"/*", 0},
        {"\"\\", 0},
        {"- . + e", 0},
    };
    for (size_t i = 0; i < N_OF(texts); i++) {
        unsigned line = 77;
        int r = config_scan_numbers(texts[i].text, &line, &err);
        if (r != (texts[i].line > 0 ? -EINVAL : 0) || line != (texts[i].line > 0 ? texts[i].line : 77))
            fail_msg("%s: %d, line %u", texts[i].text, r, line);
    }
}

/* The scan against the parser itself: what it lets through is read as written, what it refuses is not. */
TEST(scan_agrees_with_libconfig_on_integers)
{
    static const long long values[] = {0, 1, 2147483647, 2147483648, 4294967295, 4294967296, 8589934592};
    for (size_t i = 0; i < N_OF(values); i++) {
        char text[64];
        unsigned line;
        config_t config;
        snprintf(text, sizeof(text), "a = %lld;", values[i]);
        config_init(&config);
        assert_int_equal(config_read_string(&config, text), CONFIG_TRUE);
        bool is_right = config_setting_get_int64(config_lookup(&config, "a")) == values[i];
        config_destroy(&config);
        int r = config_scan_numbers(text, &line, NULL);
        assert_true(r == 0 ? is_right : values[i] > INT32_MAX);
    }
}

TEST(load_leaves_a_configuration_to_destroy)
{
    config_t config;
    write_text("noise = { run_cv = 0.05; };");
    assert_int_equal(config_load(&config, file_name, &err), 0);
    assert_close(config_setting_get_float(config_lookup(&config, "noise.run_cv")), 0.05, 0.0);
    config_destroy(&config);
}

static char directory[] = "/tmp/fstune-test-XXXXXX";

FIXTURE(enter_directory)
{
    return mkdtemp(directory) ? chdir(directory) : -1;
}

FIXTURE(leave_directory)
{
    unlink(file_name);
    return chdir("/") == 0 ? rmdir(directory) : -1;
}

GROUP(enter_directory, leave_directory);
