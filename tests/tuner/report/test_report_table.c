/* Tests of tuner/report/report_table: what is said of a measured setting, and of the answer in Markdown. */
#include "tests/tuner/search/tune_rig.h"
#include "tuner/report/report_table.h"

SEARCHES(enter);

static void search_all(void)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--budget", "60s", "--seed",
                 "1", "--request-size", "4k,16k,64k,256k", NULL);
    run();
}

/* The verdict sets outliers aside, the figures do not. */
TEST(what_shows_less_than_the_tolerance_allows_is_not_called_as_good)
{
    search_all();
    size_t i = rig_other_setting();
    tune.engine.verdicts[i] = VERDICT_EQUIVALENT;
    settings.search.tolerance_share = 1 - 0.99 * answer_share(&tune, i);
    char word[REPORT_STANDING_SIZE];
    assert_string_equal(report_table_standing(&tune, i, word), "as good");
    settings.search.tolerance_share = 1 - 1.01 * answer_share(&tune, i);
    assert_string_equal(report_table_standing(&tune, i, word), "may be as good");
}

static void expect_markdown(const char *present, const char *absent)
{
    char *text = NULL;
    FILE *out = memory_stream(&text);
    assert_int_equal(report_table_markdown(out, &answer, &err), 0);
    assert_int_equal(fclose(out), 0);
    if (strstr(text, present) == NULL || strstr(text, absent) != NULL)
        fail_msg("\"%s\" with \"%s\" and without \"%s\" is expected", text, present, absent);
    free(text);
}

TEST(markdown_says_first_what_may_be_kept)
{
    search_all();
    answer_prepare(&answer, &tune);
    expect_markdown("- **Use**: `--request-size", "**Keep**");
    answer.speedup.ci = (struct interval){0.9, 1.1};
    expect_markdown("- **Keep**: the default, 64k x 1, buffered, psync: the setting below is not shown to be "
                    "faster\n- **Or use**: `--request-size",
                    "**Use**");
    tune.engine.baseline = tune.engine.chosen;
    expect_markdown("- **Keep**: `--request-size", "**Use**");
}

TEST(markdown_marks_rates_of_another_time)
{
    search_all();
    answer_prepare(&answer, &tune);
    size_t *order, n;
    assert_int_equal(report_table_order(&tune, &order, &n, &err), 0);
    size_t second = order[1];
    free(order);
    assert_false(answer_is_fresh(&tune, second));
    notes_add(&session->warnings, "rate_changed", "the rate changed");
    expect_markdown("standing", "other time");
    for (size_t k = 0; k < tune.records[second].n; k++)
        tune.records[second].samples[k].throughput_bps *= 3;
    expect_markdown(", other time |", "**Keep**");
    expect_markdown("\nOther time: the disk went at another rate", "**Keep**");
}
