/* Tests of tuner/session/percentiles and tuner/session/latency_quantiles. How often the intervals hold:
 * tests/tuner/commands/test_coverage.c. */
#include "tests/test.h"
#include "tuner/session/samples.h"

static struct histogram latency, pooled;

/* 1000, 1001 ... 2000 us, so that shares are easy to name. */
static void fill(struct histogram *histogram, double factor, uint64_t each)
{
    histogram_init(histogram);
    for (int i = 0; i <= 1000; i++)
        histogram_add(histogram, (uint64_t)(factor * (1000 + i) * 1000), each);
}

static void add(struct record *record, double factor, uint64_t each, bool confirming)
{
    struct sample sample = {.throughput_bps = 1e6, .confirming = confirming};
    fill(&latency, factor, each);
    assert_int_equal(record_add(record, &sample, &latency), 0);
    histogram_merge(&pooled, &latency);
}

static struct latency_row row_over(const struct record *record, bool confirming)
{
    struct latency_row row = {0};
    assert_int_equal(percentiles_fill(record, confirming, 0.95, &pooled, &row), 0);
    return row;
}

TEST(a_sketch_counts_what_lies_beyond)
{
    fill(&latency, 1, 10);
    struct latency_quantiles quantiles = latency_quantiles_of(&latency);
    assert_int_equal(quantiles.n, 10010);
    assert_close(latency_quantiles_beyond(&quantiles, 999999), 10010, 0);
    assert_close(latency_quantiles_beyond(&quantiles, 2000001), 0, 0);
    for (int i = 5; i < 1000; i += 13)
        assert_close(latency_quantiles_beyond(&quantiles, (1000 + i) * 1000), (1000 - i) * 10, 150);
    assert_close(latency_quantiles_beyond(&quantiles, 1990000), 100, 60);
}

TEST(of_equal_latencies_half_lie_beyond)
{
    histogram_init(&latency);
    struct latency_quantiles quantiles = latency_quantiles_of(&latency);
    assert_close(latency_quantiles_beyond(&quantiles, 5), 0, 0);
    histogram_add(&latency, 70, 40);
    quantiles = latency_quantiles_of(&latency);
    assert_close(latency_quantiles_beyond(&quantiles, 69.5), 40, 0);
    assert_close(latency_quantiles_beyond(&quantiles, 70), 20, 0);
    assert_close(latency_quantiles_beyond(&quantiles, 70.5), 0, 0);
}

TEST(a_percentile_of_a_run_needs_an_order_statistic_beyond)
{
    histogram_init(&latency);
    histogram_add(&latency, 100, 367);
    assert_true(isnan(percentiles_of_run(&latency, 0.99)));
    histogram_add(&latency, 100, 1);
    assert_close(percentiles_of_run(&latency, 0.99), 100, 0);
    assert_true(isnan(percentiles_of_run(&latency, 0.999)));
}

TEST(runs_alike_support_what_their_requests_do)
{
    AUTO(record_done) struct record record = {.failed = 0};
    histogram_init(&pooled);
    for (int i = 0; i < 4; i++)
        add(&record, 1, 1, true);
    struct latency_row row = row_over(&record, true);
    assert_close(row.p50, 1500e3, 12e3);
    assert_true(row.p50_ci.low < row.p50 && row.p50_ci.high > row.p50);
    assert_close(row.p50_ci.high - row.p50_ci.low, 55e3, 17e3);
    assert_close(row.p99, 1990e3, 16e3);
    assert_true(row.p99_ci.low <= row.p99 && row.p99_ci.high >= row.p99);
    assert_close(row.p999, 1999e3, 16e3);
}

TEST(runs_that_differ_support_less)
{
    struct record alike = {.failed = 0}, apart = {.failed = 0};
    histogram_init(&pooled);
    for (int i = 0; i < 6; i++)
        add(&alike, 1, 10, false);
    double narrow = row_over(&alike, false).p50_ci.high - row_over(&alike, false).p50_ci.low;
    histogram_init(&pooled);
    for (int i = 0; i < 6; i++)
        add(&apart, i == 0 ? 1.5 : 1 + 0.02 * i, 10, false);
    struct latency_row row = row_over(&apart, false);
    assert_true(row.p50_ci.high - row.p50_ci.low > 2 * narrow);
    assert_true(isnan(row.p999) && isnan(row.p999_ci.low));
    record_done(&alike);
    record_done(&apart);
}

TEST(two_runs_have_percentiles_without_interval)
{
    AUTO(record_done) struct record record = {.failed = 0};
    histogram_init(&pooled);
    add(&record, 1, 1, false);
    add(&record, 1.1, 1, false);
    struct latency_row row = row_over(&record, false);
    assert_true(isfinite(row.p50) && isfinite(row.p99));
    assert_true(isnan(row.p50_ci.low) && isnan(row.p99_ci.high));
}

TEST(fresh_percentiles_look_at_fresh_replays)
{
    AUTO(record_done) struct record record = {.failed = 0};
    for (int i = 0; i < 3; i++)
        add(&record, i == 0 ? 3 : 1, 5, false);
    histogram_init(&pooled);
    for (int i = 0; i < 3; i++)
        add(&record, 1, 5, true);
    assert_true(isfinite(row_over(&record, true).p999));
    assert_true(isnan(row_over(&record, false).p999));
}

TEST(no_request_supports_nothing)
{
    AUTO(record_done) struct record record = {.failed = 0};
    histogram_init(&pooled);
    struct latency_row row = row_over(&record, false);
    assert_true(isnan(row.p50) && isnan(row.p99) && isnan(row.p999));
}
