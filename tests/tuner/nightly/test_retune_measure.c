/* Tests of tuner/nightly/retune_measure and its parts: nights on simulated surfaces, with fixed seeds. */
#include "tests/tuner/rig.h"
#include "tuner/base/interrupt.h"
#include "tuner/nightly/retune_decide.h"
#include "tuner/nightly/retune_measure.h"
#include "tuner/nightly/retune_state.h"
#include "tuner/search/tune.h"
#include "tuner/store/recommendation.h"

#include <errno.h>

static struct settings settings;
static struct retune_request request;
static struct retune_result result;
static struct err err;
static json_t *past;
static struct retune_state remembered; /* what recollect read of it */

static const struct point hill = {65536, 4, 1, API_IO_URING, 1, SYNC_END, 0, 0};
static const struct point below = {65536, 4, 0, API_IO_URING, 1, SYNC_END, 0, 0};

/* Where the hill was, half the rate; the best is now 20 % better than the current setting. */
static double moved_bps(const struct point *point)
{
    return rig_peak_bps(point) * (point->direct ? 0.6 : 1);
}

static double slower_bps(const struct point *point)
{
    return rig_peak_bps(point) * 0.7;
}

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.05; setup_seconds = 0.05;", rig_peak_bps);
    rig_simulator("moved", "run_cv = 0.05; setup_seconds = 0.05;", moved_bps);
    rig_simulator("slower", "run_cv = 0.05; setup_seconds = 0.05;", slower_bps);
    return 0;
}

GROUP(enter, rig_leave);

FIXTURE(confirming_past)
{
    past = json_array();
    return past == NULL;
}

FIXTURE(drop_past)
{
    json_decref(past);
    retune_state_done(&remembered);
    retune_result_done(&result);
    memset(&result, 0, sizeof result);
    return 0;
}

EACH_TEST(confirming_past, drop_past);

static void remember(const struct retune_record *record)
{
    json_array_append_new(past, json_pack("{s:o}", "night", retune_state_json(record)));
}

/* What is remembered now. */
static void recollect(void)
{
    retune_state_done(&remembered);
    assert_int_equal(retune_state_read(&remembered, past), 0);
}

static int recall(void *context, struct session *session, json_t **ret_documents, struct err *ret_err)
{
    if (context == NULL)
        return err_set(ret_err, -EBADMSG, "the history is damaged");
    assert_ptr_equal(context, &past);
    assert_true(session->simulated);
    *ret_documents = json_incref(past);
    return 0;
}

static void prepare(const char *simulator, const char *seed, const struct point *in_force)
{
    memset(&err, 0, sizeof err);
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", simulator, "--seed", seed, "--quiet",
                 "--tolerance", "3%", NULL);
    retune_request_init(&request, &settings);
    request.first_budget_ns = 120 * CLOCK_NS_PER_S;
    request.night_budget_ns = 40 * CLOCK_NS_PER_S;
    request.recall = recall;
    request.context = &past;
    request.in_force_given = in_force != NULL;
    if (in_force != NULL)
        request.in_force = *in_force;
}

/* The night that was prepared, which is remembered; its result takes the place of the last one's. */
static void run_prepared(enum night_verdict verdict)
{
    retune_result_done(&result);
    if (retune_measure(&request, &result, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(result.verdict, verdict);
    json_array_append(past, result.document);
}

static void night(const char *simulator, const char *seed, const struct point *in_force,
                  enum night_verdict verdict)
{
    prepare(simulator, seed, in_force);
    run_prepared(verdict);
}

/* As `night`, with a limit of what may be written. */
static void night_that_writes(const char *simulator, const char *seed, const struct point *in_force,
                              uint64_t bytes, enum night_verdict verdict)
{
    prepare(simulator, seed, in_force);
    settings.limits.max_write_given = true;
    settings.limits.max_write_bytes = bytes;
    run_prepared(verdict);
    assert_true(result.bytes_written <= bytes);
}

#define GIB (1ULL << 30)

/* 3 GiB are some 30 runs at 2 GB/s. */
TEST(a_shift_is_found_with_the_write_budget_of_a_night)
{
    night_that_writes("peak.conf", "1", NULL, 3 * GIB, NIGHT_FIRST);
    assert_true(result.throughput.n >= ENGINE_CONFIRMING_LEAST);
    night_that_writes("moved.conf", "2", &hill, 3 * GIB, NIGHT_PENDING);
    assert_true(result.gain_tonight.n >= ENGINE_CONFIRMING_LEAST);
    night_that_writes("moved.conf", "3", &hill, 3 * GIB, NIGHT_CHANGE);
    /* What waits for its verdict gets the most of it. */
    assert_true(result.gain_tonight.n >= 2 * ENGINE_CONFIRMING_LEAST);
}

TEST(too_small_a_write_budget_says_so)
{
    night_that_writes("peak.conf", "1", &hill, GIB, NIGHT_NOTHING);
    CHECK_HAS(result.reason, "1.07 GB of writes allow only", "raise max_write");
    night_that_writes("peak.conf", "1", NULL, GIB / 4, NIGHT_NOTHING);
    assert_false(result.has_recommendation);
}

TEST(what_the_write_budget_left_out_is_in_the_evidence)
{
    night_that_writes("peak.conf", "1", &hill, 2 * GIB, NIGHT_NO_CHANGE);
    assert_non_null(strstr(result.evidence, "of writes allowed a look at"));
}

/* A slow device spends its time, not its write budget. */
TEST(an_ample_write_budget_changes_nothing)
{
    night_that_writes("peak.conf", "1", NULL, 1ULL << 50, NIGHT_FIRST);
    assert_true(result.conclusive && factors_equal(&result.recommendation, &hill));
    assert_null(strstr(result.evidence, "of writes"));
}

TEST(a_first_night_makes_an_advice_and_an_unchanged_machine_keeps_it)
{
    static const char *const seeds[] = {"2", "3", "4"};
    night("peak.conf", "1", NULL, NIGHT_FIRST);
    assert_true(result.first && result.has_recommendation && result.conclusive);
    assert_true(factors_equal(&result.recommendation, &hill));
    assert_close(result.throughput.mean / 2e9, 1, 0.05);
    assert_non_null(strstr(result.evidence, "first tune"));
    for (size_t i = 0; i < N_OF(seeds); i++) {
        night("peak.conf", seeds[i], &hill, NIGHT_NO_CHANGE);
        assert_int_equal(result.behind, 0);
        assert_false(result.first);
        assert_true(factors_equal(&result.recommendation, &hill));
        assert_int_equal(result.expected.n, i + 1);
        assert_true(result.seconds <= 45);
    }
}

/* The document advises what should be the current setting. */
static void check_advice(const struct point *point)
{
    struct recommendation recommendation;
    assert_true(factors_equal(&result.recommendation, point));
    assert_int_equal(recommendation_read(&recommendation, result.document, &err), 0);
    assert_true(factors_equal(&recommendation.point, point));
}

TEST(a_shift_is_confirmed_by_a_second_night)
{
    night("peak.conf", "1", NULL, NIGHT_FIRST);
    night("moved.conf", "2", &hill, NIGHT_PENDING);
    check_advice(&hill);
    assert_true(factors_equal(&result.contender, &below));
    /* 0.8 against 0.6 */
    assert_close(result.gain_tonight.mean, 4.0 / 3, 0.1);
    assert_true(result.behind & NIGHT_BEHIND_SETTINGS);
    assert_true(result.reason[0] != '\0');
    night("moved.conf", "3", &hill, NIGHT_CHANGE);
    check_advice(&below);
    assert_int_equal(result.gain_pooled.n, 2);
    assert_true(result.gain_pooled.interval.low > 1.03);
    assert_false(result.behind & NIGHT_BEHIND_SETTINGS);
}

TEST(slower_settings_in_force_are_an_alarm_after_three_nights)
{
    static const char *const seeds[] = {"1", "2", "3"};
    for (size_t i = 0; i < N_OF(seeds); i++) {
        night("peak.conf", seeds[i], &hill, NIGHT_NO_CHANGE);
        assert_int_equal(result.behind, 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        night("slower.conf", i == 0 ? "4" : "5", &hill, NIGHT_NO_CHANGE);
        /* A night that was down is no measure for the next. */
        assert_int_equal(result.behind, NIGHT_BEHIND_THROUGHPUT);
        assert_int_equal(result.expected.n, 3);
        assert_close(result.throughput.mean / result.expected.mean, 0.7, 0.05);
        assert_non_null(strstr(result.reason, "throughput"));
    }
}

TEST(a_signal_leaves_no_verdict_and_no_advice)
{
    prepare("peak.conf", "1", &hill);
    atomic_store(&interrupt_signal, 2);
    assert_int_equal(retune_measure(&request, &result, &err), 0);
    atomic_store(&interrupt_signal, 0);
    assert_int_equal(result.verdict, NIGHT_NOTHING);
    assert_true(result.interrupted && !result.has_recommendation);
    assert_non_null(strstr(result.reason, "interrupted"));
    CHECK_JSON(result.document, "recommendation=null", "night=absent");
}

TEST(settings_in_force_that_cannot_be_measured_are_refused)
{
    struct point unknown = hill;
    unknown.queue_depth = 512;
    prepare("peak.conf", "1", &unknown);
    assert_true(retune_measure(&request, &result, &err) < 0);
    assert_true(err.text[0] != '\0');
}

TEST(a_history_that_fails_ends_the_night)
{
    prepare("peak.conf", "1", &hill);
    request.context = NULL;
    assert_int_equal(retune_measure(&request, &result, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "damaged"));
}

/* Nights at levels of their own, each a little below the one before. */
static void remember_drift(size_t n, double loss)
{
    for (size_t i = 0; i < n; i++) {
        double level = log(2e9) + (double)(n - i) * loss;
        struct retune_record record = {.has_in_force = true, .in_force = hill, .n_confirming = 1};
        record.confirming[0] = (struct retune_confirming){hill, {5, level, 0.02}, {5, level, 0.02}};
        remember(&record);
    }
}

TEST(a_drift_over_many_nights_is_an_alarm)
{
    remember_drift(12, 0.02);
    night("peak.conf", "1", &hill, NIGHT_NO_CHANGE);
    assert_int_equal(result.behind, NIGHT_BEHIND_THROUGHPUT);
    assert_true(result.drifted);
    CHECK_HAS(result.reason, "has drifted down", "over 5 nights in a row");
    json_array_clear(past);
    remember_drift(12, 0.002);
    night("peak.conf", "1", &hill, NIGHT_NO_CHANGE);
    assert_int_equal(result.behind, 0);
}

static struct retune_record record_of(const struct point *in_force, double gain)
{
    struct retune_record record = {
        .has_in_force = true, .in_force = *in_force, .n_confirming = 2, .n_pending = 1};
    record.confirming[0] = (struct retune_confirming){hill, {5, 20, 0.01}, {5, 20, 0.01}};
    record.confirming[1] = (struct retune_confirming){below, {5, 20 + gain, 0.01}, {5, 20 + gain, 0.01}};
    record.pending[0] = below;
    return record;
}

TEST(a_night_is_read_as_it_was_written)
{
    struct nights_estimate ratios[4];
    struct point pending[NIGHT_MAX_PENDING];
    struct retune_record record = record_of(&hill, 0.25);
    remember(&record);
    recollect();
    assert_int_equal(remembered.n, 1);
    assert_int_equal(retune_state_row(&remembered, &below, &hill, ratios, 4), 1);
    assert_close(ratios[0].log_mean, 0.25, 1e-12);
    assert_close(ratios[0].variance, 2 * 0.0001 / 5, 1e-12);
    assert_int_equal(retune_state_pending(&remembered, &hill, pending), 1);
    assert_true(factors_equal(&pending[0], &below));
    assert_int_equal(retune_state_pending(&remembered, &below, pending), 0);
}

TEST(other_settings_in_force_end_the_row)
{
    struct nights_estimate ratios[4];
    struct retune_record before = record_of(&below, 0.1), after = record_of(&hill, 0.2);
    remember(&after);
    remember(&before);
    remember(&after);
    recollect();
    assert_int_equal(retune_state_row(&remembered, &below, &hill, ratios, 4), 1);
}

static double n_learnt(const struct retune_record *tonight, const struct point *contender, size_t row_begin)
{
    struct nights_scatter scatter = {.n = 0};
    retune_state_learn(&remembered, tonight, contender, row_begin, &scatter);
    return scatter.n * 3 / 2;
}

TEST(scatter_is_learnt_outside_of_the_row_that_is_judged)
{
    struct retune_record before = record_of(&below, 0.1), after = record_of(&hill, 0.2), tonight = after;
    before.has_in_force = false;
    remember(&before);
    remember(&after);
    remember(&after);
    recollect();
    assert_close(n_learnt(NULL, NULL, 0), 2, 1e-9);
    assert_close(n_learnt(&tonight, NULL, 0), 3, 1e-9);
    /* Its row is tonight: what came before it counts. */
    assert_close(n_learnt(&tonight, &below, 3), 2, 1e-9);
    assert_close(n_learnt(&tonight, &below, 2), 1, 1e-9);
    /* Of another contender: all but what reaches across. */
    assert_close(n_learnt(NULL, &(struct point){.threads = 9}, 2), 1, 1e-9);
}

TEST(changes_of_the_newest_nights_are_counted)
{
    struct retune_record before = record_of(&below, 0.1), after = record_of(&hill, 0.2);
    remember(&after);
    remember(&before);
    remember(&before);
    remember(&after);
    recollect();
    assert_int_equal(retune_state_changes(&remembered, &hill, 30), 2);
    assert_int_equal(retune_state_changes(&remembered, &below, 30), 3);
    assert_int_equal(retune_state_changes(&remembered, &below, 1), 1);
    assert_int_equal(retune_state_changes(&remembered, &hill, 1), 0);
}

/* 37 % more, two nights running: a change, but not as the third of a month. */
TEST(a_third_change_needs_three_times_the_tolerance)
{
    struct retune_record before = record_of(&below, 0.1), after = record_of(&hill, 0.2);
    remember(&before);
    remember(&after);
    remember(&before);
    for (int i = 0; i < 2; i++) {
        prepare("moved.conf", i == 0 ? "13" : "14", &hill);
        settings.search.tolerance_share = 0.12;
        run_prepared(NIGHT_NO_CHANGE);
        assert_int_equal(result.n_changes, 3);
        assert_close(result.needed_share, 4 * 0.12, 1e-12);
        assert_non_null(
            strstr(result.evidence, "more than 48.0 % in each of 2 nights is needed after 3 changes"));
        assert_true(result.behind & NIGHT_BEHIND_SETTINGS);
    }
}

TEST(damaged_nights_count_as_not_there)
{
    static const char *const texts[] = {
        "{}", "{\"night\": 1}", "{\"night\": {\"in_force\": {}, \"fresh\": [], \"pending\": []}}",
        "{\"night\": {\"in_force\": null, \"fresh\": [{}], \"pending\": []}}",
        "{\"night\": {\"in_force\": null, \"fresh\": [], \"pending\": [1, 2, 3, 4]}}"};
    for (size_t i = 0; i < N_OF(texts); i++)
        json_array_append_new(past, json_loads(texts[i], 0, NULL));
    assert_int_equal(json_array_size(past), N_OF(texts));
    recollect();
    assert_int_equal(remembered.n, 0);
    retune_state_done(&remembered);
    assert_int_equal(retune_state_read(&remembered, NULL), 0);
    assert_int_equal(remembered.n, 0);
}

TEST(a_week_of_slow_nights_is_the_new_level)
{
    struct nights_estimate levels[20];
    struct retune_record calm = record_of(&hill, 0), down = calm;
    down.down = true;
    for (unsigned i = 0; i < 3; i++)
        remember(&calm);
    for (unsigned i = 1; i <= RETUNE_STATE_NEW_LEVEL; i++) {
        remember(&down);
        recollect();
        size_t n = retune_state_levels(&remembered, &hill, levels, 20);
        assert_int_equal(n, i < RETUNE_STATE_NEW_LEVEL ? 3 : RETUNE_STATE_NEW_LEVEL);
    }
}
