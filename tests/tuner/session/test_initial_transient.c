/* Tests of tuner/session/initial_transient. */
#include "tests/test.h"
#include "tuner/session/initial_transient.h"
#include "tuner/session/samples.h"

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
    struct measure_result flushed = run_with(2), paused = run_with(2), brief = run_with(2),
                          none = run_with(2);
    flushed.flush_seconds = 0.1;
    paused.windows.bytes[70] = 0;
    brief.windows.n = 15;
    none.windows.n = 0;
    assert_close(initial_transient_of(&flushed).seconds, 0, 0);
    assert_close(initial_transient_of(&paused).seconds, 0, 0);
    assert_close(initial_transient_of(&brief).seconds, 0, 0);
    assert_close(initial_transient_of(&none).seconds, 0, 0);
}

TEST(a_sample_counts_what_is_left_out_as_warmup)
{
    static struct histogram latency;
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
