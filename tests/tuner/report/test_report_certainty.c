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

TEST(the_tolerance_that_would_take_the_answer_is_named)
{
    search_and_lose(0.65);
    struct engine_point *chosen_point = &tune.engine.points[tune.engine.chosen];
    chosen_point->confirming.n = ENGINE_CONFIRMING_LEAST;
    expect_certainty(": it may lose up to 13 %\n", "a larger --tolerance");
    expect_certainty(" (now 60s), from the start again, may settle it.\n"
                     "             --tolerance 13% would accept this one as it is",
                     "a larger --tolerance");
    chosen_point->confirming.n = ENGINE_CONFIRMING_LEAST - 1;
    expect_certainty("may settle it", "would accept");
}

TEST(what_ended_the_search_is_named_with_all_that_it_is_now)
{
    search_and_lose(0.65);
    tune.engine.stop = ENGINE_STOP_WRITES;
    settings.limits.budget_ns = 1000000000;
    settings.limits.max_write_bytes = 1ULL << 30;
    expect_certainty(" (now 1g --budget 1s)", "(now --max-write");
    settings.limits.budget_ns = 1250000000;
    settings.limits.max_write_bytes = 1500ULL << 20;
    expect_certainty(" (now 1500m --budget 1.25s)", "(now 2g");
}

/* Settled is what was asked; whether something cheaper would do may be open. */
TEST(what_is_good_enough_may_leave_open_whether_less_would_do)
{
    search_and_lose(0.3);
    tune.engine.conclusive = true;
    tune.engine.chosen = tune.engine.best;
    settings.search.tolerance_share = 0.5;
    for (size_t i = 0; i < tune.space.n_points; i++) {
        tune.engine.verdicts[i] = VERDICT_WORSE;
        tune.engine.points[i].in_flight_bytes = i == tune.engine.chosen ? 2 : 1;
    }
    expect_certainty("Conclusive: --tolerance 50 % asks for at least 90 %.\n", "is not settled");
    size_t other = rig_other_setting();
    tune.engine.verdicts[other] = VERDICT_UNDECIDED;
    tune.engine.belief.mean[other] = tune.engine.belief.mean[tune.engine.chosen];
    record_age(&tune.records[other]);
    expect_certainty("; whether less in flight would do, too, is not settled.\n", "Not conclusive");
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
    answer.chosen.point.queue_depth = 1000;
    expect_answer(" at the end: it looked better.\n", "--tolerance), the one");
    answer.chosen.point.request_size_bytes = 512;
    answer.chosen.point.queue_depth = 1;
    expect_answer(" at the end: it has less in flight and looked no worse.\n", "--tolerance), the one");
    tune.engine.surpassed = tune.engine.chosen;
    tune.engine.chosen = tune.engine.best;
    expect_answer(" at the end: it ", "--tolerance), the one");
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
    expect_answer(" more in the replays, at ", "more by the");
    record_age(&tune.records[tune.engine.chosen]);
    expect_answer(" more by the search's estimate, at ", "in the replays,");
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
    expect_limit(9e5, 299, 9e5,
                 "): kept: even the slowest of the replays' 299 requests took 900 us, without the flush\n",
                 "probably kept");
    expect_limit(9e5, 298, 9e5,
                 "): probably kept: even the slowest of the replays' 298 requests took 900 us, without",
                 "): kept");
    expect_limit(5e6, 5000, 9e5, "): kept, it is at most 900 us, without the flush\n", "probably kept");
    expect_limit(5e6, 5000, 2e6, "): probably kept, it may be up to 2.00 ms, without", "the slowest");
    expect_limit(5e6, 500, 5e6,
                 "): probably kept; at most 5.00 ms, the slowest of the replays' 500 requests, without",
                 "it may be up to");
    answer.chosen.latency_ns.p99 = 1.5e6;
    expect_limit(5e6, 5000, 2e6,
                 "): not in these replays, by all runs probably kept, it may be up to 2.00 ms, without",
                 "): probably kept");
    answer.chosen.point.sync = SYNC_NONE;
    expect_limit(5e6, 5000, 9e5, "): kept, it is at most 900 us\n", "probably kept");
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

/* One run of 35 times the latency was lucky. */
TEST(what_is_not_faster_is_not_called_the_fastest)
{
    search_and_lose(0.5);
    record_age(&tune.records[tune.engine.chosen]);
    tune.engine.belief.mean[tune.engine.chosen] = tune.engine.belief.mean[tune.engine.best];
    answer_prepare(&answer, &tune);
    answer.best.point.direct = answer.chosen.point.direct;
    answer.best.latency_ns.mean = 34.3 * answer.chosen.latency_ns.mean;
    expect_answer("\nFastest      none is shown to be faster; the search's estimate is best for ",
                  " more by the search");
    expect_answer(", at 34 x the latency and ", "35 x");
}

TEST(what_the_search_expected_to_be_the_fastest_may_not_be)
{
    search_and_lose(0.5);
    size_t best = tune.engine.best;
    tune.engine.best = tune.engine.chosen;
    tune.engine.chosen = best;
    answer_prepare(&answer, &tune);
    expect_answer("\nFastest      the recommended one in the replays after the choice; the search's estimate "
                  "is best for ",
                  "none is shown");
    expect_answer("  expected fastest\n", "  fastest\n");
    expect_answer("\n   expected fastest: by the search's estimate, and not in the replays", "none is shown");
}

TEST(of_a_latency_another_best_is_told_as_well)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--budget", "60s", "--seed",
                 "1", "--request-size", "64k", "--objective", "latency", NULL);
    run();
    tune.engine.best = rig_other_setting();
    answer_prepare(&answer, &tune);
    expect_answer("\nBest         none is shown to be better; ", "Fastest");
    expect_answer("est. of best: the best's as a share of this one's, estimated", "of best: by");
}

TEST(what_an_answer_is_of_is_told)
{
    static const char *const asked[] = {"recommend", "--path", "/it's", NULL};
    search_and_lose(0.5);
    answer_prepare(&answer, &tune);
    expect_answer("psync, durable at the end of a run\n             (--request-size", "Asked");
    settings.words = asked;
    expect_answer("\nAsked        fstune recommend --path '/it'\\''s'\n", "lies in memory");
    notes_add(&session->warnings, "host_durability", "the host says so");
    expect_answer("\", a virtual disk that its host may cache\n", "lies in memory");
    notes_add(&session->warnings, "memory_backed", "in memory");
    expect_answer("\": the file lies in memory, no device was measured\n", "virtual disk");
}

TEST(a_limit_that_holds_the_answer_is_told)
{
    search_and_lose(0.5);
    answer_prepare(&answer, &tune);
    expect_answer("Throughput", "Limited to");
    tune.engine.belief.ceiling = log(1e12);
    expect_answer("Throughput", "Limited to");
    for (size_t i = 0; i < tune.space.n_points; i++)
        tune.engine.belief.moments[i].mean = log(2e8);
    tune.engine.belief.ceiling = log(2e8);
    expect_answer("\nLimited to   200 MB/s by the control group (io.max, blkio.throttle): ", "as it seems");
    session->target_facts.stack.caps_known = true;
    session->target_facts.stack.cap_write_bps = 2e8;
    session->target_facts.stack.cap_write_iops = 3000;
    expect_answer("\nLimited to   200 MB/s and 3000 requests a second by the control group ", "as it seems");
    session->target_facts.stack.cap_write_bps = 0;
    expect_answer("\nLimited to   3000 requests a second by the control group ", "as it seems");
    session->target_facts.stack.cap_write_iops = 1e6;
    expect_answer("\nLimited to   200 MB/s by the control group ", "requests a second by");
    /* The rule of the choice is another one then. */
    assert_true(tune.engine.best != tune.engine.chosen);
    tune.engine.chosen_at_ceiling = true;
    expect_answer(" that seem to reach the limit on the rate, the one with", "(--tolerance), the one with");
}

TEST(the_fastest_is_this_one_unless_few_runs_look_faster)
{
    size_t lucky = 0;
    search_and_lose(0.5);
    tune.engine.chosen = tune.engine.best;
    answer_prepare(&answer, &tune);
    tune.engine.conclusive = true;
    expect_answer("\nFastest      this one\n", "may be faster");
    tune.engine.conclusive = false;
    expect_answer("\nFastest      this one, as it seems\n", "may be faster");
    answer.speedup.ci = (struct interval){0.9, 1.1};
    expect_answer("\nKeep         the default", "\nFastest");
    answer.speedup.ci = (struct interval){1.9, 2.1};
    while (lucky == tune.engine.best || lucky == tune.engine.baseline || tune.records[lucky].n == 0)
        lucky++;
    tune.records[lucky].n = 1;
    tune.engine.verdicts[lucky] = VERDICT_UNDECIDED;
    tune.engine.belief.mean[lucky] = tune.engine.belief.mean[tune.engine.best] + 0.3;
    expect_answer(" may be faster, by the search's estimate\n", "as it seems");
    answer.chosen.mean_bps = 1;
    expect_answer(" in only 1 run\n", "by the search's estimate");
    settings.search.max_latency_p99_ns = 1000000;
    tune.engine.limit_ns = 1e6;
    expect_answer("\nFastest      this one, of those within the limit, as it seems\n", " in 1 run ");
    tune.engine.limit_ns = 0;
}

TEST(what_is_expected_to_lose_more_than_the_tolerance_is_for_now)
{
    search_and_lose(0.5);
    answer_prepare(&answer, &tune);
    tune.engine.conclusive = false;
    expect_answer("\nKeep         request size", "for now");
    tune.engine.expected_shortfall = 2 * tune.engine.tolerance;
    expect_answer("\nKeep for now request size", "Use");
    tune.engine.baseline = ENGINE_NONE;
    expect_answer("\nUse for now  request size", "Keep");
}

/* It has lost more in its replays than it was chosen for. */
TEST(the_recommended_row_says_what_it_lost)
{
    char standing[REPORT_STANDING_SIZE];
    search_and_lose(3);
    answer_prepare(&answer, &tune);
    tune.engine.verdicts[tune.engine.chosen] = VERDICT_UNDECIDED;
    assert_string_equal(report_table_standing(&tune, tune.engine.chosen, standing),
                        "recommended, probably slower");
    tune.engine.verdicts[tune.engine.chosen] =
        VERDICT_EQUIVALENT; /* by all runs, not by those after the choice */
    assert_string_equal(report_table_standing(&tune, tune.engine.chosen, standing), "recommended");
    tune.engine.verdicts[tune.engine.chosen] = VERDICT_UNDECIDED;
    tune.engine.belief.mean[tune.engine.chosen] = tune.engine.belief.mean[tune.engine.best];
    record_age(&tune.records[tune.engine.chosen]);
    assert_string_equal(report_table_standing(&tune, tune.engine.chosen, standing), "recommended");
}

TEST(a_rate_between_two_levels_is_told_as_such)
{
    search_and_lose(0.5);
    answer_prepare(&answer, &tune);
    answer.has_sustained = true;
    answer.sustained.levels =
        (struct levels_verdict){.two = true, .low = 1e9, .high = 2e9, .n_low = 3, .n_high = 4};
    answer.chosen.mean_bps = 1.5e9;
    expect_answer("             two levels: 3 runs at about 1.00 GB/s, 4 at about 2.00 GB/s; ", "Limited to");
    answer.chosen.mean_bps = 1.01e9; /* as of the replays, where the rate fell before them */
    expect_answer("Throughput   1.01 GB/s", "two levels");
}

TEST(runs_that_are_not_compared_are_told)
{
    search_and_lose(0.5);
    answer_prepare(&answer, &tune);
    session->n_runs = tune.engine.belief.n_told;
    expect_answer(" runs of ", "of them compared");
    session->n_runs++;
    expect_answer(" of them compared, ", " runs compared");
}

/* A gain is of geometric means, and the rates beside it may have another ratio. */
TEST(the_rates_of_a_gain_are_told_where_those_beside_it_have_another_ratio)
{
    search_and_lose(0.5);
    tune.engine.chosen = tune.engine.best;
    answer_prepare(&answer, &tune);
    expect_answer("\nGain         ", "geometric");
    answer.baseline.mean_bps *= 1.1;
    expect_answer(", of geometric means: ", "Keep");
}

/* A run of buffered writes ends with its bytes, a slow one lasts longer; one that was cut short says nothing.
 */
TEST(the_shortest_and_the_longest_run_are_told)
{
    search_and_lose(0.5);
    answer_prepare(&answer, &tune);
    for (size_t i = 0; i < tune.n_records; i++)
        tune.engine.points[i].last_seconds = tune.records[i].n > 0 ? 0.05 : 0;
    expect_answer(" runs of 50.0 ms", " runs of 50.0 ms to ");
    tune.engine.points[tune.engine.best].last_seconds = 0.023;
    tune.engine.points[tune.engine.chosen].last_seconds = 0.03;
    expect_answer(" runs of 23.0 ms to 50.0 ms", "runs of 50.0 ms");
    tune.engine.points[tune.engine.best].is_cut = true;
    expect_answer(" runs of 30.0 ms to 50.0 ms", "runs of 50.0 ms");
    tune.engine.points[tune.engine.best].last_seconds = 0.2;
    expect_answer(" runs of 30.0 ms to 200 ms", "runs of 50.0 ms");
}

/* What cannot be trusted is not recommended; but it may be what the recommended setting is compared with. */
TEST(what_is_not_trusted_is_loud_only_where_it_is_compared_with)
{
    search_and_lose(0.5);
    answer_prepare(&answer, &tune);
    notes_disqualify(&session->warnings, warnings_table[WARNING_DEPTH_NOT_ACHIEVED].code, "1 of 9 settings");
    expect_answer("  - depth_not_achieved: 1 of 9 settings", "NOT TRUSTWORTHY");
    answer.baseline.disqualifying = WARNINGS_BIT(WARNING_DEPTH_NOT_ACHIEVED);
    expect_answer("  - NOT TRUSTWORTHY (depth_not_achieved): 1 of 9 settings", "- depth_not_achieved:");
}
