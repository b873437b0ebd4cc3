/* Tests of when bench/io/pump samples latencies instead of recording each, and of what the sample tells. */
#include "tests/bench/io/pump_rig.h"

LATENCY(latency_1999ns, 1999)

LATENCY(latency_2000ns, 2000)

static bool is_sampled(uint64_t (*latency_ns)(struct script *, uint64_t), uint32_t depth, uint32_t n_requests)
{
    struct pump_rig *rig = rig_alloc("randread", depth, latency_ns);
    rig->config.requests_per_call = n_requests;
    rig_run(rig);
    bool sampled = rig->stats.sampled;
    assert_int_equal(sampled, rig->stats.counted.n_sampled < rig->stats.counted.n_requests);
    assert_int_equal(rig->latency.n, rig->stats.counted.n_sampled);
    assert_int_equal(rig_window_bytes(rig), rig_bytes(rig));
    assert_int_equal(rig_bytes(rig), 4096 * rig->stats.counted.n_requests);
    rig_free(&rig);
    return sampled;
}

TEST(sampling_begins_below_2_us_at_depth_1)
{
    assert_true(is_sampled(latency_1999ns, 1, 1));
    assert_false(is_sampled(latency_2000ns, 1, 1));
    assert_false(is_sampled(latency_1999ns, 2, 1));
    assert_false(is_sampled(latency_1999ns, 1, 8));
}

/* A device with a period of its own, the same as the mean gap between two samples. */
LATENCY(latency_with_spikes, index % 32 == 31 ? 8000 : 1000)

TEST(sample_is_not_biased_by_a_period_of_the_device)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_with_spikes);
    double mean_ns = 0, truth_ns = (31 * 1000 + 8000) / 32.0;
    rig->end.duration_ns = 2000 * MS;
    rig_run(rig);
    assert_true(rig->stats.sampled);
    assert_int_equal(histogram_mean_ns(&rig->latency, &mean_ns), 0);
    assert_close(mean_ns, truth_ns, 0.02 * truth_ns);
    assert_close((double)rig->stats.counted.n_requests / (double)rig->stats.counted.n_sampled, 32, 0.5);
}

TEST(sampled_batches_are_timed_as_a_whole)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_1us);
    rig_run(rig);
    assert_int_equal(rig->stats.counted.n_requests, 10000);
    assert_int_equal(rig->stats.batches.n, 1000);
    assert_close(rig->stats.batches.mean_ns, 10e3, 1e-6);
    assert_close(rig->stats.batches.min_ns, 10e3, 1e-6);
    assert_close(rig->stats.batches.max_ns, 10e3, 1e-6);
    assert_close(rig->stats.depth_area, 10e6, 0.5);
}

/* The last requests are issued before the clock is looked at again. */
TEST(batches_between_two_stamps_share_their_time)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_1us);
    rig->end.batches_per_stamp = 4;
    rig_run(rig);
    assert_true(rig->stats.sampled);
    assert_in_range(rig->stats.counted.n_requests, 10000, 10039);
    assert_int_equal(rig_bytes(rig), 4096 * rig->stats.counted.n_requests);
    assert_int_equal(rig->stats.batches.n, rig->stats.counted.n_requests / 10);
    assert_close(rig->stats.batches.mean_ns, 10e3, 1e-6);
    rig->end.max_bytes = 4096 * 25;
    rig_run(rig);
    assert_int_equal(rig->stats.counted.n_requests, 25);
}

LATENCY(latency_slow_start, index == 0 ? 100 * US : 1 * US)

TEST(slow_first_request_does_not_forbid_sampling)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_slow_start);
    rig_run(rig);
    assert_true(rig->stats.sampled);
}

LATENCY(latency_very_slow_start, index == 0 ? 3 * MS : 1 * US)

/* On average it comes below 2 us only after 3000 requests, whose latencies would be lost. */
TEST(sampling_does_not_begin_late)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_very_slow_start);
    rig_run(rig);
    assert_true(rig->stats.counted.n_requests > 4000);
    assert_false(rig->stats.sampled);
    assert_int_equal(rig->latency.max_ns, 3 * MS);
}

/* A sequential read of the disk: one in 16 waits for it, the others find what was read ahead. */
LATENCY(latency_read_ahead, index % 16 == 0 ? 300 * US : 1 * US)

TEST(fast_batches_between_slow_ones_are_not_sampled)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("read", 1, latency_read_ahead);
    rig->config.batch_requests = 5;
    rig_run(rig);
    assert_false(rig->stats.sampled);
}

/* The first phase taught it; the second one samples from its first request. */
TEST(sampling_is_expected_in_the_next_phase)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_1us);
    rig_run(rig);
    rig->end.max_bytes = 5 * 4096;
    rig_run(rig);
    assert_true(rig->stats.sampled);
    assert_int_equal(rig->stats.counted.n_requests, 5);
    assert_true(rig->stats.counted.n_sampled >= 1);
}

LATENCY(latency_late_slow, index < 1000 ? 1 * US : 50 * US)

TEST(sampling_ends_after_a_slow_phase)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_late_slow);
    rig->end.max_bytes = 1000 * 4096;
    rig_run(rig);
    assert_true(rig->stats.sampled);
    rig->end.max_bytes = 0;
    rig_run(rig);
    assert_true(rig->stats.sampled);
    rig_run(rig);
    assert_false(rig->stats.sampled);
    assert_int_equal(rig->stats.counted.n_sampled, rig->stats.counted.n_requests);
}

/* 300 requests find what was read ahead, one waits; the second phase starts among the fast ones. */
LATENCY(latency_far_read_ahead, index % 301 == 0 ? 3 * MS : 1 * US)

TEST(fast_start_after_a_slow_phase_is_not_sampled)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("read", 1, latency_far_read_ahead);
    rig->end.max_bytes = 400 * 4096;
    rig_run(rig);
    assert_false(rig->stats.sampled);
    rig_run(rig);
    assert_false(rig->stats.sampled);
    assert_int_equal(rig->latency.n, 400);
}
