/* Tests of tuner/report/report_certainty and report_recommend_text: the words for how sure an answer is. */
#include "tests/tuner/search/tune_rig.h"
#include "tuner/report/report_certainty.h"
#include "tuner/report/report_table.h"

SEARCHES(enter);

/* An answer, not conclusive, whose choice is not the fastest; the loss is a share of the tolerance. */
static void search_and_lose(double tolerances)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--budget", "60s", "--seed",
                 "1", "--request-size", "4k,16k,64k,256k", NULL);
    run();
    struct engine *engine = &tune.engine;
    engine->chosen = engine->best == engine->baseline ? (engine->best == 0) : engine->baseline;
    engine->conclusive = engine->is_proved = false;
    engine->stop = ENGINE_STOP_BUDGET;
    engine->expected_shortfall = tolerances * engine->tolerance;
    engine->shortfall = 2 * engine->expected_shortfall;
}

static void expect_words(const char *text, const char *present, const char *absent)
{
    if (strstr(text, present) == NULL || strstr(text, absent) != NULL)
        fail_msg("\"%s\" with \"%s\" and without \"%s\" is expected", text, present, absent);
}

static void expect_certainty(const char *present, const char *absent)
{
    char *text = NULL;
    FILE *out = memory_stream(&text);
    report_certainty_text(out, &tune);
    assert_int_equal(fclose(out), 0);
    expect_words(text, present, absent);
    free(text);
}

TEST(a_loss_far_beyond_the_tolerance_is_not_called_about_the_tolerance)
{
    search_and_lose(3);
    expect_certainty("may choose another setting", "hardly settle");
}

TEST(a_loss_of_about_the_tolerance_is_settled_by_no_time)
{
    search_and_lose(1.2);
    expect_certainty("hardly settle", "another setting");
}

static void expect_answer(const char *present, const char *absent)
{
    char *text = NULL;
    FILE *out = memory_stream(&text);
    assert_int_equal(report_recommendation_text(out, &answer, &err), 0);
    assert_int_equal(fclose(out), 0);
    expect_words(text, present, absent);
    free(text);
}

TEST(a_loss_that_the_replays_show_was_only_expected_to_be_small)
{
    search_and_lose(1.2);
    answer_prepare(&answer, &tune);
    double share = answer_share(&tune, tune.engine.chosen);
    settings.search.tolerance_share = 1 - 0.99 * share;
    expect_answer("that are expected to lose at most", "at the choice");
    settings.search.tolerance_share = 1 - 1.01 * share;
    expect_answer("that were expected, at the choice, to lose at most", "are expected");
}

TEST(what_was_taken_at_the_end_is_not_told_as_the_choice)
{
    search_and_lose(0.5);
    tune.engine.surpassed = tune.engine.best;
    answer_prepare(&answer, &tune);
    expect_answer("took the place of ", "--tolerance), the one");
}

TEST(an_interval_too_wide_to_tell_anything_is_not_printed)
{
    search_and_lose(1.2);
    answer_prepare(&answer, &tune);
    tune.engine.chosen = tune.engine.best;
    answer.speedup = (struct objective_ratio){true, 14.2, {1e-5, 237957.1}};
    expect_answer("interval wider than 100 x: too few runs)", "237957");
}

TEST(what_may_be_kept_stands_before_what_to_use)
{
    search_and_lose(0.5);
    tune.engine.chosen = tune.engine.best;
    answer_prepare(&answer, &tune);
    expect_answer("\nUse          request size", "Keep ");
    answer.speedup.ci = (struct interval){0.9, 1.1};
    expect_answer(
        "\n\nKeep         the default, 64k x 1, buffered, psync: the setting below is not shown to be "
        "faster\nOr use       request size",
        "\nUse ");
    tune.engine.baseline = tune.engine.chosen;
    expect_answer("\n\nKeep         request size", "\nOr use");
}

TEST(the_fastest_is_told_by_the_rates_in_the_table)
{
    search_and_lose(0.5);
    answer_prepare(&answer, &tune);
    expect_answer(" more in the replays, at ", "by all runs");
    record_age(&tune.records[tune.engine.chosen]);
    expect_answer(" more by all runs, at ", "in the replays,");
}

static void expect_limit(double max_ns, uint64_t n, double p99_high_ns, const char *present,
                         const char *absent)
{
    struct latency_row *latency = &answer.chosen.latency_ns;
    latency->max = max_ns;
    latency->n = n;
    latency->p99_ci.high = p99_high_ns;
    expect_answer(present, absent);
}

TEST(few_requests_below_the_limit_do_not_show_that_it_is_kept)
{
    search_and_lose(0.5);
    tune.engine.chosen = tune.engine.best;
    answer_prepare(&answer, &tune);
    settings.search.max_latency_p99_ns = 1000000;
    expect_limit(9e5, 299, 9e5, "): kept, the slowest of 299 requests took 900 us\n", "probably kept");
    expect_limit(9e5, 298, 9e5, "): probably kept, the slowest of 298 requests took 900 us\n", "): kept");
    expect_limit(5e6, 5000, 9e5, "): kept, it is at most 900 us\n", "probably kept");
    expect_limit(5e6, 5000, 2e6, "): probably kept, it may be up to 2.00 ms\n", "the slowest");
    expect_limit(5e6, 500, 5e6, "): probably kept; at most 5.00 ms, the slowest of 500 requests\n",
                 "it may be up to");
    answer.chosen.latency_ns.p99 = 1.5e6;
    expect_limit(5e6, 5000, 2e6,
                 "): not in these replays, by all runs probably kept, it may be up to 2.00 ms\n",
                 "): probably kept");
    answer.chosen.point.direct = 0;
    expect_limit(5e6, 5000, 9e5, "): kept, it is at most 900 us, without the flush\n", "probably kept");
}

/* "The one with the least in flight" is not what it loses to. */
TEST(a_fastest_of_few_runs_with_less_in_flight_is_told_as_such)
{
    search_and_lose(0.5);
    answer_prepare(&answer, &tune);
    answer.chosen.point.queue_depth = 4 * answer.best.point.queue_depth;
    answer.chosen.point.request_size_bytes = answer.best.point.request_size_bytes;
    expect_answer("the one with the least in flight", "too few runs to be");
    answer.best.replays = 1;
    expect_answer("; seen in 1 run\n             It has too few runs to be recommended",
                  "the least in flight");
    answer.best.point.queue_depth = 16 * answer.chosen.point.queue_depth;
    expect_answer("the one with the least in flight", "too few runs to be");
}
