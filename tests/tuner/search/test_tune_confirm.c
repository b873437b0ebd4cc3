/* Tests of tuner/search/tune_confirm: how long the race goes on, and how many replays follow the choice. */
#include "tests/test.h"
#include "tests/tuner/search/tune_rig.h"

/* Equal points that scatter so much that no budget settles anything. */
FIXTURE(enter_here)
{
    if (enter(test_state) != 0)
        return -1;
    rig_simulator("wild", "run_cv = 0.5; setup_seconds = 0.05;", rig_flat_bps);
    return 0;
}

GROUP(enter_here, rig_leave);

static void search(const char *simulator, const char *option, const char *value)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", simulator, "--budget", "60s", "--seed",
                 "1", option, value, NULL);
    run();
    check_bounds();
}

static size_t count_confirming(size_t point)
{
    return record_count(&tune.records[point], true);
}

/* No second is left over that a race without end could use, and the replays have their time all the same. */
TEST(an_unsettled_race_takes_what_the_replays_do_not_need)
{
    search("wild.conf", NULL, NULL);
    assert_int_equal(tune.stop, TUNE_STOP_BUDGET);
    assert_true(tune.raced_on);
    assert_in_range(count_confirming(tune.chosen), 14, 15);
    assert_true(session_seconds(session) > 0.9 * 60 && session_seconds(session) <= 60);
    done();
}

TEST(a_settled_choice_has_all_its_replays)
{
    search("peak.conf", NULL, NULL);
    assert_int_equal(tune.stop, TUNE_STOP_SEPARATED);
    assert_false(tune.raced_on);
    assert_true(count_confirming(tune.chosen) >= TUNE_CONFIRMING_LEAST);
    done();
}

/* Where more is to be judged than one choice, the race keeps to the plan, and its replays are not fewer. */
TEST(a_race_that_keeps_to_the_plan_costs_no_replays)
{
    search("wild.conf", "--profiles", NULL);
    assert_false(tune.raced_on);
    assert_true(count_confirming(tune.chosen) > 15);
    done();
}

TEST(what_the_write_budget_ends_keeps_its_replays)
{
    search("wild.conf", "--max-write", "8g");
    assert_int_equal(tune.stop, TUNE_STOP_WRITES);
    assert_false(tune.raced_on);
    assert_true(count_confirming(tune.chosen) > 15);
    done();
}
