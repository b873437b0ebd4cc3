/* Tests of tuner/report/report_table: what is said of a measured setting. */
#include "tests/tuner/search/tune_rig.h"
#include "tuner/report/report_table.h"

SEARCHES(enter);

static void search_all(void)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--budget", "60s", "--seed",
                 "1", "--request-size", "4k,16k,64k,256k", NULL);
    run();
}

/* A setting that was run and is none of those that the answer names. */
static size_t other_setting(void)
{
    for (size_t i = 0; i < tune.space.n_points; i++) {
        bool is_named = i == tune.engine.chosen || i == tune.engine.best || i == tune.engine.baseline;
        if (tune.records[i].n > 0 && !is_named)
            return i;
    }
    fail_msg("only the named settings were run");
    return 0;
}

TEST(the_share_is_that_of_the_best)
{
    search_all();
    size_t i = other_setting();
    assert_close(answer_share(&tune, tune.engine.best), 1, 1e-12);
    assert_in_range(1e3 * answer_share(&tune, i), 1, 1000);
    tune.engine.best = ENGINE_NONE;
    assert_true(isnan(answer_share(&tune, i)));
}

/* The verdict sets outliers aside, the figures do not. */
TEST(what_shows_less_than_the_tolerance_allows_is_not_called_as_good)
{
    search_all();
    size_t i = other_setting();
    tune.engine.verdicts[i] = VERDICT_EQUIVALENT;
    settings.search.tolerance_share = 1 - 0.99 * answer_share(&tune, i);
    char word[REPORT_STANDING_SIZE];
    assert_string_equal(report_table_standing(&tune, i, word), "as good");
    settings.search.tolerance_share = 1 - 1.01 * answer_share(&tune, i);
    assert_string_equal(report_table_standing(&tune, i, word), "may be as good");
}
