/* Tests of what bench/io/pump records: latencies, depth over time, windows. */
#include "tests/bench/io/pump_rig.h"

/* ---- latency ---- */

static void check_stamps(uint32_t depth, size_t accept_max)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", depth, latency_random);
    rig->script.submit_cost_ns = 7 * US;
    rig->script.accept_max = accept_max;
    rig_run(rig);
    assert_true(rig->script.n_accepted > 100 && rig->script.n_accepted <= SCRIPT_LOG);
    for (uint64_t i = 0; i < rig->script.n_accepted; i++)
        assert_int_equal(rig->script.log[i].stamp_ns, rig->script.log[i].entered_ns);
    assert_int_equal(rig->latency.n, rig->stats.counted.n_requests);
    assert_int_equal(rig->stats.counted.n_sampled, rig->stats.counted.n_requests);
}

TEST(latency_is_stamped_before_submit)
{
    check_stamps(1, 0);
    check_stamps(2, 0);
    check_stamps(32, 0);
    check_stamps(32, 3); /* what was not accepted is stamped again when it is */
}

LATENCY(latency_none, 0)

TEST(time_spent_inside_submit_is_latency)
{
    const uint32_t depths[] = {1, 4};
    for (size_t i = 0; i < N_OF(depths); i++) {
        AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", depths[i], latency_none);
        rig->script.submit_cost_ns = 50 * US;
        rig_run(rig);
        assert_int_equal(rig->latency.min_ns, 50 * US);
        assert_int_equal(rig->latency.max_ns, 50 * US);
    }
}

TEST(latencies_are_those_of_the_script)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 32, latency_random);
    rig_run(rig);
    double sum_ns = 0;
    for (uint64_t i = 0; i < rig->script.n_accepted; i++)
        sum_ns += (double)(rig->script.log[i].done_ns - rig->script.log[i].entered_ns);
    assert_close(rig->latency.sum_ns, sum_ns, 0.5);
    assert_int_equal(rig->latency.min_ns, 10 * US);
    assert_int_equal(rig->latency.max_ns, 60 * US);
}

TEST(requests_of_one_call_share_its_latency)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_15us);
    rig->config.requests_per_call = 8;
    rig_run(rig);
    assert_int_equal(rig->stats.counted.n_requests, 8 * rig->script.n_accepted);
    assert_int_equal(rig->latency.n, rig->stats.counted.n_requests);
    assert_int_equal(rig->latency.min_ns, 15 * US);
    assert_int_equal(rig->latency.max_ns, 15 * US);
    assert_int_equal(rig_bytes(rig), 8 * 4096 * rig->script.n_accepted);
    assert_int_equal(rig->stats.batches.n, rig->stats.counted.n_requests / 10);
    assert_close(rig->stats.batches.mean_ns, 150e3, 1e-3);
}

TEST(coalesced_requests_have_their_part_of_the_latency)
{
    const uint32_t depths[] = {1, 4};
    for (size_t i = 0; i < N_OF(depths); i++) {
        AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", depths[i], latency_15us);
        rig->config.requests_per_call = rig->config.rounds_per_call = 5;
        rig_run(rig);
        assert_int_equal(rig->stats.counted.n_requests, 5 * rig->script.n_accepted);
        assert_int_equal(rig->latency.min_ns, 3 * US);
        assert_int_equal(rig->latency.max_ns, 3 * US);
        assert_close(rig->stats.batches.mean_ns, 30e3, 1e-3);
    }
}

/* ---- depth ---- */

LATENCY(latency_100us, 100 * US)

TEST(depth_area_of_full_rounds_is_depth_times_time)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 4, latency_100us);
    rig->end = (struct pump_end){.duration_ns = UINT64_MAX, .max_bytes = 40 * 4096};
    rig_run(rig);
    assert_int_equal(rig->stats.last_complete_ns - rig->stats.first_submit_ns, 1 * MS);
    assert_close(rig->stats.depth_area, 4e6, 0.5);
}

/* Little's law, exactly: the integral of the depth is the sum of the latencies. */
static void check_littles_law(uint32_t depth, uint64_t submit_cost_ns, size_t accept_max, size_t reap_max)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", depth, latency_random);
    rig->script.submit_cost_ns = submit_cost_ns;
    rig->script.accept_max = accept_max;
    rig->script.reap_max = reap_max;
    rig_run(rig);
    assert_true(rig->stats.counted.n_requests > 100);
    assert_close(rig->stats.depth_area, rig->latency.sum_ns, 1);
}

TEST(depth_area_is_the_sum_of_latencies)
{
    check_littles_law(1, 0, 0, 0);
    check_littles_law(1, 3 * US, 0, 0);
    check_littles_law(4, 0, 0, 0);
    check_littles_law(32, 0, 0, 0);
    check_littles_law(32, 4 * US, 0, 0);
    check_littles_law(32, 4 * US, 5, 0);
    check_littles_law(32, 4 * US, 5, 2);
    check_littles_law(32, 0, 1, 1);
}

TEST(work_done_inside_submit_has_depth_1)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 8, latency_random);
    rig->config.works_in_submit = true;
    rig->script.works_inside = true;
    rig_run(rig);
    double span = (double)(rig->stats.last_complete_ns - rig->stats.first_submit_ns);
    assert_close(rig->stats.depth_area / span, 1, 1e-9);
}

/* Submission may do the work itself, but here it only takes 40 us and the work goes on after it: of 8 calls
 * handed over at once 4.5 are in flight on average meanwhile, of one call all 8 are. */
TEST(work_left_after_submit_comes_into_flight_one_by_one)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 8, latency_100us);
    rig->config.works_in_submit = true;
    rig->script.submit_cost_ns = 40 * US;
    rig->end.max_bytes = 8 * 4096;
    rig_run(rig);
    assert_close(rig->stats.depth_area, 4.5 * 40e3 + 8 * 60e3, 0.5);
}

/* Two calls from 0 to 100 us, taken one at a time; the submit that follows is refused, 10 us long; a third
 * call from 110 to 210 us. */
TEST(refused_submit_adds_no_depth)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 2, latency_100us);
    rig->config.works_in_submit = true;
    rig->script.submit_cost_ns = 10 * US;
    rig->script.reap_max = 1;
    rig->script.fault = FAULT_REFUSE;
    rig->script.nth = 1;
    rig->end.max_bytes = 3 * 4096;
    rig_run(rig);
    assert_close(rig->stats.depth_area, 1.5 * 10e3 + 2 * 90e3 + 1 * 10e3 + 1 * 100e3, 0.5);
}

TEST(depth_never_passes_what_was_asked)
{
    for (size_t accept_max = 0; accept_max < 4; accept_max++) {
        for (size_t reap_max = 0; reap_max < 4; reap_max++) {
            AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 4, latency_random);
            rig->config.works_in_submit = true;
            rig->script.submit_cost_ns = 9 * US;
            rig->script.accept_max = accept_max;
            rig->script.reap_max = reap_max;
            rig_run(rig);
            double span = (double)(rig->stats.last_complete_ns - rig->stats.first_submit_ns);
            assert_true(rig->stats.depth_area <= 4 * span);
        }
    }
}

/* ---- windows ---- */

TEST(windows_hold_the_bytes_of_their_time)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_100us);
    rig->end.duration_ns = 64 * MS;
    rig_run(rig);
    assert_int_equal(rig->stats.windows.width_ns, 1 * MS);
    /* The last completion falls on the edge of the 65th. */
    assert_int_equal(rig->stats.windows.n, 65);
    assert_int_equal(rig->stats.windows.bytes[0], 9 * 4096);
    for (size_t i = 1; i < 64; i++)
        assert_int_equal(rig->stats.windows.bytes[i], 10 * 4096);
    assert_int_equal(rig->stats.windows.bytes[64], 4096);
    assert_int_equal(rig_window_bytes(rig), rig_bytes(rig));
}

TEST(merged_windows_hold_the_bytes_of_their_time)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_100us);
    rig->end.duration_ns = 64 * MS;
    rig->end.min_requests = 6400; /* 640 ms: 1 ms -> 8 ms, 80 full windows */
    rig_run(rig);
    assert_int_equal(rig->stats.windows.width_ns, 8 * MS);
    assert_int_equal(rig->stats.windows.n, 81);
    assert_int_equal(rig->stats.windows.bytes[0], 79 * 4096);
    for (size_t i = 1; i < 80; i++)
        assert_int_equal(rig->stats.windows.bytes[i], 80 * 4096);
    assert_int_equal(rig_window_bytes(rig), rig_bytes(rig));
}

LATENCY(latency_one_stall, index == 3 ? 10000 * MS : 100 * US)

TEST(windows_of_a_stall_are_empty)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_one_stall);
    rig->end.duration_ns = 64 * MS;
    rig->end.min_requests = 5;
    rig_run(rig);
    /* 10 s: 1 ms doubled until 128 windows reach: 128 ms. */
    assert_int_equal(rig->stats.windows.width_ns, 128 * MS);
    assert_int_equal(rig->stats.windows.n, 79);
    assert_int_equal(rig->stats.windows.bytes[0], 3 * 4096);
    assert_int_equal(rig->stats.windows.bytes[78], 2 * 4096);
    assert_int_equal(rig_window_bytes(rig), 5 * 4096);
}

TEST(windows_sum_up_to_the_bytes)
{
    const uint32_t depths[] = {1, 32};
    for (size_t i = 0; i < 8; i++) {
        AUTO(rig_free)
        struct pump_rig *rig =
            rig_alloc("randrw:30", depths[i % 2], i % 4 < 2 ? latency_random : latency_1us);
        rig->end.min_requests = i / 4 * 50000;
        rig_run(rig);
        assert_true(rig->stats.counted.bytes_read > 0 && rig->stats.counted.bytes_written > 0);
        assert_int_equal(rig_window_bytes(rig), rig_bytes(rig));
    }
}
