/* Tests of the command doctor on real file systems: a whole report, what is left behind, signals, limits.
 * Some need root, for a mount of their own. */
#include "tests/tuner/commands/cli_rig.h"
#include "tests/tuner/impact/doctor_rig.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

FIXTURE(enter)
{
    return rig_enter(test_state) != 0 || mkdir("dir", 0755) != 0 || mkdir("tiny", 0755) != 0 ? -1 : 0;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define DOCTOR "doctor", "--quiet", "--no-lock", "--json"

static const char *severity_of(const json_t *document, const char *name)
{
    const char *severity = json_string_value(json_object_get(check_of(document, name), "severity"));
    return severity != NULL ? severity : "unsaid";
}

TEST(a_whole_report_has_a_noise_floor_and_leaves_nothing)
{
    rig_run(cli_next(), NULL, DOCTOR, "--path", "dir", NULL);
    assert_true(run.code == 0 || run.code == 3);
    assert_string_equal(run.err, "");
    const json_t *document = cli_document();
    double mean = cli_number(document, "noise_floor.mean"), low = cli_number(document, "noise_floor.ci_low"),
           high = cli_number(document, "noise_floor.ci_high");
    assert_in_range(cli_integer(document, "noise_floor.replays"), 3, 20);
    assert_true(low < mean && mean < high);
    assert_close(cli_number(document, "noise_floor.half_width_share"), (high - low) / 2 / mean, 1e-6);
    assert_true(cli_number(document, "noise_floor.run_cv") > 0);
    assert_int_equal(run.code == 3, cli_integer(document, "findings") > 0);
    assert_string_equal(severity_of(document, "create"), "ok");
    assert_in_range(cli_integer(document, "bytes_written"), 128 << 20, (128 << 20) + TARGET_PROOF_MOST_BYTES);
    assert_true(cli_integer(document, "bytes_read") > 0);
    assert_true(json_is_string(json_at(document, "direct.read")));
    assert_int_equal(rig_count_entries("dir"), 0);
}

TEST(a_signal_ends_it_with_what_it_has)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGINT};
    static const char *const arguments[] = {DOCTOR, "--path", "dir", "--file-size", "256m", NULL};
    for (size_t i = 0; i < N_OF(numbers); i++) {
        rig_start(cli_next(), NULL, arguments);
        usleep((useconds_t)(150000 + 500000 * i)); /* from filling into the runs */
        assert_int_equal(kill(run.pid, numbers[i]), 0);
        rig_finish(&run);
        assert_int_equal(run.code, 128 + numbers[i]);
        assert_string_equal(run.err, "");
        const json_t *document = cli_document();
        assert_true(json_is_true(json_object_get(document, "interrupted")));
        assert_string_equal(severity_of(document, "apis"), "ok");
        assert_int_equal(rig_count_entries("dir"), 0);
    }
}

static bool limit_files(void)
{
    struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    return setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

TEST(a_limit_of_the_file_size_is_found)
{
    rig_run(cli_next(), limit_files, DOCTOR, "--path", "dir", NULL);
    assert_int_equal(run.code, 3);
    const json_t *document = cli_document();
    assert_string_equal(severity_of(document, "file_size_limit"), "finding");
    assert_string_equal(severity_of(document, "create"), "finding");
    assert_int_equal(rig_count_entries("dir"), 0);
}

static bool mount_memory(void)
{
    return mount_tiny(0, "size=512m");
}

static const json_t *run_in_tiny(bool (*in_child)(void))
{
    if (geteuid() != 0)
        skip();
    rig_run(cli_next(), in_child, DOCTOR, "--path", "tiny", NULL);
    if (run.code == 99)
        skip(); /* a container that may not mount */
    assert_int_equal(run.code, 3);
    return cli_document();
}

TEST(a_read_only_file_system_is_examined)
{
    const json_t *document = run_in_tiny(mount_read_only);
    assert_string_equal(severity_of(document, "create"), "finding");
    assert_string_equal(severity_of(document, "noise_floor"), "unsaid");
    assert_int_equal(cli_integer(document, "bytes_written"), 0);
}

TEST(a_file_system_without_room_is_examined)
{
    const json_t *document = run_in_tiny(mount_small);
    assert_string_equal(severity_of(document, "free_space"), "finding");
    assert_true(json_is_null(json_object_get(document, "default_file_bytes")));
}

TEST(memory_has_no_direct_io_and_runs_of_full_length)
{
    const json_t *document = run_in_tiny(mount_memory);
    assert_string_equal(severity_of(document, "direct_read"), "finding");
    assert_string_equal(severity_of(document, "file_system"), "finding");
    assert_int_equal(cli_integer(document, "noise_floor.point.direct"), 0);
    assert_true(cli_number(document, "noise_floor.run_seconds") >= 0.05);
}
