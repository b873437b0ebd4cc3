/* Tests of models/engine/engine_choose: which of the points that are good enough is the answer. */
#include "tests/models/engine/engine_rig.h"

ENGINES();

/* Every second run is above the response and every second below. */
static void tell_scattered(size_t point, double response, double apart, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tell(point, response + (i % 2 == 0 ? apart : -apart), 1);
}

/* The best has much in flight; a cheap point loses just about the margin; one with `times` as much in flight
 * as that loses nearly nothing, and many runs show it. */
static void know_three(enum engine_phase phase, double times, size_t *ret_cheap, size_t *ret_sure)
{
    struct engine wanted = usual();
    wanted.margin = 0.1;
    begin(wanted, 1);
    size_t best = HILL;
    *ret_cheap = point_of(0, 0, 1);
    *ret_sure = point_of(1, 0, 1);
    engine.points[*ret_sure].in_flight_bytes = times * engine.points[*ret_cheap].in_flight_bytes;
    tell_scattered(best, 21, 0.02, 40);
    tell_scattered(*ret_sure, 20.99, 0.02, 40);
    tell_scattered(*ret_cheap, 20.91, 0.02, 8);
    engine.phase = phase;
    engine_choose(&engine);
    assert_int_equal(engine.best, best);
    assert_int_equal(engine.verdicts[*ret_sure], VERDICT_EQUIVALENT);
    assert_int_equal(engine.verdicts[*ret_cheap], VERDICT_UNDECIDED);
}

TEST(a_little_more_in_flight_is_taken_for_a_proof)
{
    size_t cheap, sure;
    know_three(ENGINE_CHOICE, 4, &cheap, &sure);
    assert_int_equal(engine.chosen, sure);
    know_three(ENGINE_CHOICE, 5, &cheap, &sure);
    assert_int_equal(engine.chosen, cheap);
}

TEST(while_the_race_lasts_the_cheaper_one_may_still_be_proved)
{
    size_t cheap, sure;
    know_three(ENGINE_RACE, 4, &cheap, &sure);
    assert_int_equal(engine.chosen, cheap);
}

/* What is expected to be lost stays; the rest of the bound is halved by four times the time. */
TEST(more_time_shrinks_what_is_not_expected)
{
    engine.tolerance = 0.1;
    engine.shortfall = 0.16;
    engine.expected_shortfall = 0.04;
    assert_close(engine_shortfall_after(&engine, 4), 0.1, 1e-12);
    assert_close(engine_times_to_settle(&engine), 4, 1e-12);
    engine.expected_shortfall = 0.1;
    assert_true(isinf(engine_times_to_settle(&engine)));
    engine.shortfall = 0.09;
    assert_close(engine_times_to_settle(&engine), 1, 1e-12);
    engine.shortfall = NAN;
    assert_true(isnan(engine_times_to_settle(&engine)));
}

/* Bound of a best point of 20 runs before the choice, and of ten after it that lie lower by this. */
static double shortfall_after(double lower)
{
    struct engine wanted = usual();
    wanted.prefers_fastest = true;
    begin(wanted, 1);
    for (size_t i = 0; i < N_POINTS; i++)
        tell_scattered(i, i == 0 ? 20.97 : i == HILL ? 21 : 20, 0.02, 20);
    struct engine_run run = {.point = HILL, .confirming = true};
    for (size_t i = 0; i < 10; i++) {
        double response = 21 - lower + (i % 2 == 0 ? 0.02 : -0.02);
        struct engine_result result = {.response = response, .bps = exp(response), .seconds = 1};
        assert_int_equal(engine_tell(&engine, &run, &result), 0);
    }
    engine_choose(&engine);
    assert_int_equal(engine.chosen, HILL);
    assert_int_equal(engine_judge(&engine), 0);
    return engine.shortfall;
}

/* The runs before the choice count half, so ten lower ones after it are as much as they. */
TEST(the_best_looking_point_is_claimed_by_the_runs_after_the_choice)
{
    double same = shortfall_after(0), lower = shortfall_after(0.04);
    assert_true(same < 0.001);
    assert_in_range(lower * 1e4, 10, 200);
}

/* Two lucky runs make a point look best, but it is not the one that is named so. */
TEST(verdicts_are_told_against_the_best_that_is_named)
{
    size_t lucky = point_of(8, 5, 0);
    (void)shortfall_after(0);
    engine_forget(&engine, lucky);
    tell(lucky, 23, 2);
    assert_int_equal(engine_judge(&engine), 0);
    assert_int_equal(engine.chosen, HILL);
    assert_int_equal(engine.verdicts[HILL], VERDICT_EQUIVALENT);
    assert_int_equal(engine.verdicts[lucky], VERDICT_UNDECIDED);
}

/* Judges a choice with four times as much in flight as another point that looks better by `more` and has n
 * runs; nothing is settled, for points that were never run may be as good. */
static bool caller_chose;

static size_t judged(double more, size_t n, bool chooses_again)
{
    struct engine wanted = usual();
    size_t chosen = point_of(1, 0, 1), other = point_of(0, 0, 1);
    wanted.policy.chooses_again = chooses_again;
    begin(wanted, 1);
    engine.points[chosen].in_flight_bytes = 4 * engine.points[other].in_flight_bytes;
    for (size_t i = 0; i < N_POINTS; i += 3)
        tell_scattered(i, 20 + 0.5 * (double)(i % 2), 0.3, 2);
    tell_scattered(chosen, 21, 0.1, 10);
    engine_choose(&engine);
    engine.best = engine.chosen = chosen;
    engine.keeps_choice = caller_chose;
    tell_scattered(other, 21 + more, 0.1, n);
    assert_int_equal(engine_judge(&engine), 0);
    assert_false(engine.conclusive);
    return engine.chosen == chosen ? 0 : engine.chosen == other ? 1 : 2;
}

/* Where no time is left to choose again. */
TEST(a_cheaper_point_that_looks_no_worse_is_the_answer_of_what_settled_nothing)
{
    assert_int_equal(judged(0.3, 10, true), 1);
    assert_int_equal(judged(-0.3, 10, true), 0);
    assert_int_equal(judged(0.3, 4, true), 0);
    assert_int_equal(judged(0.3, 10, false), 0);
}

TEST(what_the_caller_chose_stays)
{
    caller_chose = true;
    assert_int_equal(judged(0.3, 10, true), 0);
    caller_chose = false;
}

/* A point that was not the best at the choice overtakes it in later runs. */
TEST(the_best_is_named_by_everything_known)
{
    size_t fast = point_of(8, 5, 1);
    begin(usual(), 1);
    engine.keeps_choice = true;
    for (size_t i = 0; i < N_POINTS; i += 3)
        tell_scattered(i, 20, 0.1, 2);
    tell_scattered(HILL, 21, 0.02, 10);
    engine_choose(&engine);
    assert_int_equal(engine.chosen, HILL);
    assert_int_equal(engine.best, HILL);
    tell_scattered(fast, 21.2, 0.02, 20);
    assert_int_equal(engine_judge(&engine), 0);
    assert_int_equal(engine.chosen, HILL);
    assert_int_equal(engine.best, fast);
    assert_false(engine.is_proved);
    assert_close(engine.expected_shortfall, 0.2, 0.05);
}

/* Where a run takes four seconds, most points have none. Returns how many first runs of a point come before
 * the choice. */
static size_t n_first_runs_before_choice(struct engine wanted, unsigned long seed)
{
    struct engine_run run;
    size_t n = 0;
    begin(wanted, seed);
    device.seconds = 4;
    for (;;) {
        int asked = engine_ask(&engine, device.now, &run);
        assert_true(asked >= 0);
        if (asked == ENGINE_DONE)
            return n;
        if (asked != ENGINE_RUN)
            continue;
        n += engine.phase == ENGINE_CHOICE && engine.belief.moments[run.point].n == 0;
        make_run(&run);
    }
}

TEST(a_point_that_is_believed_to_be_better_gets_a_run_before_the_choice)
{
    size_t n = 0, n_nights = 0;
    for (unsigned long seed = 1; seed <= 10; seed++) {
        size_t n_here = n_first_runs_before_choice(usual(), seed);
        assert_true(n_here <= 1);
        n += n_here;
        n_nights += n_first_runs_before_choice(night(), seed);
    }
    assert_true(n > 0);
    assert_int_equal(n_nights, 0);
}
