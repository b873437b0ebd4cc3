/* Tests of models/library: libfstune as another program uses it. */
#include "models/engine/engine.h"
#include "tests/models/library/library_rig.h"

#include <errno.h>

TEST(the_best_of_a_space_is_found)
{
    struct fst_answer answer;
    struct fst_options options = FST_OPTIONS;
    options.prefer_best = 1;
    struct fst_search *search = rig_search(&options);
    assert_int_equal(fst_search_size(search), 9 * 6 * 2);
    assert_int_equal(fst_answer(search, &answer), -ENODATA);
    rig_to_the_end(search, rig_rate, 0.03);
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_close(answer.recommended.values[0], 1 << 17, 0);
    assert_close(answer.recommended.values[1], 8, 0);
    assert_close(answer.recommended.values[2], 1, 0);
    assert_close(answer.recommended.value, 2e9, 1e8);
    assert_true(answer.conclusive && answer.shortfall <= 0.1);
    assert_true(answer.recommended.n_confirming >= 5);
    fst_search_free(search);
}

/* Of a whole search. */
static struct fst_answer answer_of(const struct fst_options *options,
                                   double (*value_of)(const double *values), double cv)
{
    struct fst_answer answer;
    struct fst_search *search = rig_search(options);
    rig_to_the_end(search, value_of, cv);
    assert_int_equal(fst_answer(search, &answer), 0);
    fst_search_free(search);
    return answer;
}

TEST(what_is_cheaper_and_good_enough_is_recommended)
{
    struct fst_options options = FST_OPTIONS;
    options.price = rig_price;
    options.tolerance = 0.25;
    const struct fst_answer answer = answer_of(&options, rig_rate, 0.03);
    assert_true(rig_price(answer.recommended.values, NULL) < rig_price(answer.best.values, NULL));
    assert_true(rig_rate(answer.recommended.values) > 0.72 * 2e9);
}

static double time_of(const double *values)
{
    return 1e9 / rig_rate(values);
}

static double loss_of(const double *values)
{
    return -log(rig_rate(values));
}

/* The same surface, looked at the other way round. */
TEST(times_are_the_better_the_lower_they_are)
{
    struct fst_options options = FST_OPTIONS;
    options.prefer_best = 1;
    options.scale = FST_LOWER;
    const struct fst_answer answer = answer_of(&options, time_of, 0.03);
    assert_close(answer.recommended.values[0], 1 << 17, 0);
    assert_close(answer.recommended.value, 0.5, 0.05);
}

/* Noise is multiplied to the loss, which is some -21: a small part of it is as large as the hill is high. */
TEST(losses_may_be_negative_on_a_linear_scale)
{
    struct fst_options options = FST_OPTIONS;
    options.prefer_best = 1;
    options.scale = FST_LOWER_LINEAR;
    const struct fst_answer answer = answer_of(&options, loss_of, 0.001);
    assert_close(answer.recommended.values[0], 1 << 17, 0);
    assert_close(answer.recommended.value, -log(2e9), 0.05);
}

static int forbids_deep_small(const double *values, void *context)
{
    *(size_t *)context += 1;
    return values[1] > 4 && values[0] < 65536;
}

TEST(what_is_forbidden_is_not_asked_for)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_space *space = rig_space();
    struct fst_run run;
    size_t n_asked = 0;
    double seconds = 0;
    fst_space_forbid(space, forbids_deep_small, &n_asked);
    struct fst_search *search = fst_search_new(space, &options);
    fst_space_free(space);
    assert_non_null(search);
    assert_int_equal(n_asked, 9 * 6 * 2);
    assert_int_equal(fst_search_size(search), (9 * 6 - 4 * 3) * 2);
    while (fst_ask(search, (seconds += 0.1), &run) == 1) {
        assert_false(run.values[1] > 4 && run.values[0] < 65536);
        assert_int_equal(fst_tell(search, &run, rig_rate(run.values), 0.1), 0);
    }
    fst_search_free(search);
}

TEST(a_baseline_is_measured_first_and_after_the_choice)
{
    static const double baseline[] = {4096, 1, 0}, nowhere[] = {4097, 1, 0};
    struct fst_options options = FST_OPTIONS;
    struct fst_run run;
    options.baseline = baseline;
    struct fst_search *search = rig_search(&options);
    assert_int_equal(fst_ask(search, 0, &run), 1);
    assert_memory_equal(run.values, baseline, sizeof baseline);
    fst_search_free(search);
    struct fst_space *space = rig_space();
    options.baseline = nowhere;
    assert_null(fst_search_new(space, &options));
    assert_int_equal(errno, EINVAL);
    fst_space_free(space);
}

TEST(a_setting_that_fails_is_not_asked_for_again)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_search *search = rig_search(&options);
    struct fst_run run;
    size_t n_failed = 0;
    double seconds = 0;
    while (fst_ask(search, (seconds += 0.1), &run) == 1) {
        bool fails = run.values[2] > 0;
        n_failed += fails;
        if (fails)
            assert_int_equal(fst_fail(search, &run, 0.1), 0);
        else
            assert_int_equal(fst_tell(search, &run, rig_rate(run.values), 0.1), 0);
    }
    struct fst_answer answer;
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_close(answer.recommended.values[2], 0, 0);
    assert_in_range(n_failed, 1, 54);
    fst_search_free(search);
}

TEST(a_search_that_is_stopped_answers_with_what_it_knows)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_search *search = rig_search(&options);
    struct fst_run run;
    struct fst_answer answer;
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(fst_ask(search, 0.1 * (double)i, &run), 1);
        assert_int_equal(fst_tell(search, &run, rig_rate(run.values), 0.1), 0);
    }
    assert_int_equal(fst_stop(search), 0);
    assert_int_equal(fst_ask(search, 4, &run), 0);
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_false(answer.conclusive);
    fst_search_free(search);
}

/* A program that was compiled before the option was there. */
TEST(what_lies_behind_shorter_options_is_not_read)
{
    struct fst_options options = FST_OPTIONS;
    options.size = offsetof(struct fst_options, growth);
    options.growth = options.alike = options.grace = -1;
    fst_search_free(rig_search(&options));
    options.size = offsetof(struct fst_options, alike);
    options.growth = 0;
    fst_search_free(rig_search(&options));
}

TEST(what_makes_no_sense_is_refused)
{
    static const double falling[] = {2, 1};
    struct fst_options options = FST_OPTIONS, wrong[15];
    struct fst_space *space = fst_space_new();
    struct fst_run run;
    assert_null(fst_search_new(space, &options));
    assert_int_equal(fst_space_add_sizes(space, "block", 4096, 5000), -EINVAL);
    assert_int_equal(fst_space_add_sizes(space, "block", 8192, 4096), -EINVAL);
    assert_int_equal(fst_space_add_levels(space, "depth", falling, 2), -EINVAL);
    assert_int_equal(fst_space_add_levels(space, "depth", falling, 0), -EINVAL);
    assert_int_equal(fst_space_add_choices(space, "api", 0), -EINVAL);
    assert_int_equal(fst_space_add_choices(space, NULL, 2), -EINVAL);
    for (size_t i = 0; i < FST_MAX_FACTORS; i++)
        assert_int_equal(fst_space_add_choices(space, "api", 8), 0);
    assert_int_equal(fst_space_add_choices(space, "api", 2), -EINVAL);
    assert_null(fst_search_new(space, &options));
    assert_int_equal(errno, E2BIG);
    fst_space_free(space);
    for (size_t i = 0; i < N_OF(wrong); i++)
        wrong[i] = options;
    wrong[0].tolerance = 0;
    wrong[1].tolerance = 1;
    wrong[2].confidence = 1;
    wrong[3].budget = INFINITY;
    wrong[4].run_cost = 0;
    wrong[5].scale = (enum fst_scale)17;
    wrong[6].growth = -0.01;
    wrong[7].growth = 1.01;
    wrong[8].growth = NAN;
    wrong[9].alike = 0.11;
    wrong[10].alike = NAN;
    wrong[11].length = 0.11;
    wrong[12].length = -1;
    wrong[13].grace = INFINITY;
    wrong[14].rates = 1;
    wrong[14].scale = FST_LOWER;
    space = rig_space();
    for (size_t i = 0; i < N_OF(wrong); i++)
        assert_null(fst_search_new(space, &wrong[i]));
    fst_space_free(space);
    struct fst_search *search = rig_search(&options);
    assert_int_equal(fst_ask(search, NAN, &run), -EINVAL);
    assert_int_equal(fst_ask(search, 0, &run), 1);
    assert_int_equal(fst_tell(search, &run, -1, 0.1), -EINVAL);
    assert_int_equal(fst_tell(search, &run, 1, -1), -EINVAL);
    run.setting = SIZE_MAX;
    assert_int_equal(fst_tell(search, &run, 1, 0.1), -EINVAL);
    assert_int_equal(fst_fail(search, &run, 0.1), -EINVAL);
    fst_search_free(search);
    fst_search_free(NULL);
    fst_space_free(NULL);
}

#define N_SETTINGS 54
#define N_RUNS     300

/* What is told of a setting at its turn. */
static double response_at(const double *values, size_t turn)
{
    return log(values[0]) - 0.2 * fabs(values[1] - 4) + 0.1 * sin((double)(turn * turn));
}

/* The engine as fst_search_new sets it up, over 9 sizes and 6 depths. */
static void begin_engine(struct engine *engine, struct space *space)
{
    double raw[2 * N_SETTINGS];
    const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED};
    for (size_t i = 0; i < N_SETTINGS; i++) {
        raw[2 * i] = (double)(i / 6);
        raw[2 * i + 1] = (double)(i % 6);
    }
    assert_int_equal(space_init(space, raw, N_SETTINGS, 2, kinds), 0);
    *engine = (struct engine){
        .space = space,
        .search = &search_auto,
        .policy = {.final_share = 0.2, .races_on = true, .races_again = true, .chooses_again = true},
        .margin = -log1p(-0.1),
        .tolerance = -log1p(-0.1),
        .confidence_share = 0.95,
        .budget_seconds = N_RUNS,
        .end_seconds = N_RUNS,
        .run_seconds = 1,
        .design_share = 1,
    };
    assert_int_equal(engine_init(engine, 0, 5), 0);
    for (size_t i = 0; i < N_SETTINGS; i++)
        engine->points[i].in_flight_bytes = 1;
    engine_expect_costs(engine);
}

static struct fst_search *begin_search(void)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_space *space = fst_space_new();
    options.budget = N_RUNS;
    options.run_cost = 1;
    options.seed = 5;
    assert_int_equal(fst_space_add_sizes(space, "block", 1, 256), 0);
    assert_int_equal(fst_space_add_reals(space, "depth", 1, 32, 6, 1), 0);
    struct fst_search *search = fst_search_new(space, &options);
    fst_space_free(space);
    assert_non_null(search);
    return search;
}

/* The library adds nothing to the engine's decisions and takes nothing away. */
TEST(the_engine_decides_bit_for_bit)
{
    struct engine engine;
    struct space space;
    struct fst_search *search = begin_search();
    struct engine_run run;
    struct fst_run asked;
    struct fst_answer answer;
    begin_engine(&engine, &space);
    for (size_t turn = 0; fst_ask(search, FST_USED_COSTS, &asked) == 1; turn++) {
        int code = ENGINE_TURN;
        while (code == ENGINE_TURN)
            code = engine_ask(&engine, (double)turn, &run);
        assert_int_equal(code, ENGINE_RUN);
        assert_int_equal(asked.setting, run.point);
        assert_int_equal(asked.confirming, run.confirming);
        double rate = exp(response_at(asked.values, turn));
        struct engine_result result = {.response = log(rate),
                                       .bps = INFINITY,
                                       .latency_ns = NAN,
                                       .p99_ns = NAN,
                                       .seconds = 1,
                                       .at_seconds = (double)turn};
        assert_int_equal(engine_tell(&engine, &run, &result), 0);
        engine_tell_cost(&engine, run.point, 1, 0, 0, INFINITY);
        assert_int_equal(fst_tell(search, &asked, rate, 1), 0);
    }
    while (engine_ask(&engine, N_RUNS, &run) == ENGINE_TURN) {
    }
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_int_equal(answer.recommended.setting, engine.chosen);
    double share = -expm1(-engine.shortfall);
    assert_memory_equal(&answer.shortfall, &share, sizeof share);
    engine_done(&engine);
    space_done(&space);
    fst_search_free(search);
}
