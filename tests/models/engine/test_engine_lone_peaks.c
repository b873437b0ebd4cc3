/* Tests of models/engine/engine_lone_peaks: when points that nobody expects anything of are looked at. */
#include "tests/models/engine/engine_rig.h"

#define MOST    6
#define RUN_STD 0.1

ENGINES();

static struct space thousands;

static void tell_noisy(size_t point, double response, size_t n)
{
    for (size_t k = 0; k < n; k++)
        tell(point, response + gsl_ran_gaussian(rng, RUN_STD), 1);
}

/* Every third point was run once; what comes near the best is replayed until it is known. */
static void settled(double limit_ns)
{
    struct engine wanted = usual();
    wanted.limit_ns = limit_ns;
    begin(wanted, 1);
    for (size_t i = 0; i < N_POINTS; i += 3)
        tell_noisy(i, hill(i), 1);
    update();
    for (size_t i = 0; i < N_POINTS; i++) {
        if (engine.belief.mean[i] + 3 * sqrt(engine.belief.variance[i]) > hill(HILL))
            tell_noisy(i, hill(i), 100);
    }
    update();
    engine.chosen = belief_best(&engine.belief, 1);
    tell_noisy(engine.chosen, hill(engine.chosen), 400);
    update();
}

/* Where other points are no risk. */
static size_t list(size_t most, size_t *ret_points)
{
    size_t n = engine_list_lone_peaks(&engine, 0, most, ret_points);
    assert_true(n <= most);
    return n;
}

TEST(only_what_was_hardly_measured_is_looked_at)
{
    size_t points[MOST];
    settled(0);
    assert_int_equal(list(MOST, points), MOST);
    for (size_t i = 0; i < MOST; i++) {
        assert_true(points[i] < N_POINTS && points[i] != engine.chosen);
        assert_true(engine.belief.moments[points[i]].n <= 1);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(points[i], points[k]);
    }
}

TEST(those_that_most_likely_surprise_by_the_second_come_first)
{
    size_t points[MOST], first[2];
    settled(0);
    assert_int_equal(list(MOST, points), MOST);
    double response = engine.belief.mean[engine.chosen] + engine.margin, last = INFINITY;
    for (size_t i = 0; i < MOST; i++) {
        double worth = belief_lone_peaks(&engine.belief, points[i], response) / engine.seconds[points[i]];
        assert_true(worth > 0 && worth <= last);
        last = worth;
    }
    assert_int_equal(list(2, first), 2);
    assert_int_equal(first[0], points[0]);
    assert_int_equal(first[1], points[1]);
}

TEST(a_point_that_is_out_is_not_looked_at)
{
    size_t points[MOST], out;
    settled(0);
    assert_int_equal(list(MOST, points), MOST);
    out = points[0];
    belief_exclude(&engine.belief, out);
    assert_int_equal(list(MOST, points), MOST);
    for (size_t i = 0; i < MOST; i++)
        assert_int_not_equal(points[i], out);
}

TEST(while_others_are_the_larger_risk_none_is)
{
    size_t points[MOST];
    settled(0);
    double response = engine.belief.mean[engine.chosen] + engine.margin;
    double any = 1 - belief_no_lone_peaks(&engine.belief, engine.chosen, response);
    assert_int_equal(engine_list_lone_peaks(&engine, 0.9 * any, MOST, points), MOST);
    assert_int_equal(engine_list_lone_peaks(&engine, 1.1 * any, MOST, points), 0);
}

/* The race proves that points keep the limit; there is no time to prove it of new ones. */
TEST(with_a_limit_on_latency_none_is)
{
    size_t points[MOST];
    settled(1e10);
    assert_int_equal(list(MOST, points), 0);
}

TEST(without_a_choice_or_a_surrogate_none_is)
{
    size_t points[MOST];
    settled(0);
    engine.chosen = ENGINE_NONE;
    assert_int_equal(list(MOST, points), 0);
    begin(usual(), 1);
    engine.chosen = 0;
    assert_int_equal(list(MOST, points), 0);
}

/* A look at six of thousands settles next to nothing. */
TEST(among_thousands_of_points_none_is)
{
    size_t points[MOST];
    struct engine wanted = usual();
    GRID_INIT(&thousands, kinds, 55, 32, 2);
    wanted.space = &thousands;
    engine = wanted;
    assert_int_equal(engine_init(&engine, 0, 1), 0);
    engine_expect_costs(&engine);
    for (size_t i = 0; i < thousands.n_points; i += 41) {
        const double *x = space_row(&thousands, i);
        tell(i, 21 - 3 * (x[0] - 0.5) * (x[0] - 0.5) - 2 * (x[1] - 0.4) * (x[1] - 0.4), 1);
    }
    update();
    engine.chosen = belief_best(&engine.belief, 1);
    tell_noisy(engine.chosen, engine.belief.mean[engine.chosen], 400);
    update();
    double response = engine.belief.mean[engine.chosen] + engine.margin;
    assert_true(belief_no_lone_peaks(&engine.belief, engine.chosen, response) < 0.9);
    assert_int_equal(list(MOST, points), 0);
    engine_done(&engine);
    engine = (struct engine){0};
    space_done(&thousands);
}

/* Of a race that has looked so often that little is left to spend on a stop. */
static void next_block(void)
{
    bool is_over = true;
    engine.best = engine.chosen;
    engine.n_looks = 30;
    assert_int_equal(engine_race(&engine, 0, &is_over), 0);
    assert_false(is_over);
    assert_true(engine.queue.n > 0);
}

TEST(a_block_looks_for_them_where_the_others_are_no_risk)
{
    settled(0);
    next_block();
    for (size_t i = 0; i < engine.queue.n; i++)
        assert_true(engine.belief.moments[engine.queue.points[i]].n <= 1);
}

/* It is better by more than the margin in half of the draws. */
TEST(a_block_decides_between_contenders_first)
{
    size_t rival = 0, n_of_rival = 0;
    settled(0);
    while (rival == engine.chosen || engine.belief.moments[rival].n < 100)
        rival++;
    engine_forget(&engine, rival);
    for (size_t k = 0; k < 8; k++)
        tell(rival, engine.belief.mean[engine.chosen] + engine.margin + (k % 2 == 0 ? RUN_STD : -RUN_STD), 1);
    next_block();
    for (size_t i = 0; i < engine.queue.n; i++)
        n_of_rival += engine.queue.points[i] == rival;
    assert_true(n_of_rival > 0);
}
