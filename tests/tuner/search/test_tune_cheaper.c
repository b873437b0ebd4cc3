/* Which settings get their runs once a choice is settled. */
#include "tests/tuner/search/tune_rig.h"

SEARCHES(enter);

/* Two runs of every second point, as the surface has them, and the choice that follows. */
static void know_half(const char *options)
{
    begin_on(options);
    for (size_t i = 0; i < tune.space.n_points; i += 2) {
        double response = log(rig_peak_bps(&tune.records[i].point));
        assert_int_equal(belief_tell(&tune.engine.belief, i, response + 0.002), 0);
        assert_int_equal(belief_tell(&tune.engine.belief, i, response - 0.002), 0);
    }
    assert_int_equal(belief_update(&tune.engine.belief, true, tune.engine.rng), 0);
    engine_choose(&tune.engine);
    assert_int_not_equal(tune.engine.chosen, ENGINE_NONE);
}

TEST(what_may_do_for_less_comes_cheapest_first)
{
    size_t points[6], n;
    know_half("peak.conf --seed 3 --tolerance 40%");
    n = engine_list_cheaper(&tune.engine, points, 6);
    assert_in_range(n, 1, 6);
    for (size_t k = 0; k < n; k++) {
        uint64_t bytes = factors_bytes_in_flight(&tune.records[points[k]].point);
        assert_true(bytes < factors_bytes_in_flight(&tune.records[tune.engine.chosen].point));
        assert_true(k == 0 || bytes >= factors_bytes_in_flight(&tune.records[points[k - 1]].point));
        assert_true(tune.engine.belief.mean[points[k]] > tune.engine.belief.mean[tune.engine.best] - 2 * tune.engine.margin);
    }
}

TEST(what_has_its_runs_failed_or_is_left_out_is_not_listed)
{
    size_t points[6], n;
    know_half("peak.conf --seed 3 --tolerance 40%");
    n = engine_list_cheaper(&tune.engine, points, 6);
    assert_in_range(n, 1, 6);
    size_t first = points[0];
    tune.records[first].failed = -EIO;
    n = engine_list_cheaper(&tune.engine, points, 6);
    assert_true(n == 0 || points[0] != first);
    tune.records[first].failed = 0;
    belief_exclude(&tune.engine.belief, first);
    n = engine_list_cheaper(&tune.engine, points, 6);
    assert_true(n == 0 || points[0] != first);
    tune.engine.belief.excluded[first] = false;
    for (size_t k = 0; k < ENGINE_CONFIRMING_LEAST; k++)
        assert_int_equal(belief_tell(&tune.engine.belief, first, tune.engine.belief.mean[first]), 0);
    n = engine_list_cheaper(&tune.engine, points, 6);
    assert_true(n == 0 || points[0] != first);
}

TEST(who_prefers_the_fastest_asks_for_nothing_cheaper)
{
    size_t points[6];
    know_half("peak.conf --seed 3 --tolerance 40% --prefer fastest");
    assert_int_equal(tune.engine.chosen, tune.engine.best);
    assert_int_equal(engine_list_cheaper(&tune.engine, points, 6), 0);
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
