/* Tests of tuner/search/tune_confirm: how long the race goes on, and how many replays follow the choice. */
#include "tests/tuner/search/tune_rig.h"

SEARCHES(enter);

/* In "wild" equal points scatter so much that no budget settles anything. No second is left over that a race
 * without end could use, and the replays have their time all the same. */
TEST(an_unsettled_race_takes_what_the_replays_do_not_need)
{
    search("wild.conf --budget 60s --seed 1");
    assert_int_equal(tune.engine.stop, ENGINE_STOP_BUDGET);
    assert_true(tune.engine.beyond_plan);
    assert_in_range(count_confirming(tune.engine.chosen), 14, 15);
    assert_true(session_seconds(session) > 0.9 * 60 && session_seconds(session) <= 60);
}

TEST(a_settled_choice_has_all_its_replays)
{
    search("peak.conf --budget 60s --seed 1");
    assert_int_equal(tune.engine.stop, ENGINE_STOP_SEPARATED);
    assert_false(tune.engine.beyond_plan);
    assert_true(count_confirming(tune.engine.chosen) >= ENGINE_CONFIRMING_LEAST);
}

/* Where more is to be judged than one choice, the race keeps to the plan, and its replays are not fewer. */
TEST(a_race_that_keeps_to_the_plan_costs_no_replays)
{
    search("wild.conf --budget 60s --seed 1 --profiles");
    assert_false(tune.engine.beyond_plan);
    assert_true(count_confirming(tune.engine.chosen) > 15);
}

TEST(what_the_write_budget_ends_keeps_its_replays)
{
    search("wild.conf --budget 60s --seed 1 --max-write 8g");
    assert_int_equal(tune.engine.stop, ENGINE_STOP_WRITES);
    assert_false(tune.engine.beyond_plan);
    assert_true(count_confirming(tune.engine.chosen) > 15);
}
