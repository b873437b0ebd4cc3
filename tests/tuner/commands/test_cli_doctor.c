/* Tests of the command doctor where nothing can be written, and of the plan line of all commands. */
#include "tests/tuner/commands/cli_rig.h"
#include "tests/tuner/doctor/doctor_rig.h"

#include <sys/stat.h>

#define ESCAPE "a\033[2Jb"

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    rig_write_blocks("data", 1 << 20);
    return mkdir("dir", 0755) != 0 || mkdir(ESCAPE, 0755) != 0 || mkdir("unwritable", 0555) != 0;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

TEST(a_directory_without_permission_is_examined_all_the_same)
{
    rig_run_line_as(cli_next(), become_nobody, "doctor --quiet --no-lock --json --path unwritable --seed 7");
    assert_int_equal(run.code, 3);
    assert_string_equal(run.err, "");
    json_t *document = cli_document();
    CHECK_JSON(document, "schema=fstune/doctor/1", "interrupted=false");
    assert_true(cli_integer(document, "findings") >= 1);
    CHECK_JSON(document, "bytes_written=0", "seed=7");
    const json_t *create = check_of(document, "create"), *noise = json_object_get(document, "noise_floor");
    cli_has_text(create, "severity", "finding");
    assert_true(json_is_string(json_object_get(create, "advice")));
    assert_int_equal(cli_integer(noise, "replays"), 0);
    static const char *const open[] = {"mean",   "ci_low",   "ci_high", "half_width_share",
                                       "run_cv", "window_cv"};
    for (size_t i = 0; i < N_OF(open); i++)
        assert_true(json_is_null(json_object_get(noise, open[i])));
    assert_true(json_is_string(json_object_get(noise, "why")));
    const json_t *direct = json_object_get(document, "direct");
    CHECK_JSON(direct, "read=null", "align_bytes=null");
    const json_t *psync = json_at(document, "apis.psync");
    assert_true(json_is_true(json_object_get(psync, "works")));
    assert_true(json_is_object(json_object_get(document, "system")));
    assert_int_equal(rig_count_entries("unwritable"), 0);
}

TEST(the_text_is_grouped_and_ends_with_the_number_of_findings)
{
    rig_run_line_as(cli_next(), become_nobody, "doctor --quiet --no-lock --path unwritable");
    assert_int_equal(run.code, 3);
    CHECK_HAS(run.out, "\nWhat can run here\n  ok       apis", "\n  finding  create",
              " -> give another --path", "Wrote 0 B, read 0 B");
}

TEST(what_is_no_directory_is_refused)
{
    cli_fails(2, "absent", "doctor --path absent");
    cli_fails(2, "data", "doctor --path data");
}

static bool fill_stdout(void)
{
    return freopen("/dev/full", "w", stdout) != NULL && become_nobody();
}

TEST(a_report_that_is_lost_is_a_failure)
{
    static const char *const lines[] = {"doctor --quiet --no-lock --path unwritable",
                                        "doctor --quiet --no-lock --path unwritable --json"};
    for (size_t i = 0; i < N_OF(lines); i++)
        cli_fails_as(fill_stdout, 1, "cannot write the result to standard output", lines[i]);
}

#define ONE_POINT " --request-size 4k --queue-depth 1 --direct 0 --api psync "

TEST(every_plan_says_file_writes_and_end)
{
    static const struct {
        const char *line, *file, *written;
    } plans[] = {
        {"recommend --pattern randwrite --path dir --dry-run", "file of 1g in dir", "at most 64g written"},
        {"recommend --pattern randread --path dir --file-size 256m --dry-run", "file of 256m in dir",
         "at most 320m written"},
        {"recommend --pattern read --existing data --request-size 4k --dry-run",
         "existing file of 1m in data", "at most 0 written"},
        {"measure --pattern write --max-write 2g --path dir --dry-run" ONE_POINT, "file of 1g in dir",
         "at most 2g written"},
        {"measure --pattern read --existing data --dry-run" ONE_POINT, "existing file of 1m in data",
         "at most 0 written"},
        {"doctor --path dir --dry-run", "file of 128m in dir", "at most 192m written"},
    };
    for (size_t i = 0; i < N_OF(plans); i++) {
        rig_run_line(cli_next(), plans[i].line);
        assert_int_equal(run.code, 0);
        assert_true(strncmp(run.out, "plan: ", 6) == 0);
        if (strstr(run.out, plans[i].file) == NULL || strstr(run.out, plans[i].written) == NULL)
            fail_msg("fstune %s: %s", plans[i].line, run.out);
        CHECK_HAS(run.out, "ends by ", " at the latest");
    }
    assert_int_equal(rig_count_entries("dir"), 0);
}

TEST(a_plan_with_bursts_says_so)
{
    cli_prints(
        0, "recommend --pattern write --path dir --burst 1m --burst-interval 100ms --budget 60s --dry-run",
        ", then bursts of 1m 100 ms apart in the last 15.0 s, file of 1g", NULL);
    json_t *document =
        cli_json(0, "recommend --pattern write --path dir --burst 1m --budget 60s --dry-run --json");
    assert_int_equal(cli_integer(document, "burst.bytes"), 1 << 20);
}

TEST(a_plan_as_json_says_when_it_ends)
{
    static const struct {
        const char *line;
        double seconds;
    } plans[] = {
        {"recommend --pattern randwrite --path dir --budget 60s --dry-run --json", 65},
        /* (1.05 x 3 + 2) x (30 s of warm-up + 2 s + 2 s of settling): disturbed runs are repeated */
        {"measure --pattern read --existing data --replays 3 --dry-run --json" ONE_POINT, 175.1},
    };
    for (size_t i = 0; i < N_OF(plans); i++) {
        json_t *document = cli_json(CLI_ANY, plans[i].line);
        assert_close(cli_number(document, "seconds_at_most"), plans[i].seconds, 1e-9);
    }
}

TEST(a_plan_does_not_hand_control_characters_to_the_terminal)
{
    static const char *const commands[][12] = {
        {"recommend", "--pattern", "randread", "--path", ESCAPE, "--dry-run"},
        {"measure", "--pattern", "randread", "--path", ESCAPE, "--dry-run", "--request-size=4k",
         "--queue-depth=1", "--direct=0", "--api=psync"},
        {"doctor", "--path", ESCAPE, "--dry-run"},
    };
    for (size_t i = 0; i < N_OF(commands); i++) {
        rig_start(cli_next(), NULL, commands[i]);
        rig_finish(&run);
        assert_int_equal(run.code, 0);
        assert_null(strchr(run.out, '\033'));
        assert_non_null(strstr(run.out, "a?[2Jb"));
    }
}
