/* Tests of models/library/library_ask: several at once, what was not asked for, means, failures, budgets. */
#include "tests/models/library/library_rig.h"

#include <errno.h>

#define MOST_AT_ONCE 8

/* A budget of so many runs. */
static struct fst_options of_runs(double n)
{
    struct fst_options options = FST_OPTIONS;
    options.budget = n;
    options.run_cost = 1;
    return options;
}

TEST(a_budget_of_runs_is_kept)
{
    struct fst_options options = of_runs(150);
    struct fst_search *search = rig_search(&options);
    struct fst_run run;
    size_t n = 0;
    assert_close(fst_to_go(search), 150, 0);
    for (; fst_ask(search, FST_USED_COSTS, &run) == 1; n++) {
        assert_true(fst_to_go(search) <= 150 - (double)n);
        assert_int_equal(fst_tell(search, &run, rig_rate(run.values) * rig_noise(0.03), 1), 0);
    }
    assert_in_range(n, 60, 150);
    assert_close(fst_to_go(search), 0, 0);
    fst_search_free(search);
}

/* Asks for as many as there are, up to `most`; each of another setting. */
static size_t ask_several(struct fst_search *search, size_t most, struct fst_run *runs, int *ret_asked)
{
    size_t n = 0;
    while (n < most && (*ret_asked = fst_ask(search, FST_USED_COSTS, &runs[n])) == 1) {
        for (size_t i = 0; i < n; i++)
            assert_true(runs[i].setting != runs[n].setting);
        n++;
    }
    assert_int_equal(fst_outstanding(search), n);
    return n;
}

TEST(several_are_asked_for_at_once_and_told_in_any_order)
{
    struct fst_options options = of_runs(300);
    struct fst_run runs[MOST_AT_ONCE];
    struct fst_answer answer;
    options.prefer_best = 1;
    struct fst_search *search = rig_search(&options);
    size_t n_rounds = 0, n_runs = 0, n;
    int asked = 1;
    while ((n = ask_several(search, MOST_AT_ONCE, runs, &asked)) > 0) {
        n_rounds++;
        n_runs += n;
        while (n-- > 0)
            assert_int_equal(fst_tell(search, &runs[n], rig_rate(runs[n].values) * rig_noise(0.03), 1), 0);
    }
    assert_int_equal(asked, 0);
    assert_true(n_runs > 3 * n_rounds);
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_close(rig_rate(answer.recommended.values), 2e9, 0.1e9);
    assert_true(answer.recommended.n_confirming >= 5);
    fst_search_free(search);
}

/* The settings of a block are handed out repeatedly, and each of them is told. */
TEST(with_growth_many_are_asked_for_at_once)
{
    struct fst_options options = of_runs(300);
    struct fst_run runs[300];
    struct fst_answer answer;
    options.prefer_best = 1;
    options.growth = 0.5;
    struct fst_search *search = rig_search(&options);
    size_t n_rounds = 0, n_most = 0, n_told = 0, n = 1;
    int asked;
    while (n > 0) {
        for (n = 0; n < 300 && (asked = fst_ask(search, FST_USED_COSTS, &runs[n])) == 1;)
            n++;
        n_rounds++;
        n_most = n > n_most ? n : n_most;
        n_told += n;
        for (size_t left = n; left-- > 0;)
            assert_int_equal(fst_tell(search, &runs[left], rig_rate(runs[left].values) * rig_noise(0.03), 1),
                             0);
    }
    assert_int_equal(asked, 0);
    assert_true(n_most > 2 * MOST_AT_ONCE);
    assert_true(n_rounds < 60);
    assert_in_range(n_told, 100, 300);
    assert_int_equal(fst_outstanding(search), 0);
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_close(rig_rate(answer.recommended.values), 2e9, 0.1e9);
    assert_true(answer.recommended.n_confirming >= 5);
    fst_search_free(search);
}

TEST(nothing_more_is_decided_before_what_is_outstanding_was_told)
{
    struct fst_options options = of_runs(300);
    struct fst_run runs[64], run;
    struct fst_search *search = rig_search(&options);
    int asked = 1;
    size_t n = ask_several(search, 64, runs, &asked);
    assert_int_equal(asked, -EAGAIN);
    for (size_t i = 0; i + 1 < n; i++) {
        assert_int_equal(fst_tell(search, &runs[i], rig_rate(runs[i].values), 1), 0);
        assert_int_equal(fst_ask(search, FST_USED_COSTS, &run), -EAGAIN);
    }
    assert_int_equal(fst_withdraw(search, &runs[n - 1]), 0);
    assert_int_equal(fst_withdraw(search, &runs[n - 1]), -ENOENT);
    assert_int_equal(fst_ask(search, FST_USED_COSTS, &run), 1);
    assert_int_equal(fst_stop(search), 0);
    assert_int_equal(fst_ask(search, FST_USED_COSTS, &run), 0);
    fst_search_free(search);
}

/* Half of the space, never asked for, is told: the search has no reason to ask for it. */
TEST(what_was_not_asked_for_is_known)
{
    struct fst_options options = of_runs(300);
    struct fst_search *search = rig_search(&options);
    struct fst_estimate estimate;
    struct fst_run run;
    const double values[] = {1 << 17, 8, 1}, nowhere[] = {1, 8, 1};
    assert_int_equal(fst_find(search, nowhere, &run), -ENOENT);
    assert_int_equal(fst_find(search, values, &run), 0);
    assert_memory_equal(run.values, values, sizeof values);
    assert_int_equal(fst_look(search, run.setting, &estimate), -ENODATA);
    assert_int_equal(fst_best_so_far(search, &estimate), -ENODATA);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(fst_tell(search, &run, 2e9 * rig_noise(0.01), 1), 0);
    assert_int_equal(fst_outstanding(search), 0);
    assert_int_equal(fst_best_so_far(search, &estimate), 0);
    assert_int_equal(estimate.setting, run.setting);
    assert_int_equal(estimate.n, 4);
    assert_int_equal(estimate.n_confirming, 0);
    assert_close(estimate.value, 2e9, 0.05e9);
    fst_search_free(search);
}

TEST(a_mean_counts_with_its_error_and_number)
{
    struct fst_options options = of_runs(300);
    struct fst_search *search = rig_search(&options);
    struct fst_estimate mean, single, pair;
    struct fst_run run = {.setting = 3};
    struct fst_result result = {.value = 1e9, .cost = 1, .std_error = 1e7, .n = 9};
    assert_int_equal(fst_tell_result(search, &run, &result), 0);
    assert_int_equal(fst_look(search, 3, &mean), 0);
    run.setting = 4;
    result.std_error = 0;
    assert_int_equal(fst_tell_result(search, &run, &result), 0);
    assert_int_equal(fst_look(search, 4, &single), 0);
    run.setting = 5;
    result = (struct fst_result){.value = 1e9, .cost = 1, .std_error = 1e8};
    assert_int_equal(fst_tell_result(search, &run, &result), 0);
    assert_int_equal(fst_look(search, 5, &pair), 0);
    assert_int_equal(mean.n, 9);
    assert_close(mean.value, 1e9, 1e3);
    assert_in_range((uint64_t)mean.std_error, 9000000, 40000000); /* shrunk to the noise assumed at first */
    assert_int_equal(single.n, 1);
    assert_true(single.std_error > 2 * mean.std_error);
    assert_int_equal(pair.n, 2);
    fst_search_free(search);
}

/* 32 measurements outweigh what is assumed. */
TEST(the_error_of_a_mean_of_many_is_kept)
{
    struct fst_options options = of_runs(300);
    options.scale = FST_HIGHER_LINEAR;
    struct fst_search *search = rig_search(&options);
    struct fst_estimate estimate;
    struct fst_run run = {.setting = 3};
    struct fst_result result = {.value = 5, .cost = 1, .std_error = 0.02, .n = 1000};
    assert_int_equal(fst_tell_result(search, &run, &result), 0);
    assert_int_equal(fst_look(search, 3, &estimate), 0);
    assert_int_equal(estimate.n, 32);
    assert_close(estimate.value, 5, 0.004);
    assert_close(estimate.std_error, 0.02, 0.004);
    fst_search_free(search);
}

TEST(a_failed_measurement_costs_and_ends_its_setting)
{
    struct fst_options options = of_runs(20);
    struct fst_search *search = rig_search(&options);
    struct fst_estimate estimate;
    struct fst_run run;
    size_t n = 0;
    for (; fst_ask(search, FST_USED_COSTS, &run) == 1; n++) {
        assert_int_equal(fst_fail(search, &run, 2), 0);
        assert_int_equal(fst_look(search, run.setting, &estimate), -ENODATA);
    }
    assert_in_range(n, 4, 10);
    fst_search_free(search);
}

TEST(what_nobody_could_mean_is_refused)
{
    struct fst_options options = of_runs(20);
    struct fst_search *search = rig_search(&options);
    struct fst_run run = {.setting = 3};
    assert_int_equal(fst_ask(search, 5, &run), 1);
    assert_int_equal(fst_ask(search, 4, &run), -EINVAL);
    assert_int_equal(fst_tell_result(search, &run, &(struct fst_result){.value = 1, .cost = INFINITY}),
                     -EINVAL);
    assert_int_equal(fst_tell_result(search, &run, &(struct fst_result){.value = 1, .std_error = NAN}),
                     -EINVAL);
    assert_int_equal(fst_fail(search, &run, -1), -EINVAL);
    assert_int_equal(fst_look(search, RIG_POINTS, NULL), -EINVAL);
    run.setting = RIG_POINTS;
    assert_int_equal(fst_withdraw(search, &run), -ENOENT);
    fst_search_free(search);
    options.size = 0;
    struct fst_space *space = rig_space();
    assert_null(fst_search_new(space, &options));
    options.size = sizeof options + 8;
    assert_null(fst_search_new(space, &options));
    fst_space_free(space);
}

/* The hill of the first search is that of the second: it is looked at first. */
TEST(an_earlier_search_shows_where_to_look)
{
    struct fst_options options = of_runs(60), other = of_runs(60);
    struct fst_search *earlier = rig_search(&options), *search = rig_search(&options);
    struct fst_run run;
    double best = 0;
    assert_int_equal(fst_learn(search, earlier), -ENODATA);
    rig_to_the_end(earlier, rig_rate, 0.03);
    assert_int_equal(fst_learn(search, earlier), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(fst_ask(search, FST_USED_COSTS, &run), 1);
        best = fmax(best, rig_rate(run.values));
        assert_int_equal(fst_tell(search, &run, rig_rate(run.values), 1), 0);
    }
    assert_close(best, 2e9, 0.02e9);
    assert_int_equal(fst_learn(search, earlier), -EINVAL);
    fst_search_free(search);
    other.scale = FST_LOWER;
    search = rig_search(&other);
    assert_int_equal(fst_learn(search, earlier), -EINVAL);
    fst_search_free(search);
    fst_search_free(earlier);
}
