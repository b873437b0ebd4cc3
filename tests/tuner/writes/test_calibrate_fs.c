/* Tests of `fstune calibrate` as a user runs it, on the file system of the working directory. */
#include "tests/tuner/rig.h"
#include "tuner/writes/host_file.h"

#include <signal.h>

GROUP(rig_enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define QUICK "--no-lock --quiet --path . --budget "

TEST(a_calibration_writes_a_file_that_reads_back)
{
    struct rig_run run;
    struct host_file file;
    struct err err;
    rig_run_line(&run, "calibrate " QUICK "40s --json -o host.conf --seed 1");
    /* A busy machine may not manage five rounds. */
    assert_true(run.code == 0 || run.code == 3);
    json_t *document = rig_json(&run);
    CHECK_JSON(document, "schema=fstune/calibration/1", "complete=true");
    assert_int_equal(host_file_read("host.conf", &file, &err), 0);
    const json_t *row = json_object_get(json_object_get(document, "parameters"), "bw_ramdisk");
    assert_close(json_number_value(json_object_get(row, "value")) / file.host.bw_ramdisk_bps, 1, 1e-9);
    assert_true(json_number_value(json_object_get(document, "bytes_written")) <= 8.0 * (1 << 30));
    json_decref(document);
    rig_free(&run);
    assert_int_equal(rig_count_entries("."), 1);
}

TEST(a_dry_run_writes_nothing)
{
    struct rig_run run;
    rig_run_line(&run, "calibrate " QUICK "10s --dry-run -o other.conf");
    assert_int_equal(run.code, 0);
    assert_non_null(strstr(run.out, "plan: calibrate"));
    assert_false(rig_exists("other.conf"));
    rig_free(&run);
    rig_run_line(&run, "calibrate " QUICK "10s --dry-run --set-dirty-limits 64m,128m");
    assert_non_null(strstr(run.out, "vm.dirty_background_bytes 64m and vm.dirty_bytes 128m meanwhile"));
    rig_free(&run);
}

TEST(too_small_a_write_budget_is_said)
{
    rig_refused("calibrate " QUICK "10s --max-write 512m", 2, "--max-write");
}

/* Whatever the rate of the device: the rounds write less instead. */
TEST(a_small_write_budget_is_enough_and_not_crossed)
{
    AUTO(rig_free) struct rig_run run;
    rig_run_line(&run, "calibrate " QUICK "20s --max-write 640m --json --seed 1");
    /* So little can be over before a fast device has been seen writing back. */
    if (run.code != 0 && run.code != 3 && run.code != 5)
        fail_msg("exit code %d: %s", run.code, run.err);
    json_auto_t *document = rig_json(&run);
    json_int_t written = json_integer_value(json_object_get(document, "bytes_written"));
    assert_int_equal(json_is_true(json_object_get(document, "complete")), run.code != 5);
    assert_in_range(written, 128 << 20, 640 << 20);
}

TEST(an_output_that_cannot_be_a_file_is_refused)
{
    rig_refused("calibrate " QUICK "10s -o .", 2, "directory");
    rig_refused("calibrate " QUICK "10s -o absent/host.conf", 2,
                "absent/host.conf: no file can be made beside it");
}

static void end_with(struct rig_run *run, int number, unsigned after_ms)
{
    static const char *const arguments[] = {"calibrate", "--no-lock", "--quiet",  "--path", ".", "--budget",
                                            "30s",       "--output",  "cut.conf", "--json", NULL};
    rig_start(run, NULL, arguments);
    usleep(1000 * after_ms);
    kill(run->pid, number);
    rig_finish(run);
    assert_false(rig_exists("cut.conf"));
}

TEST(an_interrupted_calibration_says_so_and_writes_no_file)
{
    /* While the target is filled, and in the rounds. */
    static const unsigned after_ms[] = {150, 2500};
    for (size_t i = 0; i < N_OF(after_ms); i++) {
        AUTO(rig_free) struct rig_run run;
        end_with(&run, SIGINT, after_ms[i]);
        assert_int_equal(run.code, 130);
        json_auto_t *document = rig_json(&run);
        CHECK_JSON(document, "interrupted=true", "complete=false");
    }
}

TEST(a_kill_leaves_nothing_behind)
{
    AUTO(rig_free) struct rig_run run;
    size_t before = rig_count_entries(".");
    end_with(&run, SIGKILL, 2500);
    assert_int_equal(run.code, -SIGKILL);
    assert_int_equal(rig_count_entries("."), before);
}
