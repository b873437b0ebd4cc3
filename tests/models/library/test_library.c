/* Tests of models/library: libfstune as another program uses it. */
#include "models/library/fstune.h"
#include "tests/models/rng.h"

#include <errno.h>
#include <math.h>

/* A block size and a depth, and a choice that doubles the rate. */
static struct fst_space *space_of_three(void)
{
    static const double depths[] = {1, 2, 4, 8, 16, 32};
    struct fst_space *space = fst_space_new();
    assert_non_null(space);
    assert_int_equal(fst_space_add_sizes(space, "block", 4096, 1 << 20), 0);
    assert_int_equal(fst_space_add_levels(space, "depth", depths, 6), 0);
    assert_int_equal(fst_space_add_choices(space, "direct", 2), 0);
    return space;
}

/* Best at 128 KiB x 8, direct. */
static double rate_of(const double *values)
{
    double size = log2(values[0]) - 17, depth = log2(values[1]) - 3;
    return 1e9 * exp(-0.08 * size * size - 0.1 * depth * depth) * (values[2] > 0 ? 2 : 1);
}

static double price_of(const double *values, void *context)
{
    assert_null(context);
    return values[0] * values[1];
}

/* Asks and tells to the end; how many measurements that were. */
static size_t search_to_the_end(struct fst_search *search, double (*value_of)(const double *values),
                                double cv)
{
    struct fst_run run;
    double seconds = 0;
    size_t n = 0;
    int asked;
    while ((asked = fst_ask(search, seconds, &run)) == 1) {
        assert_true(run.setting < fst_search_size(search));
        assert_int_equal(fst_tell(search, &run, value_of(run.values) * exp(gsl_ran_gaussian(rng, cv)), 0.1),
                         0);
        seconds += 0.1;
        n++;
    }
    assert_int_equal(asked, 0);
    return n;
}

static struct fst_search *begun(const struct fst_options *options)
{
    struct fst_space *space = space_of_three();
    struct fst_search *search = fst_search_new(space, options);
    fst_space_free(space);
    assert_non_null(search);
    gsl_rng_set(rng, 1);
    return search;
}

TEST(the_best_of_a_space_is_found)
{
    struct fst_answer answer;
    struct fst_options options = FST_OPTIONS;
    options.prefer_best = 1;
    struct fst_search *search = begun(&options);
    assert_int_equal(fst_search_size(search), 9 * 6 * 2);
    assert_int_equal(fst_answer(search, &answer), -ENODATA);
    search_to_the_end(search, rate_of, 0.03);
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_close(answer.recommended.values[0], 1 << 17, 0);
    assert_close(answer.recommended.values[1], 8, 0);
    assert_close(answer.recommended.values[2], 1, 0);
    assert_close(answer.recommended.value, 2e9, 1e8);
    assert_true(answer.conclusive && answer.shortfall <= 0.1);
    assert_true(answer.recommended.n_confirming >= 5);
    fst_search_free(search);
}

TEST(what_is_cheaper_and_good_enough_is_recommended)
{
    struct fst_answer answer;
    struct fst_options options = FST_OPTIONS;
    options.price = price_of;
    options.tolerance = 0.25;
    struct fst_search *search = begun(&options);
    search_to_the_end(search, rate_of, 0.03);
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_true(price_of(answer.recommended.values, NULL) < price_of(answer.best.values, NULL));
    assert_true(rate_of(answer.recommended.values) > 0.72 * 2e9);
    fst_search_free(search);
}

static double time_of(const double *values)
{
    return 1e9 / rate_of(values);
}

static double loss_of(const double *values)
{
    return -log(rate_of(values));
}

/* The same surface, looked at the other way round. */
TEST(times_are_the_better_the_lower_they_are)
{
    struct fst_answer answer;
    struct fst_options options = FST_OPTIONS;
    options.prefer_best = 1;
    options.scale = FST_LOWER;
    struct fst_search *search = begun(&options);
    search_to_the_end(search, time_of, 0.03);
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_close(answer.recommended.values[0], 1 << 17, 0);
    assert_close(answer.recommended.value, 0.5, 0.05);
    fst_search_free(search);
}

/* Noise is multiplied to the loss, which is some -21: a small part of it is as large as the hill is high. */
TEST(losses_may_be_negative_on_a_linear_scale)
{
    struct fst_answer answer;
    struct fst_options options = FST_OPTIONS;
    options.prefer_best = 1;
    options.scale = FST_LOWER_LINEAR;
    struct fst_search *search = begun(&options);
    search_to_the_end(search, loss_of, 0.001);
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_close(answer.recommended.values[0], 1 << 17, 0);
    assert_close(answer.recommended.value, -log(2e9), 0.05);
    fst_search_free(search);
}

static int forbids_deep_small(const double *values, void *context)
{
    *(size_t *)context += 1;
    return values[1] > 4 && values[0] < 65536;
}

TEST(what_is_forbidden_is_not_asked_for)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_space *space = space_of_three();
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
        assert_int_equal(fst_tell(search, &run, rate_of(run.values), 0.1), 0);
    }
    fst_search_free(search);
}

TEST(a_baseline_is_measured_first_and_after_the_choice)
{
    static const double baseline[] = {4096, 1, 0}, nowhere[] = {4097, 1, 0};
    struct fst_options options = FST_OPTIONS;
    struct fst_run run;
    options.baseline = baseline;
    struct fst_search *search = begun(&options);
    assert_int_equal(fst_ask(search, 0, &run), 1);
    assert_memory_equal(run.values, baseline, sizeof baseline);
    fst_search_free(search);
    struct fst_space *space = space_of_three();
    options.baseline = nowhere;
    assert_null(fst_search_new(space, &options));
    assert_int_equal(errno, EINVAL);
    fst_space_free(space);
}

TEST(a_setting_that_fails_is_not_asked_for_again)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_search *search = begun(&options);
    struct fst_run run;
    size_t n_failed = 0;
    double seconds = 0;
    while (fst_ask(search, (seconds += 0.1), &run) == 1) {
        bool fails = run.values[2] > 0;
        n_failed += fails;
        if (fails)
            assert_int_equal(fst_fail(search, &run, 0.1), 0);
        else
            assert_int_equal(fst_tell(search, &run, rate_of(run.values), 0.1), 0);
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
    struct fst_search *search = begun(&options);
    struct fst_run run;
    struct fst_answer answer;
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(fst_ask(search, 0.1 * (double)i, &run), 1);
        assert_int_equal(fst_tell(search, &run, rate_of(run.values), 0.1), 0);
    }
    assert_int_equal(fst_stop(search), 0);
    assert_int_equal(fst_ask(search, 4, &run), 0);
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_false(answer.conclusive);
    fst_search_free(search);
}

TEST(what_makes_no_sense_is_refused)
{
    static const double falling[] = {2, 1}, single[] = {1};
    struct fst_options options = FST_OPTIONS,
                       wrong[6] = {options, options, options, options, options, options};
    struct fst_space *space = fst_space_new();
    struct fst_run run;
    assert_null(fst_search_new(space, &options));
    assert_int_equal(fst_space_add_sizes(space, "block", 4096, 5000), -EINVAL);
    assert_int_equal(fst_space_add_sizes(space, "block", 8192, 4096), -EINVAL);
    assert_int_equal(fst_space_add_levels(space, "depth", falling, 2), -EINVAL);
    assert_int_equal(fst_space_add_levels(space, "depth", single, 1), -EINVAL);
    assert_int_equal(fst_space_add_choices(space, "api", 1), -EINVAL);
    assert_int_equal(fst_space_add_choices(space, NULL, 2), -EINVAL);
    for (size_t i = 0; i < FST_MAX_FACTORS; i++)
        assert_int_equal(fst_space_add_choices(space, "api", 8), 0);
    assert_int_equal(fst_space_add_choices(space, "api", 2), -EINVAL);
    assert_null(fst_search_new(space, &options));
    assert_int_equal(errno, E2BIG);
    fst_space_free(space);
    wrong[0].tolerance = 0;
    wrong[1].tolerance = 1;
    wrong[2].confidence = 1;
    wrong[3].budget = INFINITY;
    wrong[4].run_cost = 0;
    wrong[5].scale = (enum fst_scale)17;
    space = space_of_three();
    for (size_t i = 0; i < 6; i++)
        assert_null(fst_search_new(space, &wrong[i]));
    fst_space_free(space);
    struct fst_search *search = begun(&options);
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
