/* Tests of models/engine/effects: searches under a limit on what is measured besides, here a made-up cost to
 * neighbours, which grows with what is in flight. */
#include "models/engine/effects.h"

#include "tests/models/engine/engine_rig.h"

static struct effects effects;
static double limit, cost_std;

static int end_effects(void **state)
{
    effects_done(&effects);
    return end_engine(state);
}

GROUP(NULL, NULL);
EACH_TEST(NULL, end_effects);

/* From 0.1 to 2.3: a deep queue costs more than a large request, and the page cache costs besides. */
static double cost_of(size_t point)
{
    return 0.1 + 0.06 * size_of(point) + 0.3 * depth_of(point) + (point < N_POINTS / 2 ? 0.2 : 0);
}

/* Two minutes in runs of half a second. */
static void begin_limited(double share, double std, unsigned long seed)
{
    struct engine wanted = usual();
    effects_done(&effects);
    assert_int_equal(effects_init(&effects, 1, &space, seed), 0);
    limit = share;
    cost_std = std;
    wanted.kept = effects.kept;
    wanted.duration_seconds = 0.5;
    wanted.run_seconds = 0.75;
    wanted.budget_seconds = wanted.end_seconds = 120;
    begin(wanted, seed);
    device.seconds = 0.25;
}

static void search(void)
{
    struct engine_run run;
    int asked = ENGINE_TURN;
    while (asked != ENGINE_DONE) {
        assert_int_equal(effects_update(&effects), 0);
        asked = engine_ask(&engine, device.now, &run);
        assert_true(asked >= 0);
        if (asked != ENGINE_RUN)
            continue;
        make_run(&run);
        double within = limit - cost_of(run.point) - gsl_ran_gaussian(rng, cost_std);
        if (run.point < N_POINTS)
            assert_int_equal(effects_tell(&effects, run.point, &within), 0);
    }
}

/* The logarithm of the rate of the fastest setting that costs at most so much. */
static double best_within(double most)
{
    double best = -INFINITY;
    for (size_t i = 0; i < N_POINTS; i++)
        best = cost_of(i) <= most ? fmax(best, hill(i)) : best;
    return best;
}

/* What lies so close to the limit that single runs cannot tell on which side may be left out. */
TEST(searches_under_a_limit_find_the_fastest_that_keeps_it)
{
    static const double limits[] = {0.35, 0.7, 1.6};
    for (size_t i = 0; i < TRIALS(3 * N_OF(limits)); i++) {
        begin_limited(limits[i % N_OF(limits)], 0.1, 1 + i);
        search();
        assert_int_not_equal(engine.chosen, ENGINE_NONE);
        assert_true(cost_of(engine.chosen) <= limit);
        assert_true(hill(engine.chosen) >= best_within(limit - cost_std) - 0.1);
    }
}

/* Where costs scatter as much as the limit itself, some searches end without an answer, but few with one that
 * is over the limit, as the confidence says. */
TEST(costs_that_scatter_seldom_lead_over_the_limit)
{
    size_t n_over = 0, n = TRIALS(20);
    for (unsigned long seed = 1; seed <= n; seed++) {
        begin_limited(0.7, 0.6, seed);
        search();
        n_over += engine.chosen != ENGINE_NONE && cost_of(engine.chosen) > limit;
    }
    assert_true(n_over <= TRIALS(3)); /* more than one in twenty would be by chance in 2 % of such tests */
}

TEST(without_a_setting_that_keeps_the_limit_there_is_no_answer)
{
    begin_limited(0.05, 0.02, 1);
    search();
    assert_int_equal(engine.chosen, ENGINE_NONE);
    assert_false(engine.conclusive);
}

/* Costs that nobody has: the search is then the usual one. */
TEST(a_limit_that_all_settings_keep_changes_nothing)
{
    begin_limited(5, 0.1, 1);
    search();
    assert_true(hill(engine.chosen) >= hill(HILL) - 0.1);
}

/* One measurement that others around it contradict is chance, as far as replays show that these scatter. */
TEST(a_single_measurement_is_judged_by_those_around_it)
{
    const double missed = -0.3;
    begin_limited(1, 0.3, 1);
    for (size_t i = 0; i < 2 * N_POINTS; i++) {
        const double within = 0.5 + gsl_ran_gaussian(rng, 0.3);
        if (i % N_POINTS != HILL)
            assert_int_equal(effects_tell(&effects, i % N_POINTS, &within), 0);
    }
    assert_int_equal(effects_tell(&effects, HILL, &missed), 0);
    assert_int_equal(effects_update(&effects), 0);
    assert_true(effects.kept[HILL] > 0.5);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(effects_tell(&effects, HILL, &missed), 0);
    assert_int_equal(effects_update(&effects), 0);
    assert_true(effects.kept[HILL] < 0.05);
}

TEST(a_point_with_a_few_measurements_is_judged_by_these)
{
    static const double within[] = {0.2, 0.3, 0.25};
    begin_limited(1, 0.1, 1);
    for (size_t i = 0; i < N_OF(within); i++) {
        const double missed = -within[i];
        assert_int_equal(effects_tell(&effects, 3, &within[i]), 0);
        assert_int_equal(effects_tell(&effects, 7, &missed), 0);
    }
    assert_int_equal(effects_update(&effects), 0);
    assert_true(effects.kept[3] > 0.95);
    assert_true(effects.kept[7] < 0.05);
    assert_close(effects.kept[3] + effects.kept[7], 1, 1e-9);
}
