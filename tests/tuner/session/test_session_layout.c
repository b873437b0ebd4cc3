/* Tests of --verify, --files and --alignment through the program: what excludes each other, and what is said.
 */
#include "tests/tuner/rig.h"

#include <stdio.h>
#include <string.h>

GROUP(rig_enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define POINT "measure --path . --no-lock --quiet --request-size 4k --queue-depth 1 --api psync "

static struct rig_run run;

static void check_refused(const char *line, const char *part)
{
    rig_run_line(&run, line);
    rig_check_error(&run, 2, part);
    rig_free(&run);
}

TEST(what_excludes_each_other_is_refused)
{
    rig_write_blocks("data", 1 << 20);
    rig_simulator("surface", "", rig_flat_bps);
    check_refused(POINT "--pattern randwrite --direct 0 --verify --simulate surface.conf", "--simulate");
    check_refused(POINT "--pattern randread --direct 0 --verify --existing data", "--existing");
    check_refused(POINT "--pattern randread --direct 0 --verify --cross-check fio", "--cross-check");
    check_refused(POINT "--pattern randread --direct 0 --files 2 --existing data", "--files and --existing");
    check_refused(POINT "--pattern randwrite --direct 0 --alignment 512 --simulate surface.conf",
                  "--alignment and --simulate");
    check_refused(POINT "--pattern randread --direct 0 --files 2 --fio-job", "--files and --fio-job");
}

TEST(alignment_is_a_multiple_of_512)
{
    check_refused(POINT "--pattern randread --direct 0 --alignment 1000", "use 512 or 1024");
    check_refused(POINT "--pattern randread --direct 0 --alignment 256", "512..512m");
    check_refused(POINT "--pattern randread --direct 0 --files 1025", "1..1024");
}

TEST(what_was_done_is_said)
{
    rig_run_line(&run,
                 POINT "--pattern randrw:50 --direct 0 --verify --files 4 --alignment 1k --file-size 128m "
                       "--replays 1 --duration 50ms --warmup-limit 0s --json");
    assert_int_equal(run.code, 0);
    json_t *document = rig_json(&run);
    const json_t *warning;
    size_t i, n_found = 0;
    json_array_foreach(json_object_get(document, "warnings"), i, warning)
    {
        const char *code = json_string_value(json_object_get(warning, "code"));
        n_found +=
            strcmp(code, "verify") == 0 || strcmp(code, "files") == 0 || strcmp(code, "alignment") == 0;
    }
    assert_int_equal(n_found, 3);
    json_decref(document);
    rig_free(&run);
}
