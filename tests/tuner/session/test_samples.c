/* Tests of tuner/session/samples. */
#include "tests/test.h"
#include "tuner/session/samples.h"
#include "tuner/session/warnings.h"

#include <errno.h>

static struct histogram latency;

/* A run that nothing is wrong with. */
static struct measure_result good_result(void)
{
    return (struct measure_result){.throughput_bps = 4e6,
                                   .iops = 1000,
                                   .bytes_read = 30,
                                   .bytes_written = 12,
                                   .seconds = 2,
                                   .warmup_seconds = 0.5,
                                   .warmup = MEASURE_WARMUP_STABLE,
                                   .achieved_depth = 8,
                                   .cold = TARGET_COLD_VERIFIED,
                                   .settled = true};
}

TEST(a_run_becomes_a_sample)
{
    struct measure_result result = good_result();
    histogram_init(&latency);
    histogram_add(&latency, 100, 700);
    histogram_add(&latency, 120, 300);
    struct sample sample = sample_of(&result, &latency, 5);
    assert_close(sample.throughput_bps, 4e6, 0);
    assert_close(sample.iops, 1000, 0);
    assert_close(sample.latency_mean_ns, 106, 1e-9);
    assert_close(sample.latency_p99_ns, 120, 0);
    assert_close(sample.seconds, 2, 0);
    assert_close(sample.warmup_seconds, 0.5, 0);
    assert_int_equal(sample.bytes, 42);
    assert_int_equal(sample.warning_set, 5);
    assert_false(sample.confirming);
}

TEST(a_run_without_latencies_has_none)
{
    struct measure_result result = good_result();
    histogram_init(&latency);
    struct sample sample = sample_of(&result, &latency, 0);
    assert_true(isnan(sample.latency_mean_ns));
    assert_true(isnan(sample.latency_p99_ns));
}

/* Adds a replay of n requests of latency_ns each. */
static void add(struct record *record, double bps, bool confirming, uint64_t latency_ns, uint64_t n)
{
    struct sample sample = {.throughput_bps = bps,
                            .iops = bps / 4096,
                            .latency_mean_ns = (double)latency_ns,
                            .latency_p99_ns = (double)latency_ns,
                            .achieved_depth = 2,
                            .confirming = confirming};
    histogram_init(&latency);
    histogram_add(&latency, latency_ns, n);
    assert_int_equal(record_add(record, &sample, &latency), 0);
}

TEST(an_empty_record_has_no_row)
{
    AUTO(record_done) struct record record = {.failed = 0};
    struct row row = {.mean_bps = 7};
    assert_int_equal(row_of(&record, false, 0.95, &row), -ENODATA);
    add(&record, 100, false, 10, 1);
    assert_int_equal(row_of(&record, true, 0.95, &row), -ENODATA);
    assert_close(row.mean_bps, 7, 0);
}

TEST(a_row_has_students_interval)
{
    AUTO(record_done) struct record record = {.point = {4096, 2, 0, API_POOL, 1, SYNC_END, 0, 0}};
    struct row row;
    add(&record, 11, false, 110, 2);
    add(&record, 12, false, 120, 2);
    add(&record, 13, false, 130, 2);
    assert_int_equal(row_of(&record, false, 0.95, &row), 0);
    assert_true(factors_equal(&row.point, &record.point));
    assert_close(row.mean_bps, 12, 1e-12);
    assert_close(row.std_bps, 1, 1e-12);
    /* t(0.975, 2) = 4.302652729911275; divided by sqrt(3) */
    assert_close(row.ci_low_bps, 12 - 2.484137711719, 1e-9);
    assert_close(row.ci_high_bps, 12 + 2.484137711719, 1e-9);
    assert_false(row.ci_corrected);
    assert_close(row.iops, 12.0 / 4096, 1e-15);
    assert_close(row.achieved_depth, 2, 0);
    assert_int_equal(row.replays, 3);
    assert_close(row.latency_ns.mean, 120, 1e-12);
    assert_close(row.latency_ns.ci_high, 120 + 24.84137711719, 1e-8);
    assert_false(row.latency_ns.ci_corrected);
    assert_close(row.latency_ns.max, 130, 0);
}

TEST(wide_spread_extends_the_interval_on_the_side_of_the_skew)
{
    static const double rates[] = {10, 11, 10, 12, 11, 40};
    AUTO(record_done) struct record record = {.failed = 0};
    struct row row;
    for (size_t i = 0; i < 6; i++)
        add(&record, rates[i], i % 2 == 0, 100, 1);
    assert_int_equal(row_of(&record, false, 0.95, &row), 0);
    struct interval plain = student_interval(moments_of(rates, 6), 0.95);
    assert_true(row.ci_corrected && row.ci_high_bps > plain.high);
    assert_close(row.ci_low_bps, plain.low, 1e-9);
    assert_false(row.latency_ns.ci_corrected);
    assert_int_equal(row_of(&record, true, 0.95, &row), 0);
    assert_false(row.ci_corrected);
}

TEST(two_replays_have_no_interval_and_one_no_spread)
{
    AUTO(record_done) struct record record = {.failed = 0};
    struct row row;
    add(&record, 5, false, 10, 1);
    assert_int_equal(row_of(&record, false, 0.95, &row), 0);
    assert_true(isnan(row.std_bps) && isnan(row.ci_low_bps) && isnan(row.ci_high_bps));
    add(&record, 7, false, 10, 1);
    assert_int_equal(row_of(&record, false, 0.95, &row), 0);
    assert_close(row.std_bps, 1.4142135623730951, 1e-12);
    assert_true(isnan(row.ci_low_bps) && isnan(row.ci_high_bps));
    assert_true(isnan(row.latency_ns.ci_low) && isnan(row.latency_ns.ci_high));
}

TEST(fresh_rows_see_fresh_replays_only)
{
    AUTO(record_done) struct record record = {.failed = 0};
    struct row row;
    add(&record, 1000, false, 500, 10);
    add(&record, 10, true, 20, 10);
    add(&record, 30, true, 40, 10);
    record.samples[0].warning_set = 2;
    record.samples[0].sampled = true;
    record.samples[1].warning_set = 8;
    assert_int_equal(record_count(&record, false), 3);
    assert_int_equal(record_count(&record, true), 2);
    assert_int_equal(row_of(&record, true, 0.95, &row), 0);
    assert_close(row.mean_bps, 20, 0);
    assert_close(row.latency_ns.max, 40, 0);
    assert_int_equal(row.warning_set, 8);
    assert_int_equal(row.mostly, 0);
    assert_false(row.latency_ns.sampled);
    assert_int_equal(row_of(&record, false, 0.95, &row), 0);
    assert_close(row.latency_ns.max, 500, 0);
    assert_int_equal(row.warning_set, 10);
    assert_true(row.latency_ns.sampled);
}

TEST(a_minority_of_replays_does_not_doubt_the_point)
{
    struct record record = {.failed = 0};
    for (int i = 0; i < 5; i++)
        add(&record, 100 + i, i >= 3, 10, 1);
    record.samples[0].warning_set = 1;
    record.samples[1].warning_set = 3;
    record.samples[4].warning_set = 3 | UINT64_C(1) << 63;
    assert_int_equal(record_warnings(&record, false), 1);
    /* One of the two fresh ones is no majority. */
    assert_int_equal(record_warnings(&record, true), 0);
    record.samples[3].warning_set = 2;
    assert_int_equal(record_warnings(&record, true), 2);
    assert_int_equal(record_warnings(&record, false), 3);
    record_done(&record);
    assert_int_equal(record_warnings(&record, false), 0);
}

TEST(a_rate_that_is_pinned_is_seen_in_the_row)
{
    AUTO(record_done) struct record record = {.failed = 0};
    struct row row;
    add(&record, 300, false, 10, 1);
    for (int i = 0; i < 3; i++)
        add(&record, 100, false, 10, 1);
    assert_int_equal(row_of(&record, false, 0.95, &row), 0);
    assert_int_equal(row.warning_set, WARNINGS_BIT(WARNING_RATE_PINNED));
}

TEST(moments_are_of_logarithms)
{
    AUTO(record_done) struct record record = {.failed = 0};
    assert_int_equal(record_log_moments(&record, false).n, 0);
    add(&record, 1, false, 10, 1);
    add(&record, exp(2), true, 10, 1);
    struct moments moments = record_log_moments(&record, false);
    assert_int_equal(moments.n, 2);
    assert_close(moments.mean, 1, 1e-12);
    assert_close(moments.std, 1.4142135623730951, 1e-12);
    moments = record_log_moments(&record, true);
    assert_int_equal(moments.n, 1);
    assert_close(moments.mean, 2, 1e-12);
    assert_close(moments.std, 0, 0);
}

TEST(records_grow)
{
    struct record record = {.failed = 0};
    struct row row;
    for (int i = 0; i < 1000; i++)
        add(&record, 1e9 + i, i % 2 == 0, 10, 1);
    assert_int_equal(row_of(&record, false, 0.95, &row), 0);
    assert_close(row.mean_bps, 1e9 + 499.5, 1e-5);
    assert_int_equal(record_count(&record, true), 500);
    record_done(&record);
    assert_int_equal(record.n, 0);
    record_done(&record);
}

#define WINDOWS 101

/* A run of 100 full windows of 10 ms and an open one, whose first windows hold up to `excess` times the bytes
 * of the later ones; a little scatter, the same every time. */
static struct measure_result run_with(double excess)
{
    struct measure_result result = {.seconds = 1.005,
                                    .iops = 1000,
                                    .achieved_depth = 8,
                                    .settled = true,
                                    .windows = {.width_ns = 10000000, .n = WINDOWS}};
    for (size_t i = 0; i < WINDOWS; i++) {
        double scatter = 0.01 * ((double)(i * 37 % 19) / 9 - 1);
        double rate = (1 + scatter) * (1 + (excess - 1) * exp(-(double)i / 4));
        result.windows.bytes[i] = (uint64_t)(1e6 * rate);
        result.bytes_read += result.windows.bytes[i];
    }
    result.throughput_bps = (double)result.bytes_read / result.seconds;
    return result;
}

TEST(a_steady_run_stays_whole)
{
    struct measure_result result = run_with(1);
    assert_close(initial_transient_of(&result).seconds, 0, 0);
    assert_close(initial_transient_of(&result).rate_ratio, 1, 0);
}

TEST(a_transient_is_left_out_with_its_bytes)
{
    struct measure_result result = run_with(2);
    struct initial_transient transient = initial_transient_of(&result);
    size_t n_cut = (size_t)lround(transient.seconds / 0.01);
    double rest = 0, all = 0;
    assert_true(n_cut >= 10 && n_cut <= 50);
    for (size_t i = 0; i < WINDOWS - 1; i++) {
        all += (double)result.windows.bytes[i] / (WINDOWS - 1);
        rest += i >= n_cut ? (double)result.windows.bytes[i] / (double)(WINDOWS - 1 - n_cut) : 0;
    }
    assert_close(transient.rate_ratio, rest / all, 1e-9);
}

TEST(a_flush_a_pause_or_few_windows_leave_the_run_whole)
{
    struct measure_result runs[] = {run_with(2), run_with(2), run_with(2), run_with(2)};
    runs[0].flush_seconds = 0.1;
    runs[1].windows.bytes[70] = 0;
    runs[2].windows.n = 15;
    runs[3].windows.n = 0;
    for (size_t i = 0; i < N_OF(runs); i++)
        assert_close(initial_transient_of(&runs[i]).seconds, 0, 0);
}

TEST(a_sample_counts_what_is_left_out_as_warmup)
{
    struct measure_result result = run_with(2);
    result.warmup_seconds = 0.25;
    histogram_init(&latency);
    struct sample sample = sample_of(&result, &latency, 0);
    struct initial_transient transient = initial_transient_of(&result);
    assert_close(sample.warmup_seconds, 0.25 + transient.seconds, 1e-12);
    assert_close(sample.seconds, 1.005 - transient.seconds, 1e-12);
    assert_close(sample.throughput_bps, (double)sample.bytes / sample.seconds, 1);
    assert_close(sample.iops / 1000, sample.throughput_bps / result.throughput_bps, 1e-9);
    /* 1 MB in 10 ms. */
    assert_close(sample.throughput_bps, 1e8, 2e6);
}
