/* Tests of `fstune predict write --validate`: writes are made, compared with the model, and leave nothing. */
#include "tests/tuner/rig.h"
#include "tuner/base/fail.h"
#include "tuner/commands/command.h"

#include <signal.h>

#define PREDICT "predict write --host host.conf --no-lock --quiet "
#define LOAD    "--total 64k --request-size 4k "

FIXTURE(enter)
{
    int result = rig_enter(test_state);
    rig_write("host.conf",
              "bw_mem = 8e9; bw_ramdisk = 3e9; bw_reduced = 1.5e9; bw_dev = 1e9; bw_rdev = 1e9;\n"
              "sc_w = 1e-6; sc_sw = 1e-4; c_sk = 5e-6; bs = 512.0; bf = 4096.0;\n"
              "limit_bg = 1e9; limit_hard = 2e9; dirty_expire = 30.0;\n");
    return result;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

static double number(const json_t *document, const char *group, const char *key)
{
    const json_t *value = json_object_get(json_object_get(document, group), key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void check_modes(const char *mode)
{
    char line[300];
    snprintf(line, sizeof line, PREDICT LOAD "--validate --repetitions 2 --json --seed 7 --mode %s", mode);
    json_t *document = rig_document(line);
    const json_t *measured = json_object_get(document, "measured");
    CHECK_JSON(document, "schema=fstune/write-validation/1");
    assert_string_equal(json_string_value(json_object_get(document, "mode")), mode);
    CHECK_JSON(document, "interrupted=false", "seed=7");
    assert_int_equal(json_integer_value(json_object_get(document, "bytes_written")), 2 * 65536);
    CHECK_JSON(measured, "costs_s#=16", "dirty_bytes#=16", "repetitions#=2");
    assert_true(number(document, "measured", "total_s") > 0);
    assert_close(number(document, "naive", "total_s"), 65536 / 1e9, 1e-9);
    assert_true(number(document, "cawl", "total_s") > 0);
    json_decref(document);
    assert_int_equal(rig_count_entries("."), 1);
}

TEST(every_cached_mode_is_made_and_compared)
{
    check_modes("sync");
    check_modes("nosync");
    check_modes("stdio");
}

TEST(errors_follow_from_the_costs)
{
    json_auto_t *document = rig_document(PREDICT LOAD "--validate --repetitions 1 --json");
    const json_t *cawl = json_object_get(document, "cawl"), *measured = json_object_get(document, "measured");
    double shares = 0, total = 0;
    size_t n = 0;
    for (size_t i = 0; i < 16; i++) {
        double p = json_number_value(json_array_get(json_object_get(cawl, "costs_s"), i));
        double m = json_number_value(json_array_get(json_object_get(measured, "costs_s"), i));
        total += m;
        shares += m > 0 ? fabs(p - m) / m : 0;
        n += m > 0;
    }
    assert_close(number(document, "measured", "total_s"), total, 1e-9);
    assert_close(number(cawl, "error", "per_chunk"), shares / (double)n, 1e-6);
    CHECK_JSON(measured, "scatter.per_chunk=null");
}

TEST(the_last_flush_of_a_stream_is_in_both_totals)
{
    json_auto_t *document =
        rig_document(PREDICT "--total 100 --request-size 100 --mode stdio --close --validate "
                             "--repetitions 1 --json");
    const json_t *repetition =
        json_array_get(json_object_get(json_object_get(document, "measured"), "repetitions"), 0);
    double close_s = json_number_value(json_object_get(repetition, "close_s"));
    assert_true(close_s > 0);
    assert_true(json_number_value(json_object_get(repetition, "total_s")) >= close_s);
    assert_true(number(document, "cawl", "close_s") > 0);
}

TEST(text_has_a_line_for_each_model)
{
    AUTO(rig_free) struct rig_run run;
    rig_run_line(&run, PREDICT LOAD "--validate");
    assert_int_equal(run.code, EXIT_DONE);
    CHECK_HAS(run.out, "\nmeasured ", "\nCAWL ", "\nnaive ");
    assert_string_equal(run.err, "");
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

TEST(csv_has_a_line_for_each_write)
{
    struct rig_run run;
    rig_run_line(&run, PREDICT LOAD "--validate --csv -");
    assert_int_equal(run.code, EXIT_DONE);
    assert_int_equal(count_lines(run.out), 17);
    assert_int_equal(strncmp(run.out, "chunk,file,offset,size,delay_s,measured_s,", 42), 0);
    assert_non_null(strstr(run.out, "\r\n15,\"\",61440,4096,0,"));
    rig_free(&run);
    rig_run_line(&run, PREDICT LOAD "--validate --csv lines.csv");
    assert_int_equal(run.code, EXIT_DONE);
    assert_true(rig_exists("lines.csv"));
    rig_free(&run);
    unlink("lines.csv");
}

TEST(a_dry_run_only_says_what_it_would_do)
{
    struct rig_run run;
    rig_run_line(&run, PREDICT LOAD "--validate --dry-run");
    assert_int_equal(run.code, EXIT_DONE);
    /* 16 x (1 us + 4 KiB at 3 GB/s), three times. */
    assert_string_equal(run.out, "plan: 3 times 16 writes (nosync) into nameless files in . (removed "
                                 "afterwards), 197 kB in all, 114 us by the model\n");
    rig_free(&run);
    json_t *document = rig_document(PREDICT LOAD "--validate --dry-run --json --delay 1s");
    CHECK_JSON(document, "schema=fstune/plan/1", "repetitions=3");
    assert_int_equal(json_integer_value(json_object_get(document, "max_write_bytes")), 3 * 65536);
    assert_close(json_number_value(json_object_get(document, "predicted_seconds")), 48, 0.001);
    json_decref(document);
    /* 65 MiB each are the most that the proof of direct I/O takes. */
    document = rig_document(PREDICT LOAD "--validate --dry-run --json --mode direct --delay 1s");
    assert_int_equal(json_integer_value(json_object_get(document, "max_write_bytes")),
                     3 * (65536 + (65 << 20)));
    json_decref(document);
}

static bool without_programs(void)
{
    return setenv("PATH", "/nowhere", 1) == 0;
}

TEST(what_was_measured_is_told_where_no_picture_can_be_drawn)
{
    struct rig_run run;
    rig_run(&run, without_programs, "predict", "write", "--host", "host.conf", "--total", "64k",
            "--request-size", "4k", "--no-lock", "--quiet", "--validate", "--plot", "costs.png", NULL);
    assert_int_equal(run.code, EXIT_FAILED);
    assert_non_null(strstr(run.err, "gnuplot"));
    assert_non_null(strstr(run.out, "\nmeasured "));
    rig_free(&run);
    assert_int_equal(rig_count_entries("."), 1);
}

static void refused(const char *options, int code, const char *part)
{
    char line[400];
    snprintf(line, sizeof line, PREDICT "--validate %s", options);
    rig_refused(line, code, part);
}

TEST(what_cannot_be_made_is_refused)
{
    refused(LOAD "--mode naive", EXIT_USAGE, "naive");
    refused(LOAD "--extensions writers=2", EXIT_USAGE, "leave writers out");
    refused(LOAD "--path /nowhere/at/all", EXIT_USAGE, "no such directory");
    refused(LOAD "--max-write 100k", EXIT_FAILED, "--max-write");
    refused(LOAD "--mode direct --max-write 1m", EXIT_FAILED, "to prove direct I/O");
    refused("--total 500t --request-size 1t --max-write 1000t --repetitions 1", EXIT_FAILED,
            "the writes need");
    if (access("/dev/shm", W_OK) == 0)
        refused(LOAD "--mode direct --path /dev/shm", EXIT_NOTHING, "no direct I/O here");
}

static void run_and_interrupt(struct rig_run *run, const char *const *arguments)
{
    rig_start(run, NULL, arguments);
    usleep(700000);
    kill(run->pid, SIGINT);
    rig_finish(run);
    assert_int_equal(run->code, EXIT_SIGNAL + SIGINT);
}

TEST(ctrl_c_ends_it_and_keeps_whole_repetitions)
{
    struct rig_run run;
    const char *const arguments[] = {
        "predict", "write",     "--host", "host.conf",  "--no-lock",     "--quiet", "--total",        "8k",
        "--delay", "20ms",      "--json", "--validate", "--repetitions", "1000",    "--request-size", "4k",
        "--csv",   "lines.csv", NULL};
    run_and_interrupt(&run, arguments);
    json_t *document = rig_json(&run);
    assert_true(json_is_true(json_object_get(document, "interrupted")));
    assert_true(json_integer_value(json_object_get(document, "repetitions")) < 1000);
    json_decref(document);
    rig_free(&run);
    assert_int_equal(rig_count_entries("."), 1);
}

TEST(ctrl_c_before_the_first_repetition_is_whole_leaves_a_document)
{
    struct rig_run run;
    const char *const arguments[] = {"predict",   "write",   "--host",     "host.conf",      "--no-lock",
                                     "--quiet",   "--total", "8k",         "--request-size", "4k",
                                     "--delay",   "30s",     "--validate", "--json",         "--csv",
                                     "lines.csv", NULL};
    run_and_interrupt(&run, arguments);
    json_t *document = rig_json(&run);
    const json_t *measured = json_object_get(document, "measured");
    CHECK_JSON(document, "interrupted=true", "repetitions=0");
    CHECK_JSON(measured, "total_s=null", "costs_s#=0");
    assert_true(json_is_null(json_object_get(document, "improvement")));
    assert_true(number(document, "cawl", "total_s") > 0);
    assert_false(rig_exists("lines.csv"));
    json_decref(document);
    rig_free(&run);
    assert_int_equal(rig_count_entries("."), 1);
}
