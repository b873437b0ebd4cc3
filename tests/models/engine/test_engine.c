/* Tests of models/engine/engine: searches from the first ask to the answer. */
#include "tests/models/engine/engine_rig.h"

ENGINES();

TEST(the_best_of_a_hill_is_found_and_proved)
{
    for (unsigned long seed = 1; seed <= TRIALS(16); seed++) {
        begin(usual(), seed);
        run_until(ENGINE_END);
        assert_int_equal(engine.chosen, HILL);
        assert_true(engine.conclusive && engine.shortfall <= 0.03 && engine.probability >= 0.95);
        assert_int_equal(engine.stop, ENGINE_STOP_SEPARATED);
        assert_true(device.now <= 60);
        assert_true(engine.points[HILL].confirming.n >= ENGINE_CONFIRMING_LEAST);
        assert_true(engine.points[0].confirming.n >= ENGINE_CONFIRMING_LEAST);
    }
}

TEST(equal_seeds_make_equal_searches)
{
    size_t n_runs[2];
    double shortfall[2];
    for (size_t i = 0; i < 2; i++) {
        begin(usual(), 7);
        run_until(ENGINE_END);
        n_runs[i] = device.n_runs;
        shortfall[i] = engine.shortfall;
    }
    assert_int_equal(n_runs[0], n_runs[1]);
    assert_true(shortfall[0] == shortfall[1]);
}

/* Within half the tolerance of the best, the one with the least in flight is looked at first. */
TEST(of_known_points_that_are_nearly_the_best_the_cheapest_comes_first)
{
    double mean[N_POINTS];
    size_t first;
    struct engine wanted = usual();
    wanted.tolerance = 0.3;
    begin(wanted, 1);
    for (size_t i = 0; i < N_POINTS; i++)
        mean[i] = hill(i);
    assert_int_equal(belief_prior_add(&engine.belief, mean), 0);
    assert_int_equal(engine_known_points(&engine, &first, 1), 1);
    assert_true(hill(first) >= hill(HILL) - 0.15);
    for (size_t i = 0; i < N_POINTS; i++)
        assert_true(hill(i) < hill(HILL) - 0.15 ||
                    engine.points[i].in_flight_bytes >= engine.points[first].in_flight_bytes);
    assert_true(engine.points[first].in_flight_bytes < engine.points[HILL].in_flight_bytes);
}

TEST(known_points_are_the_best_without_a_run)
{
    double mean[N_POINTS];
    size_t known[N_POINTS], next[N_POINTS];
    begin(usual(), 1);
    for (size_t i = 0; i < N_POINTS; i++)
        mean[i] = hill(i);
    assert_int_equal(belief_prior_add(&engine.belief, mean), 0);
    size_t n = engine_known_points(&engine, known, N_POINTS);
    assert_true(n >= 2 && known[0] == HILL);
    for (size_t i = 0; i < n; i++) {
        const struct engine_run run = {.point = known[i]};
        const struct engine_result result = told_of(&run);
        assert_int_equal(engine_tell(&engine, &run, &result), 0);
    }
    assert_int_equal(engine_known_points(&engine, next, N_POINTS), n);
    assert_true(hill(next[0]) <= hill(known[n - 1]));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(engine.belief.moments[next[i]].n, 0);
}

TEST(a_tolerance_buys_what_is_cheaper)
{
    struct engine wanted = usual();
    wanted.margin = wanted.tolerance = 0.3;
    begin(wanted, 1);
    run_until(ENGINE_END);
    assert_true(engine.points[engine.chosen].in_flight_bytes < engine.points[HILL].in_flight_bytes);
    assert_true(hill(engine.chosen) > hill(HILL) - 0.32);
    assert_true(engine.conclusive);
    wanted.prefers_fastest = true;
    begin(wanted, 1);
    run_until(ENGINE_END);
    assert_int_equal(engine.chosen, engine.best);
}

/* Every part has its turn, in this order, and once the end has come it stays. */
TEST(turns_come_in_order)
{
    static const enum engine_phase turns[] = {ENGINE_RACE, ENGINE_CHOICE, ENGINE_PLAN, ENGINE_WEIGH,
                                              ENGINE_VERDICT};
    struct engine_run run;
    begin(usual(), 3);
    for (size_t i = 0; i < N_OF(turns); i++) {
        run_until(turns[i]);
        assert_int_equal(engine.phase, turns[i]);
    }
    run_until(ENGINE_END);
    assert_int_equal(engine_ask(&engine, device.now, &run), ENGINE_DONE);
    assert_int_equal(engine_ask(&engine, device.now, &run), ENGINE_DONE);
}

TEST(what_accompanies_the_choice_is_replayed_as_often)
{
    begin(usual(), 3);
    run_until(ENGINE_PLAN);
    engine_accompany(&engine, 5);
    engine_accompany(&engine, ENGINE_NONE);
    engine.counterpart = N_POINTS + 1;
    run_until(ENGINE_WEIGH);
    assert_true(engine.points[5].confirming.n >= ENGINE_CONFIRMING_LEAST);
    assert_int_equal(engine.points[5].confirming.n, engine.points[engine.chosen].confirming.n);
    assert_int_equal(engine.points[N_POINTS + 1].n_runs, ENGINE_COUNTERPART_REPLAYS);
}

TEST(a_baseline_outside_the_space_is_measured_and_never_chosen)
{
    begin(usual(), 2);
    engine.baseline = N_POINTS;
    engine.default_setting = N_POINTS + 2;
    run_until(ENGINE_END);
    assert_true(engine.points[N_POINTS].confirming.n >= ENGINE_CONFIRMING_LEAST);
    assert_true(engine.points[N_POINTS + 2].confirming.n >= ENGINE_CONFIRMING_LEAST);
    assert_close(engine.points[N_POINTS].response.mean, hill(0), 0.05);
    assert_int_equal(engine.chosen, HILL);
}

TEST(a_point_that_fails_is_asked_for_once)
{
    begin(usual(), 2);
    device.fails = HILL;
    run_until(ENGINE_END);
    assert_int_equal(engine.points[HILL].n_runs, 0);
    assert_true(engine.points[HILL].failed && engine.belief.excluded[HILL]);
    assert_true(engine.chosen != HILL && engine.chosen != ENGINE_NONE);
}

TEST(what_is_distrusted_is_no_answer)
{
    begin(usual(), 2);
    engine.points[HILL].distrusted = true;
    run_until(ENGINE_END);
    assert_true(engine.chosen != HILL && engine.chosen != ENGINE_NONE);
}

TEST(runs_that_are_refused_end_the_search_with_what_is_known)
{
    begin(usual(), 2);
    device.refuses_from = 40;
    run_until(ENGINE_END);
    assert_int_equal(device.n_runs, 40);
    assert_int_equal(engine.stop, ENGINE_STOP_WRITES);
    assert_true(engine.chosen != ENGINE_NONE && !engine.conclusive);
}

TEST(who_interrupts_gets_an_answer_without_another_run)
{
    begin(usual(), 2);
    run_until(ENGINE_RACE);
    size_t n = device.n_runs;
    engine.stop = ENGINE_STOP_INTERRUPTED;
    run_until(ENGINE_END);
    assert_int_equal(device.n_runs, n);
    assert_int_equal(engine.stop, ENGINE_STOP_INTERRUPTED);
    assert_false(engine.conclusive);
}

/* Runs that do not support a response are no runs of their point. */
static double silent_response(const struct engine_run *run)
{
    return run->point % 2 == 0 ? NAN : hill(run->point);
}

TEST(what_does_not_support_the_response_is_left_out)
{
    begin(usual(), 2);
    device.response = silent_response;
    run_until(ENGINE_END);
    assert_int_equal(engine.chosen % 2, 1);
    for (size_t i = 0; i < N_POINTS; i += 2)
        assert_true(engine.points[i].n_runs <= 1);
}

/* --- what replays after the choice disprove --- */

static size_t disproved;

/* The first point chosen is a tenth as fast as the search said, whose runs are forgotten as an error. */
static double disproving_response(const struct engine_run *run)
{
    if (run->confirming && disproved == ENGINE_NONE) {
        disproved = engine.chosen;
        engine_forget(&engine, disproved);
    }
    return hill(run->point) - (run->point == disproved ? 2.3 : 0);
}

TEST(a_disproved_choice_is_made_again_with_new_replays)
{
    begin(usual(), 1);
    disproved = ENGINE_NONE;
    device.response = disproving_response;
    run_until(ENGINE_END);
    assert_int_equal(disproved, HILL);
    assert_true(engine.chosen != HILL && engine.chosen != ENGINE_NONE);
    assert_true(engine.n_aged > 0);
    assert_true(engine.points[engine.chosen].confirming.n >= ENGINE_CONFIRMING_LEAST);
}

TEST(a_second_choice_whose_run_fails_is_no_answer)
{
    size_t n = 0;
    for (unsigned long seed = 1; seed <= 12; seed++) {
        begin(usual(), seed);
        device.std = 0.1;
        device.seconds = 0.2;
        engine.run_seconds = 0.25;
        disproved = ENGINE_NONE;
        device.response = disproving_response;
        run_until(ENGINE_WEIGH);
        run_until(ENGINE_PLAN);
        if (engine.phase == ENGINE_END)
            continue;
        size_t failing = engine.chosen;
        device.fails = failing;
        run_until(ENGINE_END);
        assert_true(engine.chosen == ENGINE_NONE || engine.chosen != failing);
        assert_true(engine.chosen == ENGINE_NONE || engine_can_be_chosen(&engine, engine.chosen));
        n += engine.points[failing].failed;
    }
    assert_true(n >= 6);
}

/* From some moment on half of the depth does as well. */
static bool surpassed;

static double surpassing_response(const struct engine_run *run)
{
    return run->point == point_of(4, 1, 1) && surpassed ? 21.01 : hill(run->point);
}

TEST(a_choice_that_something_cheaper_surpasses_is_made_again)
{
    struct engine wanted = usual();
    wanted.policy.races_again = false;
    begin(wanted, 1);
    surpassed = false;
    device.response = surpassing_response;
    run_until(ENGINE_WEIGH);
    assert_int_equal(engine.chosen, HILL);
    surpassed = true;
    engine_forget(&engine, point_of(4, 1, 1));
    tell(point_of(4, 1, 1), 21.01, 20);
    run_until(ENGINE_END);
    assert_int_equal(engine.chosen, point_of(4, 1, 1));
    assert_true(engine.points[engine.chosen].confirming.n >= ENGINE_CONFIRMING_LEAST);
}

/* No time is left to settle it again. */
TEST(what_is_doubted_at_the_end_was_not_settled)
{
    begin(usual(), 1);
    run_until(ENGINE_WEIGH);
    assert_int_equal(engine.stop, ENGINE_STOP_SEPARATED);
    tell(point_of(4, 3, 1), 21.3, 12);
    device.now = 59.9;
    run_until(ENGINE_END);
    assert_false(engine.conclusive);
    assert_int_equal(engine.stop, ENGINE_STOP_BUDGET);
}

/* The baseline has most runs, and the least in flight. */
TEST(what_looks_best_takes_the_place_of_a_choice_that_its_replays_disprove_at_the_end)
{
    size_t better = point_of(4, 3, 1);
    begin(usual(), 1);
    run_until(ENGINE_WEIGH);
    assert_int_equal(engine.chosen, HILL);
    tell(HILL, 20.3, 40);
    tell(better, 21.4, 12);
    device.now = 59.9;
    run_until(ENGINE_END);
    assert_int_equal(engine.chosen, better);
    assert_int_equal(engine.surpassed, HILL);
    assert_false(engine.conclusive);
}

/* A choice that its replays disprove when no more bytes may be written. */
static void disprove_at_the_end(size_t most_replays)
{
    struct engine wanted = usual();
    wanted.policy.most_replays = most_replays;
    begin(wanted, 1);
    disproved = ENGINE_NONE;
    device.response = disproving_response;
    run_until(ENGINE_WEIGH);
    engine.stop = ENGINE_STOP_WRITES;
    run_until(ENGINE_END);
    assert_int_equal(disproved, HILL);
    assert_int_equal(engine.n_aged, 0);
}

/* What takes its place at the end has enough runs from before. */
TEST(no_choice_is_made_again_that_could_not_be_replayed)
{
    disprove_at_the_end(0);
    assert_int_equal(engine.surpassed, HILL);
    assert_true(engine.points[engine.chosen].n_runs >= ENGINE_MIN_REPLAYS);
}

TEST(a_first_night_keeps_what_was_replayed)
{
    disprove_at_the_end(40);
    assert_true(engine.points[engine.chosen].confirming.n >= ENGINE_MIN_REPLAYS);
}

/* A night compares all that was replayed after the choice, whichever was chosen, and nothing else: what only
 * seems better could be luck. */
TEST(a_night_chooses_among_what_was_replayed)
{
    begin(night(), 1);
    disproved = ENGINE_NONE;
    device.response = disproving_response;
    run_until(ENGINE_END);
    assert_int_equal(engine.n_aged, 0);
    assert_true(engine.points[disproved].confirming.n >= ENGINE_CONFIRMING_LEAST);
    assert_true(engine.points[engine.chosen].confirming.n >= ENGINE_MIN_REPLAYS);
}

/* --- nights --- */

/* Equal points: none can be written off in the time of a night, though a surrogate is soon sure of them. */
TEST(a_night_goes_on_while_something_has_a_chance)
{
    size_t n = 0;
    begin(night(), 1);
    engine.baseline = HILL;
    device.response = flat_response;
    device.std = 0.05;
    run_until(ENGINE_END);
    assert_int_equal(engine.stop, ENGINE_STOP_BUDGET);
    assert_true(device.now > 0.85 * 60);
    for (size_t i = 0; i < N_POINTS; i++)
        n += i != HILL && engine.points[i].confirming.n + 1 >= engine.points[HILL].confirming.n;
    assert_in_range(n, engine.policy.n_contenders, engine.policy.n_contenders + 1);
}

TEST(a_night_in_which_nothing_has_a_chance_ends_early)
{
    begin(night(), 1);
    engine.baseline = HILL;
    run_until(ENGINE_END);
    assert_int_equal(engine.stop, ENGINE_STOP_SEPARATED);
    assert_true(device.now < 0.9 * 60);
}

TEST(the_default_gets_fewer_replays_than_what_is_judged)
{
    begin(night(), 1);
    engine.baseline = HILL;
    engine.default_setting = 0;
    device.std = 0.1;
    run_until(ENGINE_END);
    assert_true(engine.points[0].confirming.n >= ENGINE_CONFIRMING_LEAST);
    assert_true(engine.points[HILL].confirming.n > 2 * engine.points[0].confirming.n);
}

/* There is nothing that others could be better than: the race is that of any search. */
TEST(a_night_that_cannot_measure_what_is_in_force_claims_no_evidence)
{
    begin(night(), 1);
    engine.baseline = HILL;
    device.response = flat_response;
    device.std = 0.5;
    device.fails = HILL;
    run_until(ENGINE_END);
    assert_int_not_equal(engine.stop, ENGINE_STOP_SEPARATED);
    assert_false(engine.conclusive);
    assert_true(device.now > 0.7 * 60);
}

/* --- how many replays follow --- */

/* Equal points scatter so much that no budget settles anything. No second is left over that a race without
 * end could use, and the replays have their time all the same; fewer where the last look brought one more
 * point to be replayed. */
TEST(an_unsettled_race_takes_what_the_replays_do_not_need)
{
    size_t n_full = 0;
    for (unsigned long seed = 1; seed <= TRIALS(4); seed++) {
        begin(usual(), seed);
        device.response = flat_response;
        device.std = 0.5;
        run_until(ENGINE_WEIGH);
        assert_int_not_equal(engine.stop, ENGINE_STOP_SEPARATED);
        assert_true(engine.beyond_plan);
        n_full += engine.points[engine.chosen].confirming.n >= 14;
        assert_in_range(engine.points[engine.chosen].confirming.n, ENGINE_CONFIRMING_LEAST, 15);
        assert_true(device.now > 0.9 * 60 && device.now <= 60);
    }
    assert_int_equal(n_full, TRIALS(4));
}

/* Whether a run of the point is handed out in that phase, where the first design was asked for last. */
static bool is_handed_out(size_t point, enum engine_phase phase)
{
    struct engine_run run;
    engine.phase = phase;
    engine.was_design = true;
    engine_queue(&engine, &point, 1, false, 1e9);
    return engine_next(&engine, 0, &run);
}

/* Where the time of exploration ends in the middle of a design, the race runs what that put off. */
TEST(only_a_design_puts_off_what_is_dear)
{
    size_t dear = point_of(N_SIZES - 1, N_DEPTHS - 1, 0);
    begin(usual(), 1);
    engine.points[0].n_runs = 1;
    engine.points[0].last_bps = 1e6;
    assert_true(engine_is_dear(&engine, dear));
    assert_false(is_handed_out(dear, ENGINE_EXPLORE));
    assert_true(is_handed_out(1, ENGINE_EXPLORE));
    assert_true(is_handed_out(dear, ENGINE_RACE));
}

/* Runs that take a fortieth of the budget each are no dearer than others. */
TEST(a_design_of_long_runs_is_handed_out)
{
    begin(usual(), 1);
    device.seconds = 1.4;
    engine.run_seconds = 1.5;
    run_until(ENGINE_RACE);
    size_t n = 0;
    for (size_t i = 0; i < N_POINTS; i++)
        n += engine_is_dear(&engine, i);
    assert_true(n < N_POINTS / 4);
}

/* Eight points for each of the dimensions that vary. */
TEST(a_first_design_has_eight_points_a_dimension)
{
    begin(usual(), 1);
    while (!(engine.phase == ENGINE_EXPLORE && !engine.was_design && engine.n_rounds > 0) &&
           engine.phase <= ENGINE_EXPLORE) {
        struct engine_run run;
        if (engine_ask(&engine, device.now, &run) == ENGINE_RUN)
            make_run(&run);
    }
    assert_in_range(device.n_runs, 24, 27);
}

/* A fifth of the budget holds five replays of the choice and of the baseline only where runs are quick. */
TEST(where_runs_are_long_the_race_ends_in_time_for_the_replays)
{
    for (unsigned long seed = 1; seed <= 5; seed++) {
        begin(usual(), seed);
        device.std = 0.2;
        device.seconds = 1.8;
        run_until(ENGINE_END);
        assert_true(engine.points[engine.chosen].confirming.n >= ENGINE_CONFIRMING_LEAST);
        assert_true(device.now <= engine.end_seconds + engine.grace_seconds);
    }
}

TEST(a_race_that_keeps_to_the_plan_costs_no_replays)
{
    struct engine wanted = usual();
    wanted.policy.races_on = false;
    begin(wanted, 1);
    device.response = flat_response;
    device.std = 0.5;
    run_until(ENGINE_END);
    assert_false(engine.beyond_plan);
    assert_true(engine.points[engine.chosen].confirming.n > 15);
}

/* Several were under way when the first one was told. */
TEST(a_cut_run_beside_whole_ones_is_dropped)
{
    begin(usual(), 1);
    struct engine_run run = {.point = HILL};
    struct engine_result cut = {
        .response = 1, .bps = 3, .latency_ns = 1e5, .p99_ns = NAN, .seconds = 0.01, .cut = true};
    tell(HILL, 20, 2);
    assert_int_equal(engine_tell(&engine, &run, &cut), 0);
    assert_int_equal(engine.points[HILL].n_runs, 2);
    tell(HILL, 20, 1);
    assert_int_equal(engine.points[HILL].n_runs, 3);
}
