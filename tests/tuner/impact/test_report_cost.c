/* What is said of a cost follows from its interval. */
#include "tests/test.h"
#include "tuner/impact/report_cost.h"

static struct err err;

/* Two intervals of a second alone, and of two beside the command, with a scatter of some per cent. */
static void report(size_t n_runs, char **ret_text)
{
    static const char *const program[] = {"true", NULL};
    static struct settings settings;
    double alone[6 * 3], beside[6 * 3];
    for (size_t i = 0; i < 6; i++) {
        for (size_t point = 0; point < 3; point++) {
            alone[3 * i + point] = (double)point * (1 + 0.01 * (double)(i % 2));
            beside[3 * i + point] = (double)point * (2 + 0.01 * (double)(i % 3));
        }
    }
    struct cost_series load = {.times_s = beside, .seconds = 4};
    struct cost_reference reference = {
        .name = "files", .n_points = 3, .alone = {.times_s = alone, .seconds = 2}, .loads = &load};
    settings.program = program;
    settings.runs.confidence_share = 0.95;
    const struct cost cost = {
        .settings = &settings, .references = &reference, .n_references = 1, .n_loads = 1, .n_runs = n_runs};
    FILE *out = memory_stream(ret_text);
    assert_int_equal(report_cost_text(out, &cost, &err), 0);
    fclose(out);
}

TEST(heavy_is_said_of_an_interval_alone)
{
    char *few = NULL, *many = NULL;
    report(2, &few);
    report(6, &many);
    CHECK_HAS(few, "-heavy, above", "needs more --runs");
    CHECK_HAS(many, "heavy, above 25 %", "-needs more --runs");
    free(few);
    free(many);
}
