/* Tests of configs/presets: each file is an experiment that can be planned. */
#include "tests/tuner/commands/presets_rig.h"

static json_t *plan_of(const char *file)
{
    rig_run(cli_next(), NULL, "experiment", file, "--path", ".", "--no-lock", "--dry-run", "--json", NULL);
    if (run.code != 0)
        fail_msg("%s: exit code %d: %s", file, run.code, run.err);
    return cli_document();
}

TEST(each_can_be_planned)
{
    assert_true(presets.gl_pathc >= 9);
    for (size_t i = 0; i < presets.gl_pathc; i++)
        plan_of(presets.gl_pathv[i]);
}

/* What is synchronous there is among the ways that are compared. */
TEST(libaio_through_the_page_cache_is_a_way_of_making_durable)
{
    for (size_t i = 0; i < presets.gl_pathc; i++) {
        if (strstr(presets.gl_pathv[i], "fsync-methods") == NULL)
            continue;
        json_t *plan = plan_of(presets.gl_pathv[i]);
        AUTO(auto_free) char *text = json_dumps(plan, 0);
        assert_non_null(text);
        assert_null(strstr(text, "libaio is synchronous"));
    }
}

TEST(each_explains_itself_and_is_listed)
{
    char line[256], readme[16384], folder[4096];
    snprintf(folder, sizeof folder, "%s", presets.gl_pathv[0]);
    memcpy(strrchr(folder, '/'), "/README", sizeof "/README");
    FILE *file = fopen(folder, "re");
    assert_non_null(file);
    readme[fread(readme, 1, sizeof readme - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < presets.gl_pathc; i++) {
        file = fopen(presets.gl_pathv[i], "re");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        assert_int_equal(line[0], '#');
        fclose(file);
        assert_non_null(strstr(readme, strrchr(presets.gl_pathv[i], '/') + 1));
    }
}
