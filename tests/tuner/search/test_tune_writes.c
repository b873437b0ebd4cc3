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
