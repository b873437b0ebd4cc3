/* Tests of models/online/online: what is chosen, and what trials cost. */
#include "tests/models/online/online_rig.h"

TEST(each_kind_gets_its_own_setting_and_at_once_when_it_returns)
{
    begin(0.03, false);
    set_rates(1.5, 0.5, 0.5, 2);
    run(READS, 20000);
    assert_close(running(), 1, 0);
    run(WRITES, 20000);
    assert_close(running(), 2, 0);
    run(READS, 2);
    assert_close(running(), 1, 0);
    run(WRITES, 2);
    assert_close(running(), 2, 0);
    assert_close(load.online.mind[READS].gain, 1.5, 0.1);
}

TEST(nothing_changes_where_nothing_is_faster)
{
    begin(0.03, false);
    set_rates(1, 0.9, 1, 1);
    run(READS, 20000);
    assert_true(load.online.mind[READS].is_settled);
    assert_close(running(), 0, 0);
}

TEST(trials_cost_no_more_than_they_may)
{
    begin(0.03, false);
    set_rates(0.01, 0.02, 1, 1);
    for (size_t i = 0; i < 200; i++) {
        run(READS, 50);
        assert_true(load.online.regret_bytes <= 0.03 * load.online.served_bytes);
    }
    assert_true(load.online.regret_bytes > 0);
    assert_close(running(), 0, 0);
}

TEST(a_slow_drift_of_all_rates_chooses_nothing)
{
    begin(0.03, false);
    set_rates(1, 1, 1, 1);
    load.drift = 0.001;
    run(READS, 3000);
    assert_close(running(), 0, 0);
}

TEST(a_dry_run_and_a_freeze_try_nothing)
{
    begin(0.03, true);
    set_rates(2, 2, 2, 2);
    run(READS, 1000);
    assert_int_equal(load.n_run[1] + load.n_run[2], 0);
    assert_int_equal(load.online.mind[READS].n_slices, 999);
    online_done(&load.online);
    begin(0.03, false);
    online_freeze(&load.online);
    run(READS, 1000);
    assert_int_equal(load.n_run[1] + load.n_run[2], 0);
}

TEST(a_setting_that_cannot_be_taken_is_not_tried_and_not_run)
{
    begin(0.03, false);
    load.forbidden = true;
    set_rates(1.2, 3, 1, 1);
    run(READS, 20000);
    assert_int_equal(load.n_run[2], 0);
    assert_close(running(), 1, 0);
}

TEST(a_trial_ends_when_its_setting_cannot_be_taken_any_more)
{
    begin(0.5, false);
    set_rates(1, 2, 1, 1);
    for (size_t i = 0; i < 2000 && load.online.tried.values[0] < 2; i++)
        run(READS, 1);
    load.online.step = ONLINE_TRYING;
    load.forbidden = true;
    struct online_slice late = {.kind = READS, .n_bytes = 1 << 20, .seconds = SLICE, .is_whole = true};
    assert_close(load.online.tried.values[0], 2, 0);
    assert_true(online_next(&load.online, &late).values[0] < 2);
}

TEST(what_is_remembered_runs_at_once_and_is_given_up_when_it_is_slower_by_now)
{
    begin(0.03, false);
    set_rates(1.5, 1, 1, 1);
    struct online_setting best = {{1}};
    online_remember(&load.online, READS, &best, 1.5);
    run(READS, 2);
    assert_close(running(), 1, 0);
    run(READS, 5000);
    assert_close(running(), 1, 0);
    set_rates(0.5, 1, 1, 1);
    run(READS, 5000);
    assert_close(running(), 0, 0);
}

TEST(slices_whose_writes_are_not_flushed_begin_no_trial)
{
    begin(0.03, false);
    for (size_t i = 0; i < 1000; i++) {
        struct online_slice slice = {.kind = WRITES, .n_bytes = 1 << 20, .seconds = SLICE};
        assert_close(online_next(&load.online, &slice).values[0], 0, 0);
    }
    assert_int_equal(load.online.n_trials, 0);
}

TEST(a_pin_runs_whatever_the_load)
{
    struct online_setting pinned = {{2}};
    begin(0.03, false);
    set_rates(1, 0.1, 1, 0.1);
    online_pin(&load.online, &pinned);
    run(READS, 100);
    run(WRITES, 100);
    assert_int_equal(load.n_run[2], 200);
    online_pin(&load.online, NULL);
    assert_close(running(), 0, 0);
}

TEST(a_tried_slice_that_goes_badly_ends_early)
{
    begin(0.03, false);
    load.online.step = ONLINE_TRYING;
    load.online.before_bps = 1e6;
    load.online.before_seconds = 0.5;
    assert_true(online_should_end(&load.online, 16, 10000, 0.1));
    assert_false(online_should_end(&load.online, 15, 10000, 0.1));
    assert_true(online_should_end(&load.online, 1, 10000, 0.6));
    assert_false(online_should_end(&load.online, 16, 600000, 1));
}

TEST(what_is_forgotten_while_it_is_thought_about_stays_forgotten)
{
    struct online_thought thought;
    struct online_slice slice = {.kind = READS, .n_bytes = 1 << 20, .seconds = SLICE, .is_whole = true};
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    for (size_t i = 0; i < 3; i++)
        online_next(&load.online, &slice);
    assert_true(online_thought_take(&load.online, &thought));
    assert_false(online_thought_take(&load.online, &thought));
    online_forget(&load.online);
    online_think(&thought);
    assert_false(online_thought_give(&load.online, &thought));
    assert_null(load.online.mind[READS].search);
    assert_false(load.online.mind[READS].has_run);
}

/* Four trials, where nobody times requests. */
TEST(a_comparison_without_latencies_is_short)
{
    struct online_setting best = {{1}};
    begin(0.5, false);
    load.online.options.is_timed = false;
    set_rates(2, 1, 1, 1);
    online_remember(&load.online, READS, &best, 2);
    run(READS, 150);
    assert_in_range(load.online.n_trials, 4, 6);
    assert_true(load.online.mind[READS].next_check > 200);
}

/* What is remembered of a machine with less memory, say. */
TEST(a_best_that_cannot_be_used_now_is_not_compared)
{
    struct online_setting best = {{2}};
    begin(0.5, false);
    set_rates(1, 2, 1, 1);
    load.forbidden = true;
    online_remember(&load.online, READS, &best, 2);
    run(READS, 500);
    assert_int_equal(load.online.n_trials, 0);
    assert_close(load.online.mind[READS].gain, 2, 0);
}

/* Reads and writes take turns, of some 6 seconds each, and something is always tried. Returns how many trials
 * were dropped. */
static uint64_t take_turns(size_t n, double jitter)
{
    uint64_t before = load.online.n_dropped;
    for (size_t i = 0; i < n; i++) {
        unsigned kind = i % 2 == 0 ? READS : WRITES;
        load.online.mind[kind].is_settled = false;
        run(kind, (size_t)(120 * exp(jitter / NOISE * noise())));
    }
    return load.online.n_dropped - before;
}

TEST(nothing_is_tried_where_the_next_phase_is_foreseen)
{
    struct phases_forecast next;
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    uint64_t n_unforeseen = take_turns(16, 0.02);
    assert_true(phases_foresee(&load.online.phases, &next));
    uint64_t n_trials = load.online.n_trials, n_foreseen = take_turns(100, 0.02);
    assert_true(n_unforeseen >= 5);
    assert_true(n_foreseen <= 5);
    assert_true(load.online.n_trials > n_trials + 100 * 20);
    online_forget(&load.online);
    assert_false(phases_foresee(&load.online.phases, &next));
}

TEST(phases_of_any_length_end_in_the_midst_of_trials)
{
    struct phases_forecast next;
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    take_turns(16, 0.7);
    assert_true(take_turns(100, 0.7) >= 30);
    assert_false(phases_foresee(&load.online.phases, &next));
}

/* A tenth of a minute's work is lost by two changes as long as the last one. */
TEST(a_trial_waits_until_its_changes_can_be_paid)
{
    begin(0.05, false);
    set_rates(2, 3, 1, 1);
    run(READS, 15);
    struct online_slice slice = {
        .n_bytes = (uint64_t)(1e9 * SLICE), .seconds = SLICE, .switch_seconds = 3, .is_whole = true};
    online_next(&load.online, &slice);
    run(READS, 200);
    assert_int_equal(load.online.n_trials, 0);
    run(READS, 3000);
    assert_true(load.online.n_trials > 0);
}

/* A trial that stood for a second lost twenty slices: the next one waits until as much can be paid again. */
TEST(after_a_trial_that_stalled_the_next_ones_wait_longer)
{
    begin(0.1, false);
    set_rates(1, 1, 1, 1);
    while (load.online.step != ONLINE_TRYING ||
           online_is_same(&load.online.tried, &load.online.options.first))
        run(READS, 1);
    struct online_slice slice = slice_of(READS, load.online.tried, 1e9);
    slice.n_bytes = 1;
    slice.seconds = 20 * SLICE;
    online_next(&load.online, &slice);
    uint64_t n_trials = load.online.n_trials;
    run(READS, 300);
    assert_in_range(load.online.n_trials - n_trials, 0, 2);
    run(READS, 3000);
    assert_true(load.online.n_trials > n_trials + 50);
    assert_true(load.online.regret_bytes < 0.1 * load.online.served_bytes);
}

/* At 3 % it takes 34 slices. */
TEST(what_is_served_of_one_kind_pays_for_no_trial_of_another)
{
    begin(0.03, false);
    set_rates(1, 1, 1, 1);
    run(WRITES, 2000);
    uint64_t n_trials = load.online.n_trials + load.online.n_dropped;
    assert_true(n_trials > 0);
    run(READS, 30);
    assert_int_equal(load.online.n_trials + load.online.n_dropped, n_trials);
    assert_int_equal(load.online.step, ONLINE_IDLE);
    run(READS, 20);
    assert_true(load.online.n_trials > n_trials);
}

/* Bad trials one after another would be a phase of its own for who waits. */
TEST(one_trial_is_saved_up_at_most)
{
    begin(0.03, false);
    set_rates(0.6, 0.6, 1, 1);
    online_freeze(&load.online);
    run(READS, 3000);
    online_thaw(&load.online);
    double bytes = load.online.served_bytes;
    run(READS, 20);
    assert_true(load.online.n_trials > 0);
    assert_true(load.online.regret_bytes <= 0.03 * (load.online.served_bytes - bytes) + 1e9 * SLICE);
}

/* Every 16th slice is as slow as where something is committed: it neither takes what was saved up nor is what
 * trials wait for. */
TEST(a_slow_slice_now_and_then_keeps_no_trial_away)
{
    begin(0.03, false);
    set_rates(1, 1, 1, 1);
    struct online_setting next = online_running(&load.online);
    for (size_t i = 0; i < 2000; i++) {
        struct online_slice slice = slice_of(READS, next, i % 16 == 0 ? 4e8 : 1e9);
        next = online_next(&load.online, &slice);
        think();
    }
    assert_true(load.online.n_trials > 20);
    assert_true(load.online.n_dropped < load.online.n_trials);
}

/* The next kind has no part in it, at every change. */
TEST(a_trial_is_paid_for_by_its_own_kind)
{
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    load.n_slow[1] = load.n_slow[2] = 30;
    run(READS, 400);
    assert_true(load.online.mind[READS].credit.worst_slow_share > 0);
    memset(load.n_slow, 0, sizeof load.n_slow);
    run(WRITES, 10);
    assert_close(load.online.mind[WRITES].credit.worst_slow_share, 0, 0);
    assert_close(load.online.mind[WRITES].credit.worst_slices, 0, 0.3);
}

/* In the midst of a trial at 1 GB/s. Returns its setting. */
static struct online_setting begin_trial(enum online_step step)
{
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    run(READS, 30);
    load.online.step = step;
    load.online.tried = (struct online_setting){{1}};
    load.online.tried_kind = READS;
    load.online.is_other_tried = true;
    load.online.before_bps = 1e9;
    return load.online.tried;
}

/* Until it is safe to change the way, the tried setting goes on, and so does what it costs. */
TEST(a_tried_setting_that_goes_on_is_paid_for)
{
    struct online_setting tried = begin_trial(ONLINE_AFTER);
    double bytes = load.online.regret_bytes;
    struct online_slice slice = slice_of(READS, tried, 5e8);
    online_next(&load.online, &slice);
    assert_close(load.online.regret_bytes - bytes, 5e8 * SLICE, 1e3);
}

TEST(the_way_back_from_a_dropped_trial_is_paid_for)
{
    struct online_setting tried = begin_trial(ONLINE_TRYING);
    struct online_slice other = slice_of(WRITES, tried, 1e9);
    struct online_slice back = slice_of(WRITES, load.online.options.first, 1e9);
    online_next(&load.online, &other);
    double bytes = load.online.regret_bytes;
    back.switch_seconds = 2;
    online_next(&load.online, &back);
    assert_close(load.online.regret_bytes - bytes, 2e9, 1e3);
    online_next(&load.online, &back);
    assert_close(load.online.regret_bytes - bytes, 2e9, 1e3);
}
