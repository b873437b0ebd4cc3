/* Tests of models/engine/engine_chances: which points a night may not write off. */
#include "tests/models/engine/engine_rig.h"

ENGINES();

static void begin_on_hill(void)
{
    begin(night(), 1);
    engine.baseline = HILL;
}

/* Some point of the space that is not in force. */
static size_t other(size_t k)
{
    return k < HILL ? k : k + 1;
}

TEST(one_unlucky_run_does_not_end_a_chance)
{
    begin_on_hill();
    tell(HILL, 20, 10);
    tell(other(0), 19.9, 1);
    assert_true(engine_has_chance(&engine, other(0)));
    tell(other(1), 19.9, 60);
    assert_false(engine_has_chance(&engine, other(1)));
}

TEST(what_is_better_by_less_than_the_margin_is_written_off_in_time)
{
    begin_on_hill();
    tell(HILL, 20, 10);
    tell(other(0), 20 + engine.margin / 2, 2000);
    tell(other(1), 20 + engine.margin * 2, 2000);
    assert_false(engine_has_chance(&engine, other(0)));
    assert_true(engine_has_chance(&engine, other(1)));
}

TEST(what_is_in_force_and_what_is_left_out_have_none)
{
    begin_on_hill();
    tell(HILL, 20, 1);
    belief_exclude(&engine.belief, other(0));
    assert_false(engine_has_chance(&engine, HILL));
    assert_false(engine_has_chance(&engine, other(0)));
    assert_true(engine_has_chance(&engine, other(1)));
}

TEST(settings_in_force_outside_the_space_are_a_measure)
{
    begin_on_hill();
    engine.baseline = N_POINTS;
    assert_false(engine_knows_baseline(&engine));
    tell(N_POINTS, 20.7, 1);
    assert_true(engine_knows_baseline(&engine));
    tell(0, 20.7 + 0.5, 20);
    tell(1, 20.7 - 0.5, 20);
    assert_true(engine_has_chance(&engine, 0));
    assert_false(engine_has_chance(&engine, 1));
}

TEST(the_list_begins_with_the_highest_bound_and_ends_with_the_room)
{
    size_t points[ENGINE_MAX_LISTED];
    begin_on_hill();
    tell(HILL, 20, 10);
    for (size_t i = 0; i + 1 < N_POINTS; i++)
        tell(other(i), i == 3 ? 21 : i == 5 ? 22 : i == 7 ? 20.5 : 10, 10);
    assert_int_equal(engine_list_chances(&engine, points, ENGINE_MAX_LISTED), 3);
    assert_int_equal(points[0], other(5));
    assert_int_equal(points[1], other(3));
    assert_int_equal(points[2], other(7));
    assert_int_equal(engine_list_chances(&engine, points, 2), 2);
    assert_int_equal(points[0], other(5));
    assert_int_equal(points[1], other(3));
}

TEST(a_few_replays_may_be_as_good_as_what_seems_better)
{
    begin_on_hill();
    tell(other(0), 20.1, 50);
    tell(other(1), 20, 1);
    tell(other(2), 20, 200);
    assert_true(engine_may_beat(&engine, other(1), other(0)));
    assert_false(engine_may_beat(&engine, other(2), other(0)));
}
