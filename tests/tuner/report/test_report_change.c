/* Tests of tuner/report/report_change: what may be kept, and what else changes than the rate. */
#include "tests/tuner/search/tune_rig.h"
#include "tuner/report/report_change.h"

#include <errno.h>

SEARCHES(enter);

static char said[REPORT_CHANGE_SIZE];

static void search_from(const char *options)
{
    search(words("peak.conf --budget 20s --seed 1 --request-size 4k,16k,64k,256k %s", options));
    answer_prepare(&answer, &tune);
    assert_true(answer.has_rows && answer.has_baseline && answer.speedup.has);
}

static void expect_keep(double low, double high, const char *expected)
{
    answer.speedup.ci = (struct interval){low, high};
    assert_string_equal(report_change_keep(&answer, said), expected);
}

TEST(what_is_shown_to_be_slower_is_not_kept)
{
    search_from("");
    assert_true(answer.speedup.ci.low > 1);
    assert_string_equal(report_change_keep(&answer, said), "");
}

TEST(without_a_gain_that_is_shown_the_default_may_be_kept)
{
    search_from("");
    expect_keep(0.98, 1.1,
                "the default, 64k x 1, buffered, psync: the setting below is not shown to be faster");
    expect_keep(0.8, 0.9, "the default, 64k x 1, buffered, psync: the setting below is slower");
}

TEST(less_in_flight_is_a_reason_of_its_own_to_change)
{
    search_from("--current request_size=256k,queue_depth=16,direct=1,api=io_uring");
    expect_keep(
        0.98, 1.1,
        "the current setting, 256k x 16, direct, io_uring: the setting below is not shown to be faster, "
        "but has less in flight");
}

/* An interrupted search has no gain to show. */
TEST(without_a_comparison_the_default_may_be_kept)
{
    search_from("");
    answer.speedup.has = false;
    const char *expected =
        "the default, 64k x 1, buffered, psync: the setting below is not compared with it: too few runs";
    expect_keep(0.9, 1.1, expected);
    answer.has_baseline = false;
    expect_keep(0.9, 1.1, expected);
}

TEST(what_cannot_run_or_is_recommended_is_not_kept)
{
    search_from("");
    size_t baseline = tune.engine.baseline;
    tune.records[baseline].failed = -EIO;
    expect_keep(0.9, 1.1, "");
    tune.records[baseline].failed = 0;
    tune.engine.baseline = tune.engine.chosen;
    expect_keep(0.9, 1.1, "");
    tune.engine.baseline = baseline;
    settings.search.profile = PROFILE_BALANCED;
    expect_keep(0.9, 1.1, "");
}

/* It would be advice to break what was asked for. */
TEST(what_is_over_the_limit_is_not_kept)
{
    search_from("--max-latency-p99 1s");
    struct engine_point *baseline = &tune.engine.points[tune.engine.baseline];
    expect_keep(0.98, 1.1,
                "the default, 64k x 1, buffered, psync: the setting below is not shown to be faster");
    baseline->limit.n_over = baseline->limit.n_timed;
    expect_keep(0.98, 1.1, "");
}

/* More throughput is no reason where latency is looked for, and the other way round. */
TEST(of_a_latency_the_latency_decides)
{
    search("peak.conf --budget 20s --seed 1 --request-size 64k --objective latency");
    answer_prepare(&answer, &tune);
    assert_true(answer.has_rows && tune.engine.chosen != tune.engine.baseline);
    struct record *record = &tune.records[tune.engine.baseline];
    answer.speedup.ci = (struct interval){0.9, 1.1};
    assert_string_equal(report_change_keep(&answer, said), "");
    for (size_t i = 0; i < record->n; i++)
        record->samples[i].latency_mean_ns /= 3;
    assert_string_equal(report_change_keep(&answer, said),
                        "the default, 64k x 1, buffered, psync: the setting below is worse");
}

TEST(writes_that_promise_unlike_things_are_told_once)
{
    search_from("");
    answer.chosen.point.direct = answer.best.point.direct = 1;
    answer.baseline.point.direct = 0;
    answer.chosen.latency_ns.mean = 2e6;
    answer.baseline.latency_ns.mean = 1e4;
    const char *expected =
        "a direct write waits for the device (2.00 ms), a buffered one for memory alone (10.0 us), "
        "and a crash of this machine before its flush loses it";
    assert_string_equal(report_change_promises(&answer, said), expected);
    answer.chosen.point.direct = answer.best.point.direct = 0;
    answer.baseline.point.direct = 1;
    answer.chosen.latency_ns.mean = 1e4;
    answer.baseline.latency_ns.mean = 2e6;
    assert_string_equal(report_change_promises(&answer, said), expected);
    /* Of a mix, the latencies are of reads as well. */
    assert_int_equal(pattern_parse("randrw:70", &settings.workload.pattern, &err), 0);
    assert_non_null(strstr(report_change_promises(&answer, said),
                           "mean latencies of reads and writes: 2.00 ms and 10.0 us)"));
    assert_int_equal(pattern_parse("randwrite", &settings.workload.pattern, &err), 0);
    answer.chosen.point.sync = SYNC_EACH;
    assert_string_equal(report_change_promises(&answer, said), "");
}

TEST(of_alike_settings_no_promises_are_told)
{
    search_from("");
    answer.baseline.point.direct = answer.best.point.direct = answer.chosen.point.direct;
    answer.has_default_setting = false;
    assert_string_equal(report_change_promises(&answer, said), "");
    answer.best.point.direct = !answer.chosen.point.direct;
    assert_string_not_equal(report_change_promises(&answer, said), "");
}

TEST(of_reads_the_page_cache_is_told)
{
    search_from("");
    answer.baseline.point.direct = !answer.chosen.point.direct;
    assert_int_equal(pattern_parse("randread", &settings.workload.pattern, &err), 0);
    assert_non_null(strstr(report_change_promises(&answer, said), "a buffered read leaves its data"));
}
