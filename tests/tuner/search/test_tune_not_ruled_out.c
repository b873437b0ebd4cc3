/* Tests of tuner/search/tune_not_ruled_out: which points a night may not write off, and what it does with
 * them. */
#include "tests/tuner/search/tune_rig.h"

#include <errno.h>

SEARCHES(enter);

/* A search of a night, before its first run. */
static void begin_night(const char *simulator, const char *current)
{
    given(words("%s --seed 1 --quiet --current %s", simulator, current));
    open_session();
    session->policy = &night_policy;
    assert_int_equal(tune_init(&tune, session, &err), 0);
}

#define ON_HILL "request_size=64k,queue_depth=4,direct=1,api=io_uring"

static void begin_on_hill(void)
{
    begin_night("peak.conf", ON_HILL);
    assert_true(factors_equal(&tune.records[tune.engine.baseline].point, &hill));
}

static void tell(size_t point, double response, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(belief_tell(&tune.engine.belief, point, response), 0);
}

/* Some point of the space that is not in force. */
static size_t other(size_t k)
{
    return k < tune.engine.baseline ? k : k + 1;
}

TEST(one_unlucky_run_does_not_end_a_chance)
{
    begin_on_hill();
    tell(tune.engine.baseline, 20, 10);
    tell(other(0), 19.9, 1);
    assert_true(engine_has_chance(&tune.engine, other(0)));
    tell(other(1), 19.9, 60);
    assert_false(engine_has_chance(&tune.engine, other(1)));
}

TEST(what_is_better_by_less_than_the_margin_is_written_off_in_time)
{
    begin_on_hill();
    tell(tune.engine.baseline, 20, 10);
    tell(other(0), 20 + tune.engine.margin / 2, 2000);
    tell(other(1), 20 + tune.engine.margin * 2, 2000);
    assert_false(engine_has_chance(&tune.engine, other(0)));
    assert_true(engine_has_chance(&tune.engine, other(1)));
}

TEST(what_is_in_force_and_what_is_left_out_have_none)
{
    begin_on_hill();
    tell(tune.engine.baseline, 20, 1);
    belief_exclude(&tune.engine.belief, other(0));
    assert_false(engine_has_chance(&tune.engine, tune.engine.baseline));
    assert_false(engine_has_chance(&tune.engine, other(0)));
    assert_true(engine_has_chance(&tune.engine, other(1)));
}

TEST(settings_in_force_outside_the_space_are_a_measure)
{
    const struct sample sample = {.throughput_bps = 1e9, .iops = 1e9 / 8192, .latency_mean_ns = 1e5};
    static struct histogram latency;
    histogram_init(&latency);
    begin_night("peak.conf", "request_size=8k,queue_depth=2,direct=1,api=io_uring");
    assert_true(tune.engine.baseline >= tune.space.n_points);
    assert_int_equal(record_add(&tune.records[tune.engine.baseline], &sample, &latency), 0);
    tell(0, log(1e9) + 0.5, 20);
    tell(1, log(1e9) - 0.5, 20);
    assert_true(engine_has_chance(&tune.engine, 0));
    assert_false(engine_has_chance(&tune.engine, 1));
}

TEST(the_list_begins_with_the_highest_bound_and_ends_with_the_room)
{
    size_t points[ENGINE_MAX_LISTED];
    begin_on_hill();
    tell(tune.engine.baseline, 20, 10);
    for (size_t i = 0; i + 1 < tune.space.n_points; i++)
        tell(other(i), i == 3 ? 21 : i == 5 ? 22 : i == 7 ? 20.5 : 10, 10);
    assert_int_equal(engine_list_chances(&tune.engine, points, ENGINE_MAX_LISTED), 3);
    assert_int_equal(points[0], other(5));
    assert_int_equal(points[1], other(3));
    assert_int_equal(points[2], other(7));
    assert_int_equal(engine_list_chances(&tune.engine, points, 2), 2);
    assert_int_equal(points[0], other(5));
    assert_int_equal(points[1], other(3));
}

TEST(a_few_replays_may_be_as_good_as_what_seems_better)
{
    begin_on_hill();
    tell(other(0), 20.1, 50);
    tell(other(1), 20, 1);
    tell(other(2), 20, 200);
    assert_true(engine_may_beat(&tune.engine, other(1), other(0)));
    assert_false(engine_may_beat(&tune.engine, other(2), other(0)));
}

TEST(only_a_night_that_has_bytes_looks_again)
{
    begin_on_hill();
    assert_int_equal(tune_writes_look(&tune, &err), 0);
    assert_true(tune.policy.weighs_chances && !tune.writes_are_scarce);
    assert_int_equal(tune.policy.sentinel_runs, TUNE_SENTINEL_RUNS);
    settings.limits.max_write_given = true;
    settings.limits.max_write_bytes = tune.session->bytes_written + (1 << 30);
    tune.session->write_limit_bytes = settings.limits.max_write_bytes;
    assert_int_equal(tune_writes_look(&tune, &err), 0);
    assert_true(tune.writes_are_scarce && !tune.policy.weighs_chances && !tune.policy.chooses_again);
    assert_int_equal(tune.policy.sentinel_runs, 1);
    assert_false(tune_policy_usual.weighs_chances || tune_policy_usual.limits_writes);
}

/* Equal points: none can be written off in the time of a night. */
TEST(rivals_are_replayed_as_often_as_what_is_in_force)
{
    size_t n = 0;
    begin_night("flat.conf", ON_HILL);
    run_on();
    assert_true(count_confirming(tune.engine.baseline) > 2 * ENGINE_CONFIRMING_LEAST);
    for (size_t i = 0; i < tune.space.n_points; i++)
        n += i != tune.engine.baseline && i != tune.engine.default_setting &&
             count_confirming(i) + 1 >= count_confirming(tune.engine.baseline);
    assert_in_range(n, night_policy.n_contenders, night_policy.n_contenders + 1);
    check_bounds();
}

/* A surrogate is soon sure that equal points are equal; their own replays are not. */
TEST(a_night_goes_on_while_something_has_a_chance)
{
    begin_night("flat.conf", ON_HILL);
    run_on();
    assert_int_equal(tune.engine.stop, ENGINE_STOP_BUDGET);
    assert_true(session_seconds(session) > 0.85 * (double)settings.limits.budget_ns / 1e9);
}

TEST(the_default_gets_fewer_replays_than_what_is_judged)
{
    rig_simulator("uneasy", "run_cv = 0.1; setup_seconds = 0.05;", rig_peak_bps);
    begin_night("uneasy.conf", ON_HILL);
    run_on();
    assert_true(tune.engine.default_setting != ENGINE_NONE);
    assert_true(count_confirming(tune.engine.default_setting) >= ENGINE_CONFIRMING_LEAST);
    assert_true(count_confirming(tune.engine.baseline) > 2 * count_confirming(tune.engine.default_setting));
}

/* What is known for sure needs no second minute. */
TEST(a_night_in_which_nothing_has_a_chance_ends_early)
{
    begin_on_hill();
    run_on();
    assert_int_equal(tune.engine.stop, ENGINE_STOP_SEPARATED);
    assert_true(session_seconds(session) < 0.9 * (double)settings.limits.budget_ns / 1e9);
}

/* Before its first run nobody knows what there is to be better than. */
TEST(nothing_is_written_off_before_what_is_in_force_was_measured)
{
    begin_on_hill();
    tell(other(0), 20, 3);
    assert_false(engine_knows_baseline(&tune.engine));
    assert_int_equal(tune_race(&tune, &err), 0);
    assert_true(tune.records[tune.engine.baseline].n > 0);
    assert_true(engine_knows_baseline(&tune.engine));
}

/* There is nothing that others could be better than: the race is that of any search. All points are equal,
 * and scatter so much that nobody can know. */
TEST(a_night_that_cannot_measure_what_is_in_force_claims_no_evidence)
{
    begin_night("wild.conf", ON_HILL);
    tune.records[tune.engine.baseline].failed = -EIO;
    belief_exclude(&tune.engine.belief, tune.engine.baseline);
    run_on();
    assert_int_equal(tune.engine.stop, ENGINE_STOP_BUDGET);
    assert_false(tune.engine.conclusive);
    assert_true(session_seconds(session) > 0.7 * (double)settings.limits.budget_ns / 1e9);
}
