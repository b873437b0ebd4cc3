/* Tests of tuner/report/report_history: two runs side by side, in words. */
#include "tests/tuner/rig.h"
#include "tuner/report/report_history.h"

static struct history_ratio ratio_of_means(double first, double second, bool changed)
{
    double ratio = second / first;
    return (struct history_ratio){
        .point = {.request_size_bytes = 4096, .queue_depth = 1, .threads = 1},
        .n = {5, 5},
        .mean_bps = {first, second},
        .ratio = ratio,
        .bounds = {0.9 * ratio, 1.1 * ratio},
        .changed = changed,
    };
}

static const char *compare(const struct history_comparison *comparison)
{
    static char text[4096];
    struct history_info infos[2] = {{.id = 1, .status = HISTORY_DONE}, {.id = 2, .status = HISTORY_DONE}};
    FILE *out = fmemopen(text, sizeof text, "w");
    report_history_compare(out, infos, comparison);
    fclose(out);
    return text;
}

TEST(a_manifold_change_is_a_factor_and_a_small_one_a_share)
{
    struct history_ratio points[] = {ratio_of_means(1e6, 104.72e6, true), ratio_of_means(1e6, 0.25e6, true),
                                     ratio_of_means(1e6, 1.9e6, true)};
    const struct history_comparison comparison = {
        .points = points, .n = 3, .n_tested = 3, .n_changed = 3, .seconds = {1, 1}};
    const char *text = compare(&comparison);
    CHECK_HAS(text, "   105 x  (94.2 x to 115 x)  changed", " 0.250 x  (0.225 x to 0.275 x)  changed",
              "+90.0 %  (+71.0 % to +109.0 %)  changed", "-+10372");
}

TEST(answers_that_changed_are_counted)
{
    struct history_ratio point = ratio_of_means(1e6, 1.01e6, false);
    struct history_comparison comparison = {
        .points = &point, .n = 1, .n_tested = 1, .has_answers = true, .seconds = {1, 1}};
    comparison.answer = ratio_of_means(1e6, 1.5e6, true);
    const char *text = compare(&comparison);
    CHECK_HAS(text, "  changed\n", "1 of 2 comparisons changed");
    comparison.answer.bounds.low = NAN;
    comparison.answer.changed = false;
    assert_non_null(strstr(compare(&comparison), "0 of 1 comparisons changed"));
}
