/* Tests of tuner/search/tune_trust: what is doubtful is not recommended. */
#include "tests/tuner/search/tune_rig.h"

SEARCHES(enter);

#define BIT WARNINGS_BIT

/* The table of the rig with reads. */
static void make_reads(void)
{
    assert_int_equal(system("sed 's/^randwrite/randread/' peak.csv >reads.csv"), 0);
    rig_write("reads.conf", "points = \"reads.csv\"; noise = { run_cv = 0.02; setup_seconds = 0.05; };");
}

static void open_reads(const char *options)
{
    make_reads();
    given(words("reads.conf --pattern randread --seed 1%s", options));
    open_session();
}

static void begin_reads(void)
{
    open_reads("");
    assert_int_equal(tune_init(&tune, session, &err), 0);
}

/* A file of a user's with holes in it. */
static void dig_holes(void)
{
    session->target_facts.existing = true;
    session->target_facts.extents =
        (struct extents){.size_bytes = 100, .hole_bytes = 50, .holes_known = true};
}

static void finish(void)
{
    if (tune_init(&tune, session, &err) != 0)
        fail_msg("%s", err.text);
    run_on();
}

TEST(a_clean_search_doubts_nothing)
{
    open_reads("");
    finish();
    assert_true(answer.has_rows);
    assert_int_equal(answer.chosen.disqualifying, 0);
    for (size_t i = 0; i < tune.n_records; i++)
        assert_int_equal(tune_distrust(&tune, i), 0);
}

TEST(a_doubt_about_the_file_leaves_no_recommendation)
{
    open_reads("");
    dig_holes();
    finish();
    assert_int_equal(tune.engine.chosen, ENGINE_NONE);
    assert_int_equal(tune.engine.best, ENGINE_NONE);
    assert_false(answer.has_rows);
    assert_non_null(strstr(answer.reason, "--accept existing_has_holes"));
    const struct note *note = find_note(&session->warnings, "existing_has_holes");
    assert_true(note != NULL && note->disqualifying);
    /* Nothing is learnt by spending the budget: the baseline is all that was measured. */
    assert_int_equal(session->n_runs, 1);
    assert_int_equal(answer.baseline.disqualifying, BIT(WARNING_EXISTING_HAS_HOLES));
}

TEST(an_accepted_doubt_does_not_disqualify)
{
    open_reads(" --accept existing_has_holes,not_cold");
    dig_holes();
    finish();
    assert_true(answer.has_rows);
    assert_true(factors_equal(chosen(), &hill));
    assert_int_equal(answer.chosen.disqualifying, 0);
}

TEST(another_accepted_doubt_does_not_help)
{
    open_reads(" --accept not_cold");
    dig_holes();
    finish();
    assert_false(answer.has_rows);
}

static void add_replay(size_t point, uint64_t warning_set)
{
    static struct histogram latency;
    struct measure_result result = {.throughput_bps = 1e9};
    histogram_init(&latency);
    struct sample sample = sample_of(&result, &latency, warning_set);
    assert_int_equal(record_add(&tune.records[point], &sample, &latency), 0);
    belief_tell(&tune.engine.belief, point, 20);
    tune_weigh_trust(&tune, point);
}

static size_t find_direct(uint32_t direct)
{
    for (size_t i = 0; i < tune.space.n_points; i++) {
        if (tune.records[i].point.direct == direct)
            return i;
    }
    fail();
    return 0;
}

TEST(two_replays_that_agree_exclude_a_point_one_does_not)
{
    begin_reads();
    size_t direct = find_direct(1), buffered = find_direct(0);
    add_replay(direct, BIT(WARNING_DEPTH_NOT_ACHIEVED));
    assert_int_equal(tune_distrust(&tune, direct), BIT(WARNING_DEPTH_NOT_ACHIEVED));
    assert_false(tune.engine.belief.excluded[direct]);
    add_replay(direct, BIT(WARNING_DEPTH_NOT_ACHIEVED) | BIT(WARNING_STEAL));
    assert_true(tune.engine.belief.excluded[direct]);
    add_replay(buffered, BIT(WARNING_DEPTH_NOT_ACHIEVED));
    add_replay(buffered, BIT(WARNING_DEPTH_NOT_ACHIEVED));
    assert_false(tune.engine.belief.excluded[buffered]);
}

TEST(a_doubt_of_a_minority_does_not_disqualify)
{
    begin_reads();
    size_t direct = find_direct(1);
    struct row row;
    add_replay(direct, 0);
    add_replay(direct, BIT(WARNING_DEPTH_NOT_ACHIEVED));
    assert_int_equal(tune_distrust(&tune, direct), 0);
    assert_int_equal(tune_row(&tune, direct, false, &row), 0);
    assert_int_equal(row.warning_set, BIT(WARNING_DEPTH_NOT_ACHIEVED));
    assert_int_equal(row.disqualifying, 0);
    assert_false(tune.engine.belief.excluded[direct]);
}

/* One doubtful replay, however fast, does not exclude a point for good, but it is not chosen either. */
TEST(a_point_with_one_doubtful_replay_is_not_chosen)
{
    begin_reads();
    size_t direct = find_direct(1), buffered = find_direct(0);
    add_replay(direct, BIT(WARNING_DEPTH_NOT_ACHIEVED));
    engine_choose(&tune.engine);
    assert_int_equal(tune.engine.chosen, ENGINE_NONE);
    add_replay(buffered, 0);
    engine_choose(&tune.engine);
    assert_int_equal(tune.engine.chosen, buffered);
    assert_false(tune.engine.belief.excluded[direct]);
}

/* The fastest point turns out to be doubtful in all its replays: the next best is recommended. */
TEST(a_doubtful_best_is_passed_over)
{
    begin_reads();
    tune.records[tune_find_point(&tune, &hill)].warning_set = BIT(WARNING_DEPTH_NOT_ACHIEVED);
    run_on();
    assert_true(answer.has_rows);
    assert_false(factors_equal(chosen(), &hill));
    assert_false(factors_equal(&answer.best.point, &hill));
    const struct note *note = find_note(&session->warnings, "depth_not_achieved");
    assert_true(note != NULL && note->disqualifying);
    assert_non_null(strstr(note->text, "1 of "));
}

/* The replays after the choice are made within seconds, so that their mean is that of the moment. */
TEST(intervals_after_the_choice_allow_for_a_rate_that_wanders)
{
    struct row plain, wide, all;
    open_reads("");
    finish();
    size_t point = tune.engine.chosen;
    tune.engine.belief.wander = (struct wander){0};
    assert_int_equal(tune_row(&tune, point, true, &plain), 0);
    assert_false(plain.ci_wanders);
    tune.engine.belief.wander = (struct wander){0.01, 1000, 0.001};
    assert_int_equal(tune_row(&tune, point, true, &wide), 0);
    assert_true(wide.ci_wanders && wide.latency_ns.ci_wanders);
    assert_close(wide.mean_bps, plain.mean_bps, 0);
    /* Replays within a moment share all of it: 1.96 times a tenth to either side. */
    assert_close((wide.ci_high_bps - wide.mean_bps) / wide.mean_bps, 0.196, 0.01);
    assert_close((wide.mean_bps - wide.ci_low_bps) / wide.mean_bps, 0.196, 0.01);
    tune.engine.belief.wander.tau_seconds = 1e-6;
    assert_int_equal(tune_row(&tune, point, true, &wide), 0);
    assert_true((wide.ci_high_bps - wide.mean_bps) / wide.mean_bps < 0.1);
    assert_int_equal(tune_row(&tune, point, false, &all), 0);
    assert_false(all.ci_wanders);
    /* So do all runs of the choice where none were made after it; others are compared without it. */
    tune.engine.belief.wander.tau_seconds = 1000;
    record_age(&tune.records[point]);
    record_age(&tune.records[tune.engine.baseline]);
    assert_int_equal(tune_row(&tune, point, false, &all), 0);
    assert_true(all.ci_wanders && all.latency_ns.ci_wanders);
    assert_true((all.ci_high_bps - all.mean_bps) / all.mean_bps > 0.18);
    assert_int_equal(tune_row(&tune, tune.engine.baseline, false, &all), 0);
    assert_false(all.ci_wanders);
}
