/* Tests of tuner/report/cross_check with the real fio on a real file system: that it measures the same file,
 * and what it leaves of it. */
#include "tests/tuner/rig.h"

#include <sys/stat.h>

static struct rig_run run;

FIXTURE(enter)
{
    return rig_enter(test_state) != 0 || mkdir("dir", 0755) != 0 ? -1 : 0;
}

GROUP(enter, rig_leave);

#define MEASURE                                                                                              \
    "measure --quiet --no-lock --json --replays 3 --duration 50ms --warmup-limit 50ms --cross-check fio "

/* The result of a measurement that must succeed with 3 runs of fio; the caller releases it. */
static json_t *measure(const char *options)
{
    char line[512];
    snprintf(line, sizeof line, MEASURE "%s", options);
    rig_run_line(&run, line);
    if (run.code != 0)
        print_error("%s: %s\n", line, run.err);
    assert_int_equal(run.code, 0);
    json_t *document = rig_json(&run);
    CHECK_JSON(document, "cross_check.replays=3");
    assert_true(json_number_at(document, "cross_check.mean_bps") > 0);
    assert_true(json_number_at(document, "cross_check.ratio.mean") > 0);
    rig_free(&run);
    return document;
}

TEST(fio_runs_on_the_nameless_file)
{
    static const char *const points[] = {
        "--pattern randread --request-size 4k --queue-depth 1 --direct 0 --api psync",
        "--pattern write --request-size 64k --queue-depth 4 --direct 1 --api libaio",
        "--pattern randrw:70 --request-size 64k --queue-depth 4 --direct 1 --api io_uring --threads 2",
        "--pattern randwrite --request-size 64k --queue-depth 2 --direct 0 --api pool --sync each",
        "--pattern read --request-size 1m --queue-depth 1 --direct 0 --api psync --cache warm",
    };
    for (size_t i = 0; i < N_OF(points); i++) {
        char options[256];
        snprintf(options, sizeof options, "%s --path dir --file-size 128m", points[i]);
        json_decref(measure(options));
        assert_int_equal(rig_count_entries("dir"), 0);
    }
}

TEST(a_file_that_is_only_read_stays_as_it_is)
{
    struct stat before, after;
    rig_write_blocks("data", 32 << 20);
    assert_int_equal(system("cp data copy"), 0);
    assert_int_equal(stat("data", &before), 0);
    json_t *document = measure("--pattern read --request-size 64k --queue-depth 1 --direct 0 --api psync "
                               "--existing data --cache cold");
    CHECK_JSON(document, "bytes_written=0");
    json_decref(document);
    assert_int_equal(stat("data", &after), 0);
    assert_int_equal(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
    assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    assert_int_equal(system("cmp -s data copy"), 0);
}

TEST(a_file_that_may_be_overwritten_keeps_its_size)
{
    struct stat before, after;
    assert_int_equal(stat("data", &before), 0);
    json_decref(measure("--pattern write --request-size 64k --queue-depth 1 --direct 0 --api psync "
                        "--existing data --overwrite"));
    assert_int_equal(stat("data", &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_int_equal(after.st_blocks, before.st_blocks);
    assert_int_equal(rig_count_entries("."), 3); /* dir, data, copy */
}

static bool find_what_is_needed(void)
{
    return rig_find_program() && system("fio --version >/dev/null 2>&1") == 0;
}

GROUP_NEEDS(find_what_is_needed);
