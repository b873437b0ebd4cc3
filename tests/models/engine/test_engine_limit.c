/* Tests of models/engine/engine_limit: what is known of a point against a limit on p99. */
#include "tests/models/engine/engine_rig.h"

#include <gsl/gsl_cdf.h>

ENGINES();

static void begin_limited(double limit_ns, unsigned long seed)
{
    struct engine wanted = usual();
    wanted.limit_ns = limit_ns;
    begin(wanted, seed);
}

static void tell_over(size_t point, double n_timed, double n_over)
{
    struct engine_result result = {.n_timed = n_timed, .n_over_limit = n_over};
    engine.points[point].n_runs++;
    engine_limit_tell(&engine, point, &result);
}

TEST(without_a_limit_all_points_keep_it)
{
    begin(usual(), 1);
    assert_true(engine_keeps_limit(&engine, 0) && !engine_misses_limit(&engine, 0));
    assert_close(engine_feasible(&engine, 0), 1, 0);
}

TEST(few_requests_are_no_proof_and_no_miss)
{
    begin_limited(1e6, 1);
    assert_false(engine_keeps_limit(&engine, 0) || engine_misses_limit(&engine, 0));
    tell_over(0, 100, 0);
    assert_false(engine_keeps_limit(&engine, 0) || engine_misses_limit(&engine, 0));
    tell_over(0, 300, 0);
    assert_true(engine_keeps_limit(&engine, 0));
    tell_over(1, 100, 10);
    assert_true(engine_misses_limit(&engine, 1));
}

/* The share of slow requests is a beta posterior over all runs together. */
TEST(requests_of_all_runs_count_together)
{
    begin_limited(1e6, 1);
    for (size_t i = 0; i < 10; i++)
        tell_over(0, 1000, 8);
    assert_close(engine_feasible(&engine, 0), gsl_cdf_beta_P(0.01, 80.5, 9920.5), 1e-12);
    assert_true(engine_keeps_limit(&engine, 0));
}

/* The same sum proves less where single runs hold most of it. */
TEST(runs_that_differ_prove_less)
{
    begin_limited(1e6, 1);
    for (size_t i = 0; i < 10; i++) {
        tell_over(0, 1000, 8);
        tell_over(1, 1000, i == 0 ? 80 : 0);
    }
    assert_true(engine_feasible(&engine, 1) < engine_feasible(&engine, 0));
    assert_false(engine_keeps_limit(&engine, 1) || engine_misses_limit(&engine, 1));
}

/* Little's law: 1 GiB in flight at some GB/s takes hundreds of milliseconds. */
TEST(what_was_never_measured_is_judged_by_its_expected_latency)
{
    begin_limited(1e6, 1);
    for (size_t i = 0; i < N_POINTS; i += 3) {
        struct engine_run run = {.point = i};
        struct engine_result result = told_of(&run);
        assert_int_equal(engine_tell(&engine, &run, &result), 0);
    }
    update();
    size_t deep = point_of(8, 5, 1), shallow = point_of(0, 0, 1);
    assert_int_equal(engine.points[deep].n_runs + engine.points[point_of(1, 0, 1)].n_runs, 0);
    assert_true(engine_is_hopeless(&engine, deep));
    assert_true(engine_feasible(&engine, point_of(1, 0, 1)) > 0.9);
    assert_true(engine_feasible(&engine, shallow) > 0.9);
}

/* With exponential latencies a p99 is 4.6 times the mean: the best point that keeps the limit is known. */
static size_t best_within(double limit_ns)
{
    size_t best = ENGINE_NONE;
    for (size_t i = 0; i < N_POINTS; i++) {
        double latency_ns = engine.points[i].in_flight_bytes / exp(hill(i)) * 1e9;
        if (latency_ns * log(100) <= limit_ns && (best == ENGINE_NONE || hill(i) > hill(best)))
            best = i;
    }
    return best;
}

TEST(searches_under_a_limit_find_the_best_that_keeps_it)
{
    static const double limits_ns[] = {3e5, 1e6, 3e6};
    size_t n = 0, n_found = 0;
    for (size_t i = 0; i < TRIALS(N_OF(limits_ns) * 2); i++) {
        begin_limited(limits_ns[i % N_OF(limits_ns)], 1 + i);
        run_until(ENGINE_END);
        size_t truth = best_within(engine.limit_ns);
        n++;
        if (engine.chosen == ENGINE_NONE)
            continue;
        double latency_ns = engine.points[engine.chosen].in_flight_bytes / exp(hill(engine.chosen)) * 1e9;
        assert_true(latency_ns * log(100) <= 1.02 * engine.limit_ns);
        n_found += hill(engine.chosen) >= hill(truth) - 0.05;
    }
    assert_true(10 * n_found >= 9 * n);
}

TEST(a_limit_that_nothing_keeps_leaves_no_answer)
{
    begin_limited(1e3, 1);
    run_until(ENGINE_END);
    assert_int_equal(engine.chosen, ENGINE_NONE);
    assert_false(engine.conclusive);
}

/* What kept the limit when it was chosen, and whose replays then pass it. */
TEST(a_choice_whose_replays_miss_the_limit_is_no_answer)
{
    begin_limited(1e6, 1);
    for (size_t i = 0; i < N_POINTS; i += 3)
        tell(i, hill(i), 1);
    tell_over(0, 1000, 0);
    update();
    engine.best = engine.chosen = 0;
    assert_int_equal(engine_judge(&engine), 0);
    assert_int_equal(engine.chosen, 0);
    tell_over(0, 1000, 100);
    assert_int_equal(engine_judge(&engine), 0);
    assert_int_equal(engine.chosen, ENGINE_NONE);
}

/* Of points outside the space, such as a baseline, nothing is learnt of the caller's own limits. */
TEST(the_callers_limits_are_of_points_of_the_space)
{
    static double kept[N_POINTS];
    struct engine wanted = usual();
    wanted.kept = kept;
    begin(wanted, 1);
    assert_close(engine_feasible(&engine, N_POINTS - 1), 0, 0);
    assert_close(engine_feasible(&engine, N_POINTS), 1, 0);
}
