/* Tests of --verify, --files and --alignment through the program: what excludes each other, and what is said.
 */
#include "tests/tuner/rig.h"

GROUP(rig_enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define POINT "measure --path . --no-lock --quiet --request-size 4k --queue-depth 1 --api psync "

TEST(what_excludes_each_other_is_refused)
{
    rig_write_blocks("data", 1 << 20);
    rig_simulator("surface", "", rig_flat_bps);
    rig_refused(POINT "--pattern randwrite --direct 0 --verify --simulate surface.conf", 2, "--simulate");
    rig_refused(POINT "--pattern randread --direct 0 --verify --existing data", 2, "--existing");
    rig_refused(POINT "--pattern randread --direct 0 --verify --cross-check fio", 2, "--cross-check");
    rig_refused(POINT "--pattern randread --direct 0 --files 2 --existing data", 2, "--files and --existing");
    rig_refused(POINT "--pattern randwrite --direct 0 --alignment 512 --simulate surface.conf", 2,
                "--alignment and --simulate");
    rig_refused(POINT "--pattern randread --direct 0 --files 2 --fio-job", 2, "--files and --fio-job");
}

TEST(alignment_is_a_multiple_of_512)
{
    rig_refused(POINT "--pattern randread --direct 0 --alignment 1000", 2, "use 512 or 1024");
    rig_refused(POINT "--pattern randread --direct 0 --alignment 256", 2, "512..512m");
    rig_refused(POINT "--pattern randread --direct 0 --files 1025", 2, "1..1024");
}

TEST(what_was_done_is_said)
{
    json_auto_t *document = rig_document(
        POINT "--pattern randrw:50 --direct 0 --verify --files 4 --alignment 1k --file-size 128m "
              "--replays 1 --duration 50ms --warmup-limit 0s --json");
    const json_t *warning;
    size_t i, n_found = 0;
    json_array_foreach(json_object_get(document, "warnings"), i, warning)
    {
        const char *code = json_string_value(json_object_get(warning, "code"));
        n_found +=
            strcmp(code, "verify") == 0 || strcmp(code, "files") == 0 || strcmp(code, "alignment") == 0;
    }
    assert_int_equal(n_found, 3);
}
