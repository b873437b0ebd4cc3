/* Tests of models/engine/engine_ceiling: a search where a known limit binds every point. */
#include "tests/models/engine/engine_rig.h"

#define CAP_BPS       200e6
#define CAP_IOPS      3200
#define BUDGET        30
#define LEAST_BYTES   65536 /* in flight; 65,536 x 3,200 are more than the cap, half of that is not */
#define WAIT_SECONDS  1e-4  /* of a request on the idle device */
#define SLOWER        1e-3  /* of one through the page cache */
#define REACHED_TIMES 4

ENGINES();

static double capped_bps(size_t point)
{
    double bytes = exp2(12 + size_of(point));
    double wait = point < N_POINTS / 2 ? SLOWER : WAIT_SECONDS;
    return fmin(fmin(CAP_BPS, CAP_IOPS * bytes), bytes * exp2(depth_of(point)) / wait);
}

static double capped(const struct engine_run *run)
{
    return log(capped_bps(run->point < N_POINTS ? run->point : 0));
}

static void begin_capped(struct engine wanted, unsigned long seed)
{
    wanted.budget_seconds = wanted.end_seconds = BUDGET;
    wanted.margin = wanted.tolerance = 0.1;
    wanted.run_seconds = 0.35;
    wanted.duration_seconds = 0.25;
    begin(wanted, seed);
    device.response = capped;
    device.seconds = 0.1;
    engine.belief.ceiling = log(CAP_BPS);
    for (size_t i = 0; i < N_POINTS; i++)
        engine.points[i].most_bps = fmin(CAP_BPS, CAP_IOPS * exp2(12 + size_of(i)));
}

TEST(a_search_under_a_known_limit_ends_early_with_little_in_flight)
{
    size_t n_early = 0;
    for (unsigned long seed = 1; seed <= 8; seed++) {
        begin_capped(usual(), seed);
        run_until(ENGINE_END);
        assert_int_not_equal(engine.chosen, ENGINE_NONE);
        assert_true(engine.points[engine.chosen].in_flight_bytes <= REACHED_TIMES * LEAST_BYTES);
        assert_true(engine.conclusive);
        assert_int_equal(engine.stop, ENGINE_STOP_SEPARATED);
        n_early += device.now <= BUDGET * 2.0 / 3;
    }
    assert_in_range(n_early, 7, 8);
}

/* Nothing comes near this limit. */
TEST(a_limit_that_nothing_reaches_changes_nothing)
{
    size_t n_runs[2], chosen[2];
    for (size_t i = 0; i < 2; i++) {
        begin(usual(), 5);
        if (i == 1)
            engine.belief.ceiling = 23;
        run_until(ENGINE_END);
        n_runs[i] = device.n_runs;
        chosen[i] = engine.chosen;
    }
    assert_int_equal(chosen[0], chosen[1]);
    assert_int_equal(n_runs[0], n_runs[1]);
}

TEST(few_or_slow_replays_do_not_show_that_a_limit_is_reached)
{
    begin_capped(usual(), 1);
    double ceiling = engine.belief.ceiling;
    tell(HILL, ceiling, ENGINE_MIN_REPLAYS - 1);
    assert_false(engine_is_at_ceiling(&engine, HILL));
    tell(HILL, ceiling, 8);
    assert_true(engine_is_at_ceiling(&engine, HILL));
    tell(HILL + 1, ceiling - 0.12, 8);
    assert_false(engine_is_at_ceiling(&engine, HILL + 1));
    engine.points[HILL].distrusted = true;
    assert_false(engine_is_at_ceiling(&engine, HILL));
    engine.points[HILL].distrusted = false;
    engine.belief.ceiling = INFINITY;
    assert_false(engine_is_at_ceiling(&engine, HILL));
}

/* Runs that the limit cut off are all alike, which says nothing of a point below it. */
TEST(a_point_that_scatters_below_a_limit_does_not_reach_it_for_sure)
{
    begin_capped(usual(), 1);
    for (size_t size = 4; size < N_SIZES; size++) {
        for (size_t depth = 3; depth < N_DEPTHS; depth++)
            tell(point_of(size, depth, 1), engine.belief.ceiling, 8);
    }
    for (size_t k = 0; k < 3; k++)
        tell(HILL, engine.belief.ceiling - 0.06 * (double)k, 1);
    update();
    assert_true(engine_is_at_ceiling(&engine, point_of(8, 4, 1)));
    assert_false(engine_is_at_ceiling(&engine, HILL));
}

/* Everything was run twice, which is too little to know what reaches the limit. */
static size_t list_after_two_of_each(size_t *points)
{
    begin_capped(usual(), 1);
    for (size_t i = 0; i < N_POINTS; i++) {
        tell(i, log(capped_bps(i)) + 0.002, 1);
        tell(i, log(capped_bps(i)) - 0.002, 1);
    }
    tell(HILL, engine.belief.ceiling, 2);
    update();
    engine_choose(&engine);
    assert_int_equal(engine.chosen, point_of(4, 0, 1));
    assert_true(engine_nears_ceiling(&engine));
    return engine_list_at_ceiling(&engine, points, 6);
}

TEST(only_what_may_reach_a_limit_with_less_in_flight_is_run)
{
    size_t points[6], n = list_after_two_of_each(points), least = point_of(4, 0, 1);
    assert_in_range(n, 1, 6);
    assert_int_equal(points[0], least);
    for (size_t k = 0; k < n; k++) {
        assert_true(engine.points[points[k]].in_flight_bytes < engine.points[HILL].in_flight_bytes);
        assert_true(capped_bps(points[k]) >= CAP_BPS * exp(-engine.margin));
    }
    engine.points[least].most_bps = CAP_BPS / 2;
    n = engine_list_at_ceiling(&engine, points, 6);
    assert_true(n == 0 || points[0] != least);
    engine.points[least].most_bps = CAP_BPS;
    assert_int_equal(engine_list_at_ceiling(&engine, points, 6) > 0 && points[0] == least, true);
    tell(least, log(CAP_BPS), 9);
    n = engine_list_at_ceiling(&engine, points, 6);
    assert_true(n == 0 || points[0] != least);
}

/* The fastest stands beside it. */
TEST(of_all_that_reach_a_limit_the_cheapest_is_chosen)
{
    size_t least = point_of(4, 0, 1), large = point_of(8, 5, 1);
    begin_capped(usual(), 1);
    tell(large, engine.belief.ceiling, 20);
    tell(least, engine.belief.ceiling - 0.005, 20);
    tell(HILL, engine.belief.ceiling, 5);
    engine_choose(&engine);
    assert_int_equal(engine.chosen, least);
    assert_int_not_equal(engine.best, least);
    assert_true(engine_worth(&engine, engine.best) > engine_worth(&engine, least));
}

/* In three runs it seemed to reach the limit; five more lie below it, within the tolerance. */
TEST(what_falls_from_a_limit_after_the_choice_is_given_up_for_what_stays)
{
    size_t falls = point_of(4, 0, 1), stays = point_of(5, 0, 1);
    begin_capped(usual(), 1);
    for (size_t i = 0; i < N_POINTS; i++)
        tell(i, log(CAP_BPS) - (i == falls || i == stays ? 0 : 0.5), i == stays ? 20 : 3);
    update();
    engine_choose(&engine);
    assert_int_equal(engine.chosen, falls);
    tell(falls, log(CAP_BPS) - 0.06, 5);
    struct engine_run run;
    engine.phase = ENGINE_WEIGH;
    assert_int_equal(engine_ask(&engine, BUDGET / 2.0, &run), ENGINE_TURN);
    assert_int_equal(engine.phase, ENGINE_PLAN);
    assert_int_equal(engine.chosen, stays);
    /* Without time for replays of the other one, the choice stays. */
    engine.chosen = falls;
    engine.phase = ENGINE_WEIGH;
    assert_int_equal(engine_ask(&engine, BUDGET, &run), ENGINE_TURN);
    assert_int_equal(engine.phase, ENGINE_VERDICT);
    assert_int_equal(engine.chosen, falls);
}
