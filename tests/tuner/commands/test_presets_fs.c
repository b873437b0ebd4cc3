/* Tests of configs/presets on a real file system: each runs, shortened, and measures its whole plan. */
#include "tests/tuner/commands/presets_rig.h"

static void check_points(const char *file, const json_t *document)
{
    const json_t *points = json_object_get(document, "points"), *point;
    size_t i;
    if (json_array_size(points) == 0)
        fail_msg("%s: no setting", file);
    json_array_foreach(points, i, point)
    {
        const char *failed = json_string_value(json_object_get(point, "failed"));
        if (failed != NULL || cli_number(point, "mean") <= 0)
            fail_msg("%s: setting %zu: %s", file, i, failed != NULL ? failed : "no rate");
    }
}

TEST(each_measures_all_its_points)
{
    for (size_t i = 0; i < presets.gl_pathc; i++) {
        const char *file = presets.gl_pathv[i];
        rig_run(cli_next(), NULL, "experiment", file, "--path", "dir", "--no-lock", "--json", "--quiet",
                "--replays", "1", "--duration", "50ms", "--warmup-limit", "0s", "--file-size", "128m", NULL);
        if (run.code != 0)
            fail_msg("%s: exit code %d: %s", file, run.code, run.err);
        json_t *document = cli_document();
        check_points(file, document);
        assert_int_equal(rig_count_entries("dir"), 0);
    }
}
