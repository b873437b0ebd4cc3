/* Tests of tuner/search/tune_writes: what a write budget changes in a night. */
#include "tests/tuner/search/tune_rig.h"

SEARCHES(enter);

TEST(only_a_night_whose_bytes_are_few_spends_them_otherwise)
{
    given("peak.conf --seed 1 --quiet --current request_size=64k,queue_depth=4,direct=1,api=io_uring");
    open_session();
    session->policy = &night_policy;
    assert_int_equal(tune_init(&tune, session, &err), 0);
    assert_int_equal(tune_writes_look(&tune, &err), 0);
    const struct engine_policy *policy = &tune.engine.policy;
    assert_true(policy->weighs_chances && !tune.writes_are_scarce);
    assert_int_equal(policy->sentinel_runs, TUNE_SENTINEL_RUNS);
    settings.limits.max_write_given = true;
    settings.limits.max_write_bytes = tune.session->bytes_written + (1 << 30);
    tune.session->write_limit_bytes = settings.limits.max_write_bytes;
    assert_int_equal(tune_writes_look(&tune, &err), 0);
    assert_true(tune.writes_are_scarce && !policy->weighs_chances && !policy->chooses_again);
    assert_int_equal(policy->sentinel_runs, 1);
    assert_false(tune_policy_usual.judges.weighs_chances || tune_policy_usual.limits_writes);
}

TEST(what_the_write_budget_ends_keeps_its_replays)
{
    search("wild.conf --budget 60s --seed 1 --max-write 8g");
    assert_int_equal(tune.engine.stop, ENGINE_STOP_WRITES);
    assert_false(tune.engine.beyond_plan);
    assert_true(count_confirming(tune.engine.chosen) > 15);
}

/* All replays of a point are bounded alike, by what was known before the first of them. */
TEST(forgotten_runs_and_known_limits_bound_the_bytes_of_later_ones)
{
    begin_on("peak.conf --seed 1");
    const struct engine_run run = {.point = 0};
    struct record *record = &tune.records[0];
    assert_close(tune_plan_of(&tune, &run).flush_bps, 0, 0);
    tune.engine.points[0].most_bps = 50e6;
    assert_close(tune_plan_of(&tune, &run).flush_bps, 50e6, 0);
    assert_int_equal(tune_measure(&tune, (size_t[]){0, 0}, 2, 30, &err), 0);
    assert_close(tune_plan_of(&tune, &run).flush_bps, 50e6, 0);
    double fastest_bps = fmax(record->samples[0].throughput_bps, record->samples[1].throughput_bps);
    tune_forget(&tune, 0);
    assert_close(record->flush_bps, 1.5 * fastest_bps, 1);
    tune.engine.points[0].most_bps = fastest_bps;
    assert_close(tune_plan_of(&tune, &run).flush_bps, fastest_bps, 1);
}
