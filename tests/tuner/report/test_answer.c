/* Tests of tuner/report/answer: the figures that text, tables and pages take from one place. */
#include "tests/tuner/search/tune_rig.h"

SEARCHES(enter);

static void search_all(void)
{
    search("peak.conf --budget 60s --seed 1 --tolerance 10% --request-size 4k,16k,64k,256k");
    answer_prepare(&answer, &tune);
    assert_true(answer.has_rows && answer.has_baseline);
}

TEST(the_share_is_that_of_the_best)
{
    search_all();
    size_t i = rig_other_setting();
    assert_close(answer_share(&tune, tune.engine.best), 1, 1e-12);
    assert_in_range(1e3 * answer_share(&tune, i), 1, 1000);
    tune.engine.best = ENGINE_NONE;
    assert_true(isnan(answer_share(&tune, i)));
}

TEST(what_lies_below_the_tolerance_is_not_rounded_up_to_it)
{
    search_all();
    size_t i = rig_other_setting();
    double *mean = tune.engine.belief.mean, best = answer_worth(&tune, tune.engine.best);
    static const double shares[][2] = {{0.896, 89}, {0.901, 90}, {0.906, 91}, {0.886, 89}, {0.996, 100}};
    for (size_t k = 0; k < N_OF(shares); k++) {
        mean[i] = best + log(shares[k][0]);
        assert_close(answer_percent(&tune, i), shares[k][1], 1e-9);
    }
    settings.search.tolerance_share = 0.18;
    mean[i] = best + log(0.816);
    assert_close(answer_percent(&tune, i), 81, 1e-9);
}

/* The reader divides the rates of two rows, and finds the share. */
TEST(a_share_is_that_of_the_rates_beside_it)
{
    search_all();
    size_t i = tune.engine.baseline;
    struct row row, best;
    assert_true(answer_is_fresh(&tune, i));
    assert_int_equal(answer_row(&answer, i, &row), 0);
    assert_int_equal(answer_row(&answer, tune.engine.best, &best), 0);
    assert_close(answer_share(&tune, i), row.mean_bps / best.mean_bps, 1e-9);
    assert_close(row.mean_bps, answer.baseline.mean_bps, 1e-9);
}

TEST(no_share_is_above_one_where_the_chosen_outdoes_the_best)
{
    search_all();
    assert_false(answer_best_is_slower(&tune));
    tune.engine.best = tune.engine.baseline;
    answer_prepare(&answer, &tune);
    assert_true(answer.chosen.mean_bps > 1.1 * answer.best.mean_bps);
    assert_close(answer_share(&tune, tune.engine.chosen), 1, 1e-12);
    assert_close(answer_share(&tune, tune.engine.best), answer.best.mean_bps / answer.chosen.mean_bps, 1e-9);
    assert_true(answer_best_is_slower(&tune));
    record_age(&tune.records[tune.engine.chosen]);
    assert_false(answer_best_is_slower(&tune));
}

/* Without enough replays after the choice there is nothing but what is believed. */
TEST(without_such_replays_the_share_is_believed)
{
    search_all();
    size_t i = tune.engine.baseline;
    record_age(&tune.records[i]);
    assert_false(answer_is_fresh(&tune, i));
    assert_close(answer_share(&tune, i),
                 exp(tune.engine.belief.mean[i] - tune.engine.belief.mean[tune.engine.best]), 1e-12);
}

TEST(a_rate_of_another_time_is_told_where_the_rate_changed)
{
    search_all();
    size_t i = rig_other_setting();
    struct row row;
    assert_int_equal(answer_row(&answer, i, &row), 0);
    row.mean_bps *= 2;
    assert_false(answer_is_of_another_time(&answer, i, &row));
    notes_add(&session->warnings, "rate_changed", "the rate changed");
    assert_true(answer_is_of_another_time(&answer, i, &row));
    row.mean_bps =
        answer.chosen.mean_bps * exp(answer_worth(&tune, i) - answer_worth(&tune, tune.engine.chosen)) * 1.02;
    assert_false(answer_is_of_another_time(&answer, i, &row));
}

/* A gain is of the same replays as the rates that stand beside it. */
TEST(where_the_choice_has_too_few_replays_all_figures_count_all)
{
    search_all();
    size_t baseline = tune.engine.baseline;
    assert_int_equal(answer.baseline.replays, record_count(&tune.records[baseline], true));
    record_age(&tune.records[tune.engine.chosen]);
    answer_prepare(&answer, &tune);
    assert_int_equal(answer.baseline.replays, tune.records[baseline].n);
    assert_true(record_count(&tune.records[baseline], true) < tune.records[baseline].n);
    assert_false(answer_is_fresh(&tune, baseline));
    check_part(find_note(&session->warnings, "not_confirmed")->text,
               "0 replays were made after the choice, fewer than 5:");
}
