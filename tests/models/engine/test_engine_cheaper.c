/* Tests of models/engine/engine_cheaper: which points get their runs once a choice is settled. */
#include "tests/models/engine/engine_rig.h"

ENGINES();

/* Two runs of every second point, and the choice that follows. */
static void know_half(bool prefers_fastest)
{
    struct engine wanted = usual();
    wanted.margin = 0.5;
    wanted.prefers_fastest = prefers_fastest;
    begin(wanted, 3);
    for (size_t i = 0; i < N_POINTS; i += 2) {
        tell(i, hill(i) + 0.002, 1);
        tell(i, hill(i) - 0.002, 1);
    }
    update();
    engine_choose(&engine);
    assert_int_not_equal(engine.chosen, ENGINE_NONE);
}

TEST(what_may_do_for_less_comes_cheapest_first)
{
    size_t points[6], n;
    know_half(false);
    n = engine_list_cheaper(&engine, points, 6);
    assert_in_range(n, 1, 6);
    for (size_t k = 0; k < n; k++) {
        double bytes = engine.points[points[k]].in_flight_bytes;
        assert_true(bytes < engine.points[engine.chosen].in_flight_bytes);
        assert_true(k == 0 || bytes >= engine.points[points[k - 1]].in_flight_bytes);
        assert_true(engine.belief.mean[points[k]] > engine.belief.mean[engine.best] - 2 * engine.margin);
    }
}

TEST(what_has_its_runs_failed_or_is_left_out_is_not_listed)
{
    size_t points[6], n;
    know_half(false);
    n = engine_list_cheaper(&engine, points, 6);
    assert_in_range(n, 1, 6);
    size_t first = points[0];
    engine.points[first].failed = true;
    n = engine_list_cheaper(&engine, points, 6);
    assert_true(n == 0 || points[0] != first);
    engine.points[first].failed = false;
    belief_exclude(&engine.belief, first);
    n = engine_list_cheaper(&engine, points, 6);
    assert_true(n == 0 || points[0] != first);
    engine.belief.excluded[first] = false;
    tell(first, engine.belief.mean[first], ENGINE_CONFIRMING_LEAST);
    n = engine_list_cheaper(&engine, points, 6);
    assert_true(n == 0 || points[0] != first);
}

TEST(who_prefers_the_fastest_asks_for_nothing_cheaper)
{
    size_t points[6];
    know_half(true);
    assert_int_equal(engine.chosen, engine.best);
    assert_int_equal(engine_list_cheaper(&engine, points, 6), 0);
}

TEST(an_expected_shortfall_is_that_of_a_normal_difference)
{
    assert_close(engine_expected_shortfall(0.1, 0), 0.1, 1e-12);
    assert_close(engine_expected_shortfall(-0.1, 0), 0, 1e-12);
    /* E[max(0, z)] = 1 / sqrt(2 pi). */
    assert_close(engine_expected_shortfall(0, 1), 0.3989422804, 1e-9);
    assert_close(engine_expected_shortfall(0.5, 4),
                 2 * 0.5 * erfc(-0.25 / sqrt(2)) * 0.25 + 2 * exp(-0.5 * 0.0625) / sqrt(2 * M_PI), 1e-9);
}
