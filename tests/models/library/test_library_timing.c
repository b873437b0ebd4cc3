/* Tests of libfstune: how measurements went, what decides between equal prices, and a grace. */
#include "tests/models/library/library_rig.h"

#include <errno.h>

static struct fst_run setting_of(const struct fst_search *search, double size, double depth, double direct)
{
    struct fst_run run;
    assert_int_equal(fst_find(search, (const double[]){size, depth, direct}, &run), 0);
    return run;
}

static void tell_cut(struct fst_search *search, const struct fst_run *run, double value, int cut)
{
    struct fst_result result = {.value = value, .cost = 0.1};
    struct fst_timing timing = FST_TIMING;
    timing.cut = cut;
    assert_int_equal(fst_tell_timed(search, run, &result, &timing), 0);
}

TEST(a_cut_measurement_counts_until_a_whole_one_is_told)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_search *search = rig_search(&options);
    struct fst_run run = setting_of(search, 4096, 1, 0);
    struct fst_estimate estimate;
    tell_cut(search, &run, 1e6, 1);
    assert_int_equal(fst_look(search, run.setting, &estimate), 0);
    assert_close(estimate.value / 1e6, 1, 1e-9);
    tell_cut(search, &run, 2e6, 0);
    tell_cut(search, &run, 2e6, 0);
    assert_int_equal(fst_look(search, run.setting, &estimate), 0);
    assert_int_equal(estimate.n, 2);
    assert_close(estimate.value / 2e6, 1, 1e-9);
    fst_search_free(search);
}

/* The worst value before anything is known, then one far below the best so far: here half of it. */
static void check_hopeless(enum fst_scale scale, double none, double best, double half)
{
    struct fst_options options = FST_OPTIONS;
    options.scale = scale;
    struct fst_search *search = rig_search(&options);
    struct fst_run run = setting_of(search, 131072, 8, 1), other = setting_of(search, 4096, 1, 0);
    assert_close(fst_hopeless(search, &other), none, 0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(fst_tell(search, &run, best, 0.1), 0);
    if (half > 0)
        assert_close(log(fst_hopeless(search, &other) / half), 0, 0.7);
    else
        assert_close(fst_hopeless(search, &other), none, 0);
    assert_close(fst_hopeless(search, &run), none, 0); /* only a first measurement may end early */
    fst_search_free(search);
}

TEST(a_first_measurement_far_below_the_best_is_hopeless)
{
    check_hopeless(FST_HIGHER, 0, 1e9, 0.5e9);
    check_hopeless(FST_LOWER, INFINITY, 1, 2);
    check_hopeless(FST_HIGHER_LINEAR, -INFINITY, 1e9, 0);
    check_hopeless(FST_LOWER_LINEAR, INFINITY, 1, 0);
}

TEST(a_timing_that_makes_no_sense_is_refused)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_search *search = rig_search(&options);
    struct fst_run run = setting_of(search, 4096, 1, 0);
    struct fst_result result = {.value = 1, .cost = 0.1}, mean = {.value = 1, .cost = 0.1, .std_error = 0.1};
    struct fst_timing timing = FST_TIMING, wrong[8];
    for (size_t i = 0; i < N_OF(wrong); i++)
        wrong[i] = timing;
    wrong[0].size++;
    wrong[1].size = 0;
    wrong[2].used = NAN;
    wrong[3].span = INFINITY;
    wrong[4].warmup = -1;
    wrong[5].latency = -1;
    wrong[6].span = 0.2;
    wrong[7].warmup = 0.2;
    for (size_t i = 0; i < N_OF(wrong); i++)
        assert_int_equal(fst_tell_timed(search, &run, &result, &wrong[i]), -EINVAL);
    timing.cut = 1;
    assert_int_equal(fst_tell_timed(search, &run, &mean, &timing), -EINVAL);
    run.confirming = 1;
    assert_int_equal(fst_tell_timed(search, &run, &result, &timing), -EINVAL);
    run.confirming = 0;
    assert_int_equal(fst_tell_timed(search, &run, &result, &timing), 0);
    fst_search_free(search);
}

/* --- what is recommended among equals --- */

static double buffered_first(const double *values, void *context)
{
    (void)context;
    return values[2];
}

static double direct_first(const double *values, void *context)
{
    (void)context;
    return 1 - values[2];
}

/* On a flat surface; latency of direct settings by that of others. Whether a direct one is recommended. */
static bool recommends_direct(double (*rank)(const double *values, void *context), double latency)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_answer answer;
    struct fst_run run;
    options.price = rig_price;
    options.rank = rank;
    options.budget = 30;
    struct fst_search *search = rig_search(&options);
    while (fst_ask(search, FST_USED_COSTS, &run) == 1) {
        struct fst_result result = {.value = 1e9 * rig_noise(0.02), .cost = 0.1};
        struct fst_timing timing = FST_TIMING;
        timing.latency = run.values[2] > 0 ? latency : latency > 0;
        assert_int_equal(fst_tell_timed(search, &run, &result, &timing), 0);
    }
    assert_int_equal(fst_answer(search, &answer), 0);
    fst_search_free(search);
    return answer.recommended.values[2] > 0;
}

TEST(of_equal_prices_the_lower_latency_and_then_the_lower_rank_is_recommended)
{
    assert_false(recommends_direct(buffered_first, 0));
    assert_true(recommends_direct(direct_first, 0));
    assert_false(recommends_direct(buffered_first, 1));
    assert_true(recommends_direct(direct_first, 1));
    assert_true(recommends_direct(buffered_first, 0.5));
    assert_false(recommends_direct(direct_first, 2));
}

/* Measurements of the recommended setting after the choice, which take ten times as long as others. */
static size_t count_confirming(double grace)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_answer answer;
    struct fst_run run;
    options.budget = 12;
    options.grace = grace;
    options.prefer_best = 1;
    struct fst_search *search = rig_search(&options);
    while (fst_ask(search, FST_USED_COSTS, &run) == 1)
        assert_int_equal(
            fst_tell(search, &run, rig_rate(run.values) * rig_noise(0.2), run.confirming ? 1 : 0.1), 0);
    assert_int_equal(fst_answer(search, &answer), 0);
    fst_search_free(search);
    return answer.recommended.n_confirming;
}

TEST(with_grace_the_first_measurements_after_the_choice_may_pass_the_budget)
{
    assert_true(count_confirming(0) < 5);
    assert_true(count_confirming(5) >= 5);
}

TEST(a_factor_may_have_one_value)
{
    static const double threads[] = {1};
    struct fst_space *space = rig_space();
    struct fst_options options = FST_OPTIONS;
    assert_int_equal(fst_space_add_levels(space, "threads", threads, 1), 0);
    assert_int_equal(fst_space_add_choices(space, "kind", 1), 0);
    assert_int_equal(fst_space_add_sizes(space, "page", 4096, 4096), 0);
    struct fst_search *search = fst_search_new(space, &options);
    fst_space_free(space);
    assert_non_null(search);
    assert_int_equal(fst_search_size(search), RIG_POINTS);
    assert_true(rig_to_the_end(search, rig_rate, 0.05) > 20);
    fst_search_free(search);
}
