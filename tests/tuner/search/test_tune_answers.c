/* Tests of tuner/search/tune: what is recommended, and against which baseline. */
#include "tests/tuner/search/tune_rig.h"

#include <errno.h>

SEARCHES(enter);

/* Depth 16 is 1 % faster than depth 4, 64k the only size. */
static double nearly_flat_bps(const struct point *point)
{
    double depth = point->queue_depth == 16 ? 1.01 : point->queue_depth == 4 ? 1 : 0.5;
    return 1e9 * depth * (point->request_size_bytes == 65536 ? 1 : 0.3) * (point->direct ? 1 : 0.5);
}

TEST(the_cheaper_of_two_equivalents_is_recommended)
{
    rig_simulator("near", "run_cv = 0.005; setup_seconds = 0.01;", nearly_flat_bps);
    search("near.conf --seed 1");
    assert_int_equal(tune.records[tune.engine.best].point.queue_depth, 16);
    assert_int_equal(chosen()->queue_depth, 4);
    assert_int_equal(chosen()->request_size_bytes, 65536);
    assert_int_equal(tune.engine.verdicts[tune.engine.chosen], VERDICT_EQUIVALENT);
    search("near.conf --seed 1 --tolerance 0.3%");
    assert_int_equal(chosen()->queue_depth, 16);
}

/* All are alike, and noise hides it: proof is rare, but nothing is expected to be lost by taking a cheap one.
 */
TEST(on_a_plateau_a_cheap_setting_is_recommended)
{
    size_t n_proved = 0;
    for (unsigned seed = 1; seed <= 6; seed++) {
        search(words("flat.conf --budget 30s --seed %u", seed));
        assert_true(factors_bytes_in_flight(chosen()) <= 65536);
        assert_true(tune.engine.verdicts[tune.engine.chosen] != VERDICT_WORSE);
        n_proved += tune.engine.verdicts[tune.engine.chosen] == VERDICT_EQUIVALENT;
    }
    assert_true(n_proved < 6);
}

TEST(latency_wants_one_size_and_one_number_of_threads)
{
    given("peak.conf --objective latency");
    assert_int_equal(init(), -EINVAL);
    assert_non_null(strstr(err.text, "--request-size"));
}

/* In the table latency is depth x size / throughput: without noise depth 1 has the lowest. */
TEST(the_latency_objective_takes_the_lowest_latency)
{
    search("peak.conf --objective latency --request-size 64k --seed 1");
    assert_int_equal(chosen()->queue_depth, 1);
    assert_int_equal(chosen()->direct, 1);
    assert_int_equal(chosen()->api, API_IO_URING);
    /* 65536 / (2e9 * exp(-0.4)) s */
    assert_close(answer.chosen.latency_ns.mean, 65536 / (2e9 * exp(-0.4)) * 1e9, 2000);
}

TEST(a_p99_that_no_point_meets_leaves_no_recommendation)
{
    search("peak.conf --max-latency-p99 1us --seed 1");
    assert_int_equal(tune.engine.chosen, ENGINE_NONE);
    assert_false(answer.has_rows);
    assert_non_null(strstr(answer.reason, "--max-latency-p99"));
    assert_true(isfinite(tune_lowest_p99_ns(&tune)) && tune_lowest_p99_ns(&tune) > 1000);
}

TEST(a_p99_bound_excludes_faster_points)
{
    search("peak.conf --max-latency-p99 100us --seed 1");
    /* The hill itself has 4 x 64k / 2 GB/s = 131 us. */
    assert_true(answer.has_rows);
    assert_false(factors_equal(chosen(), &hill));
    /* Runs differ as a whole and all requests of one take equally long: few runs support no p99 of their own.
     */
    assert_true(answer.chosen.latency_ns.mean <= 100000);
}

TEST(the_default_is_the_baseline)
{
    const struct point default_setting = {65536, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0};
    begin_on("peak.conf --seed 1");
    assert_true(tune.baseline_is_default);
    assert_true(factors_equal(&tune.records[tune.engine.baseline].point, &default_setting));
    assert_int_equal(tune.engine.default_setting, ENGINE_NONE);
    assert_int_equal(tune.n_records, tune.space.n_points);
}

TEST(a_current_setting_is_measured_beside_the_default)
{
    search("peak.conf --seed 1 --current request_size=8k,queue_depth=2,api=io_uring");
    assert_false(tune.baseline_is_default);
    assert_true(tune.engine.default_setting != ENGINE_NONE && answer.has_default_setting &&
                answer.default_speedup.has);
    /* Outside the space: measured, never recommended. */
    assert_true(tune.engine.baseline >= tune.space.n_points);
    assert_true(answer.baseline.replays >= ENGINE_CONFIRMING_LEAST);
    assert_int_equal(answer.baseline.point.request_size_bytes, 8192);
}

TEST(a_current_setting_outside_the_table_is_refused)
{
    given("peak.conf --current threads=2");
    assert_int_equal(init(), -EINVAL);
    assert_non_null(strstr(err.text, "--current"));
}

TEST(a_table_without_the_default_takes_its_cheapest_point)
{
    rig_write("few.csv", "pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n"
                         "randwrite,4k,2,1,io_uring,1,1e8\nrandwrite,4k,4,1,io_uring,1,1.5e8\n"
                         "randwrite,1m,1,1,io_uring,1,4e8\n");
    rig_write("few.conf", "points = \"few.csv\"; noise = { run_cv = 0.01; setup_seconds = 0.05; };");
    search("few.conf --seed 1");
    assert_false(tune.baseline_is_default);
    assert_int_equal(tune.records[tune.engine.baseline].point.queue_depth, 2);
    assert_int_equal(chosen()->request_size_bytes, 1 << 20);
}

TEST(a_space_of_one_point_is_answered)
{
    search("peak.conf --seed 1 --request-size 4k --queue-depth 1 --direct 0 --api psync");
    assert_int_equal(tune.space.n_points, 1);
    assert_int_equal(tune.engine.chosen, 0);
    assert_true(answer.speedup.has);
    assert_close(answer.speedup.mean, 1, 0);
}
