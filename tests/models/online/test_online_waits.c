/* Tests of models/online/online: settings that make requests wait. */
#include "tests/models/online/online_rig.h"

TEST(a_setting_that_is_faster_and_makes_requests_wait_is_not_taken)
{
    begin(0.03, false);
    set_rates(2, 0.5, 1, 1);
    load.n_slow[1] = 5;
    run(READS, 20000);
    assert_true(load.online.mind[READS].is_settled);
    assert_close(running(), 0, 0);
    assert_true(load.online.n_refused > 0);
}

/* As with a queue: what the tried setting delays ends after its slice. */
static void run_with_late(size_t n, unsigned n_late)
{
    struct online_setting next = online_running(&load.online);
    bool was_tried = false;
    for (size_t i = 0; i < n; i++) {
        struct online_slice slice = slice_of(READS, next, 1e9 * load.rate[0][(unsigned)next.values[0]]);
        if (was_tried)
            latencies_add(&slice.late_tried, 100 * MS, n_late);
        was_tried = next.values[0] > 0 && !online_is_same(&next, &load.online.mind[READS].best);
        slice.n_tried_under_way = was_tried ? n_late : 0;
        next = online_next(&load.online, &slice);
        think();
    }
}

TEST(what_a_setting_delays_beyond_its_slice_refuses_it)
{
    begin(0.03, false);
    set_rates(2, 0.5, 1, 1);
    run_with_late(20000, 4);
    assert_true(load.online.mind[READS].is_settled);
    assert_close(running(), 0, 0);
    assert_true(load.online.n_refused > 0);
}

TEST(a_trial_is_judged_when_its_requests_are_over)
{
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    while (load.online.step != ONLINE_AFTER)
        run(READS, 1);
    uint64_t n_trials = load.online.n_trials;
    struct online_slice slice = slice_of(READS, load.online.options.first, 1e9);
    slice.n_tried_under_way = 1;
    online_next(&load.online, &slice);
    assert_int_equal(load.online.n_trials, n_trials);
    slice.n_tried_under_way = 0;
    online_next(&load.online, &slice);
    assert_int_equal(load.online.n_trials, n_trials + 1);
}

TEST(the_next_best_that_makes_nobody_wait_is_taken)
{
    begin(0.03, false);
    set_rates(1.3, 2, 1, 1);
    load.n_slow[2] = 10;
    run(READS, 20000);
    assert_close(running(), 1, 0);
    assert_true(load.online.n_refused > 0);
}

TEST(waits_that_all_settings_have_refuse_none)
{
    begin(0.03, false);
    set_rates(1.5, 0.5, 1, 1);
    for (size_t i = 0; i < 3; i++)
        load.n_slow[i] = 5;
    run(READS, 20000);
    assert_close(running(), 1, 0);
    assert_int_equal(load.online.n_refused, 0);
}

TEST(a_setting_that_makes_requests_wait_by_now_is_given_up_and_not_tried_again)
{
    begin(0.03, false);
    set_rates(1.5, 0.5, 1, 1);
    run(READS, 3000);
    assert_close(running(), 1, 0);
    load.n_slow[1] = 3;
    run(READS, 1000);
    assert_close(running(), 0, 0);
    assert_true(load.online.n_refused >= 1);
    load.watched = load.online.mind[READS].slow;
    run(READS, 3000);
    assert_int_equal(load.n_watched, 0);
}

TEST(a_best_that_makes_many_requests_wait_is_given_up_at_once)
{
    begin(0.03, false);
    set_rates(1.5, 0.5, 1, 1);
    run(READS, 3000);
    for (int i = 0; i < 100 && load.online.mind[READS].n_slices + 100 > load.online.mind[READS].next_check;
         i++)
        run(READS, 50);
    assert_close(running(), 1, 0);
    load.n_slow[1] = 50;
    run(READS, 20);
    assert_close(running(), 0, 0);
}

TEST(what_is_remembered_and_makes_requests_wait_is_given_up)
{
    struct online_setting best = {{1}};
    begin(0.03, false);
    set_rates(1.5, 0.5, 1, 1);
    load.n_slow[1] = 5;
    online_remember(&load.online, READS, &best, 1.5);
    run(READS, 1000);
    assert_close(running(), 0, 0);
    online_forget(&load.online);
    assert_false(load.online.mind[READS].has_slow);
}

TEST(a_trial_ends_early_when_an_eighth_of_its_requests_are_slow)
{
    struct latency_counts latencies = {0};
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    assert_true(online_slow_ns(&load.online) == UINT64_MAX);
    run(READS, 30);
    load.online.step = ONLINE_TRYING;
    load.online.is_check = false;
    assert_in_range(online_slow_ns(&load.online), MS * 103 / 100, MS * 11 / 10);
    latencies_add(&latencies, 3 * MS, 7);
    latencies_add(&latencies, MS, 9);
    assert_false(online_waits_too_long(&load.online, &latencies));
    latencies_add(&latencies, 3 * MS, 1);
    assert_true(online_waits_too_long(&load.online, &latencies));
    load.online.step = ONLINE_IDLE;
    assert_false(online_waits_too_long(&load.online, &latencies));
}

TEST(a_trial_that_ends_for_its_waits_proves_no_gain)
{
    begin(0.5, false);
    load.n_slow[1] = load.n_slow[2] = 13;
    run(READS, 10);
    const struct online_mind *mind = &load.online.mind[READS];
    unsigned n_slow = 0;
    for (size_t trial = 0; trial < 8; trial++) {
        struct online_setting next = online_running(&load.online);
        for (size_t i = 0; i < 200 && !mind->is_due; i++) {
            struct online_slice slice = slice_of(READS, next, next.values[0] > 0 ? 2e9 : 1e9);
            next = online_next(&load.online, &slice);
        }
        assert_true(mind->is_due);
        assert_close(mind->thought.value, 1, 1e-6);
        n_slow += load.online.tried.values[0] > 0;
        think();
    }
    assert_true(n_slow > 0);
}

TEST(nothing_is_tried_before_the_usual_latencies_are_known)
{
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    run(READS, 2);
    assert_int_equal(load.n_run[0], 2);
    assert_int_equal(load.online.mind[READS].usual.total[LATENCY_MOVES], 100);
    run(READS, 1);
    assert_int_equal(load.online.step, ONLINE_IDLE);
    run(READS, 20);
    assert_true(load.online.n_trials > 0);
}

/* Five of 100 requests of a tried slice are slow, of which one in 400 of all may be: as many as 20 slices
 * have. */
TEST(trials_make_few_of_all_requests_slow)
{
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    load.n_slow[1] = load.n_slow[2] = 5;
    for (uint64_t n = 50; n <= 3000; n += 50) {
        run(READS, 50);
        assert_true(20 * (load.n_run[1] + load.n_run[2]) <= n + 20);
    }
    assert_true(load.n_run[1] + load.n_run[2] >= 8);
}
