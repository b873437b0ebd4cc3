/* Tests of the whole program's care for files: guards, permissions, and a dry run that touches nothing. */
#include "tests/tuner/commands/cli_rig.h"

#include <sys/stat.h>

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    rig_write("empty", "%s", "");
    rig_write("short", "less than a block");
    rig_write_blocks("data", 1 << 20);
    return mkdir("dir", 0755) != 0 || mkfifo("fifo", 0644) != 0 || symlink("/dev/null", "null") != 0 ||
           symlink("nowhere", "dangling") != 0 || link("data", "second") != 0;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define RECOMMEND "recommend --quiet --pattern randwrite "
#define MEASURE                                                                                              \
    "measure --quiet --pattern randwrite --request-size 4k --queue-depth 1 --direct 0 --api psync "

TEST(an_existing_file_is_guarded)
{
    static const struct cli_failure cases[] = {
        {"recommend --quiet --pattern read --existing absent", "absent"},
        {"recommend --quiet --pattern read --existing dir", "a directory"},
        {"recommend --quiet --pattern read --existing fifo", "a fifo"},
        {"recommend --quiet --pattern read --existing /dev/null", "a character device"},
        {"recommend --quiet --pattern read --existing null", "a character device"},
        {"recommend --quiet --pattern read --existing dangling", "dangling"},
        {"recommend --quiet --pattern read --existing empty", "empty"},
        {"recommend --quiet --pattern read --existing short", "short"},
        {RECOMMEND "--existing data", "--overwrite"},
        {RECOMMEND "--existing data --overwrite", "hard links"},
        {RECOMMEND "--existing null --overwrite", "a character device"},
        {RECOMMEND "--existing fifo --overwrite", "a fifo"},
        {RECOMMEND "--existing dir --overwrite", "a directory"},
        {MEASURE "--existing data", "--overwrite"},
        {MEASURE "--existing data --overwrite", "hard links"},
        {MEASURE "--existing null --overwrite", "a character device"},
    };
    CLI_ALL_FAIL(2, cases);
    assert_true(rig_exists("null") && rig_exists("fifo"));
}

TEST(a_dry_run_prints_the_plan_and_writes_nothing)
{
    static const char *const lines[] = {
        RECOMMEND "--path dir --dry-run", MEASURE "--path dir --dry-run",
        "recommend --quiet --pattern read --existing data --dry-run --request-size 4k",
        RECOMMEND "--simulate peak.conf --dry-run"};
    struct stat before, after;
    assert_int_equal(stat("data", &before), 0);
    for (size_t i = 0; i < N_OF(lines); i++) {
        rig_run_line(cli_next(), lines[i]);
        assert_int_equal(run.code, 0);
        assert_string_equal(run.err, "");
        assert_true(strncmp(run.out, "plan: ", 6) == 0);
        char line[256];
        snprintf(line, sizeof line, "%s --json", lines[i]);
        json_t *document = cli_json(0, line);
        cli_has_text(document, "schema", "fstune/plan/1");
        assert_true(cli_integer(document, "space_points") > 0);
    }
    assert_int_equal(rig_count_entries("dir"), 0);
    assert_int_equal(stat("data", &after), 0);
    assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
                before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

TEST(a_dry_run_refuses_what_the_run_refuses)
{
    static const struct cli_failure cases[] = {
        {RECOMMEND "--path /proc", "a view of the kernel"},
        {MEASURE "--path /sys", "a view of the kernel"},
        {RECOMMEND "--path dir --prepare absent", "--prepare absent: cannot be read"},
        {RECOMMEND "--path dir --save absent/history.db", "history absent/history.db: "},
        {RECOMMEND "--path dir --resume absent/journal", "--resume absent/journal: "},
    };
    CLI_ALL_FAIL(2, cases);
    for (size_t i = 0; i < N_OF(cases); i++) {
        char line[256];
        snprintf(line, sizeof line, "%s --dry-run", cases[i].line);
        cli_fails(2, cases[i].part, line);
    }
    assert_int_equal(rig_count_entries("dir"), 0);
}

TEST(folders_without_permission_are_refused)
{
    static const struct {
        const char *name;
        mode_t mode;
    } folders[] = {{"locked", 0}, {"unwritable", 0555}, {"unsearchable", 0666}};
    for (size_t i = 0; i < N_OF(folders); i++) {
        assert_int_equal(mkdir(folders[i].name, 0755), 0);
        assert_int_equal(chmod(folders[i].name, folders[i].mode), 0);
        rig_run(cli_next(), become_nobody, "recommend", "--quiet", "--pattern", "randwrite", "--path",
                folders[i].name, NULL);
        cli_failed(2, folders[i].name);
        assert_int_equal(chmod(folders[i].name, 0755), 0);
        assert_int_equal(rig_count_entries(folders[i].name), 0);
    }
}

TEST(a_file_without_permission_is_refused)
{
    rig_write_blocks("secret", 1 << 20);
    assert_int_equal(chmod("secret", 0), 0);
    cli_fails_as(become_nobody, 2, "secret", "recommend --quiet --pattern read --existing secret");
    assert_int_equal(chmod("secret", 0444), 0);
    cli_fails_as(become_nobody, 2, "secret",
                 "recommend --quiet --pattern write --existing secret --overwrite");
}
