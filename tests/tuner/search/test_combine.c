/* Tests of tuner/search/combine. */
#include "tests/test.h"
#include "tuner/search/combine.h"

#define MS 1000000ULL

static struct client_report reports[3];
static struct histogram latency;

/* Three clients that ran from 1 to 2 s of their clocks at 100, 100 and 50 MB/s. */
static void three_clients(bool windowed)
{
    const double rates_bps[] = {100e6, 100e6, 50e6};
    for (size_t i = 0; i < 3; i++) {
        reports[i] = (struct client_report){.result = {.throughput_bps = rates_bps[i],
                                                       .iops = rates_bps[i] / 1e6,
                                                       .bytes_written = (uint64_t)rates_bps[i],
                                                       .n_requests = 100,
                                                       .seconds = 1,
                                                       .settled = true,
                                                       .windowed = windowed,
                                                       .begun_ns = 1000 * MS,
                                                       .closed_ns = 2000 * MS,
                                                       .stopped_ns = 2000 * MS}};
        histogram_init(&reports[i].latency);
        histogram_add(&reports[i].latency, 1000 * (i + 1), 10);
    }
    histogram_init(&latency);
}

TEST(the_least_round_trip_tells_the_offset_and_its_error)
{
    struct clock_offset offset = {0};
    clock_offset_add(&offset, 1000, 51000, 3000);
    assert_int_equal(offset.ahead_ns, 49000);
    assert_int_equal(offset.error_ns, 1000);
    /* A slower one does not count, a faster one does. */
    clock_offset_add(&offset, 10000, 70000, 90000);
    assert_int_equal(offset.ahead_ns, 49000);
    clock_offset_add(&offset, 100000, 149100, 100201);
    assert_int_equal(offset.ahead_ns, 48999);
    assert_int_equal(offset.error_ns, 101);
}

TEST(a_clock_that_is_behind_is_aligned)
{
    struct clock_offset offset = {0};
    three_clients(true);
    clock_offset_add(&offset, 900 * MS, 400 * MS, 900 * MS);
    reports[0].result.begun_ns = 500 * MS;
    combine_align(&reports[0], &offset);
    assert_int_equal(reports[0].result.begun_ns, 1000 * MS);
    assert_int_equal(reports[0].result.closed_ns, 2500 * MS);
}

TEST(rates_of_a_common_window_add_up)
{
    struct measure_result all;
    three_clients(true);
    combine_reports(reports, 3, 900 * MS, &all, &latency);
    assert_close(all.throughput_bps, 250e6, 1);
    assert_close(all.iops, 250, 1e-9);
    assert_int_equal(all.n_requests, 300);
    assert_int_equal(all.bytes_written, 250000000);
    assert_int_equal(latency.n, 30);
    assert_true(all.settled && all.burst_bps == 0);
}

TEST(without_a_window_the_last_one_ends_it)
{
    struct measure_result all;
    three_clients(false);
    reports[2].result.closed_ns = 3000 * MS;
    reports[1].result.settled = false;
    combine_reports(reports, 3, 1000 * MS, &all, &latency);
    assert_close(all.seconds, 2, 1e-9);
    assert_close(all.throughput_bps, 125e6, 1);
    assert_false(all.settled);
}

TEST(who_is_late_is_named)
{
    uint64_t late_ns;
    three_clients(true);
    assert_int_equal(combine_find_late(reports, 3, 1000 * MS, &late_ns), 3);
    /* Within a twentieth of the run. */
    reports[1].result.begun_ns = 1049 * MS;
    assert_int_equal(combine_find_late(reports, 3, 1000 * MS, &late_ns), 3);
    reports[1].result.begun_ns = 1060 * MS;
    assert_int_equal(combine_find_late(reports, 3, 1000 * MS, &late_ns), 1);
    assert_int_equal(late_ns, 60 * MS);
    /* The others had stopped while its window was open. */
    reports[2].result.closed_ns = reports[2].result.stopped_ns = 2500 * MS;
    assert_int_equal(combine_find_late(reports, 3, 1000 * MS, &late_ns), 2);
    assert_int_equal(late_ns, 500 * MS);
}

TEST(a_flush_that_takes_longer_is_not_late)
{
    uint64_t late_ns;
    three_clients(false);
    reports[2].result.closed_ns = 2500 * MS;
    assert_int_equal(combine_find_late(reports, 3, 1000 * MS, &late_ns), 3);
}

TEST(too_few_requests_make_runs_longer_and_the_end_of_the_bytes_shorter)
{
    three_clients(true);
    assert_close(combine_length_factor(reports, 3), 1, 0);
    reports[2].result.n_requests = 5;
    double longer = combine_length_factor(reports, 3);
    assert_true(longer * 5 >= MEASURE_MIN_REQUESTS / 3.0 && longer < 10);
    reports[2].result.n_requests = 0;
    assert_true(combine_length_factor(reports, 3) > 10);
    reports[0].result.ended_by_bytes = true;
    assert_true(combine_length_factor(reports, 3) < 1);
    /* Writes that a flush ends are to come to the end of theirs. */
    three_clients(false);
    reports[0].result.ended_by_bytes = true;
    assert_close(combine_length_factor(reports, 3), 1, 0);
}

TEST(jains_index_is_one_for_equals_and_a_share_for_one_who_has_all)
{
    assert_close(combine_jain((const double[]){3, 3, 3, 3}, 4), 1, 1e-12);
    assert_close(combine_jain((const double[]){5, 0, 0, 0}, 4), 0.25, 1e-12);
    assert_true(isnan(combine_jain((const double[]){0, 0}, 2)));
}
