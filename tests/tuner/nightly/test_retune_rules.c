/* Tests of tuner/nightly/retune_rules and tuner/nightly/retune_record over nights: what is applied only
 * later, or never, and whose decisions count. */
#include "tests/tuner/nightly/retune_rig.h"

GROUP(rig_enter, rig_leave);

EACH_TEST(enter, leave);

/* A night that applied, over a file of somebody's, and was rolled back. */
static void roll_back_the_first(void)
{
    rig_write("place/vm1.env", "mine\n");
    run_to(NIGHT_FIRST, RETUNE_APPLIED);
    assert_int_equal(roll_back(), 0);
    assert_true(snippet_has("vm1.env", "mine"));
}

TEST(after_the_first_was_rolled_back_nothing_is_applied_before_current_is_known)
{
    static const struct point other = {131072, 8, 1, API_IO_URING, 1, SYNC_END, 0};
    next.remember = true;
    roll_back_the_first();
    for (unsigned i = 0; i < 4; i++) {
        next.recommendation = i % 2 == 0 ? other : slow;
        run(NIGHT_FIRST);
        assert_false(asked.in_force_given);
        assert_int_equal(report.outcomes[0].action, RETUNE_HELD);
        assert_non_null(strstr(report.outcomes[0].text, "set it as current"));
    }
    configure("current = \"request_size=4k,queue_depth=1,direct=0,api=psync\";");
    next.recommendation = other;
    run(NIGHT_CHANGE);
    assert_true(asked.in_force_given);
    assert_int_equal(report.outcomes[0].action, RETUNE_APPLIED); /* the third night to say so */
}

TEST(after_a_rollback_two_nights_have_to_decide_for_the_same)
{
    static const struct point other = {131072, 8, 1, API_IO_URING, 1, SYNC_END, 0};
    configure("nights = 1;");
    next.remember = true;
    run(NIGHT_FIRST);
    next.recommendation = slow;
    run(NIGHT_CHANGE);
    assert_int_equal(roll_back(), 0);
    next.recommendation = other;
    run_to(NIGHT_CHANGE, RETUNE_HELD);
    assert_int_equal(newest().kind, HISTORY_CHANGE_NONE);
    assert_true(snippet_has("vm1.env", "FSTUNE_REQUEST_SIZE=65536"));
    run(NIGHT_NO_CHANGE);
    assert_true(factors_equal(&asked.in_force, &quick));
    run_to(NIGHT_CHANGE, RETUNE_APPLIED);
    next.recommendation = slow; /* still spared, although something else was applied since */
    run_to(NIGHT_CHANGE, RETUNE_SPARED);
}

TEST(a_second_rollback_lifts_the_first)
{
    roll_back_the_first();
    assert_int_equal(roll_back(), 0);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
    run(NIGHT_NO_CHANGE);
    assert_true(factors_equal(&asked.in_force, &quick));
}

TEST(a_first_tune_without_confirmed_replays_is_advice)
{
    next.replays = 4;
    run_to(NIGHT_FIRST, RETUNE_HELD);
    assert_non_null(strstr(report.outcomes[0].text, "4 fresh replays, and 5 are needed"));
    assert_false(rig_exists("place/vm1.env"));
    run(NIGHT_FIRST);
    assert_false(asked.in_force_given);
    next.replays = 5;
    run_to(NIGHT_FIRST, RETUNE_APPLIED);
}

TEST(a_file_of_somebody_gives_way_to_a_conclusive_night_only)
{
    rig_write("place/vm1.env", "mine\n");
    next.conclusive = false;
    assert_int_equal(run_to(NIGHT_FIRST, RETUNE_HELD), 3);
    assert_non_null(strstr(report.outcomes[0].text, "not by fstune"));
    assert_true(snippet_has("vm1.env", "mine"));
    next.conclusive = true;
    assert_int_equal(run_to(NIGHT_FIRST, RETUNE_APPLIED), 0);
    assert_true(snippet_has("vm1.env.previous", "mine"));
}

TEST(decisions_of_another_machine_are_not_ours)
{
    host = "there";
    run(NIGHT_FIRST);
    assert_string_equal(newest().host, "there");
    busy.load_share = 3;
    run(NIGHT_FIRST);
    host = "here";
    run(NIGHT_FIRST);
    assert_int_equal(report.outcomes[0].n_skipped, 1);
    busy.load_share = 0;
    run(NIGHT_PENDING);
    assert_false(asked.in_force_given);
    assert_int_equal(roll_back(), -ENOENT);
}

static double later_s(void *context)
{
    return *(const double *)context;
}

TEST(a_clock_that_was_ahead_does_not_keep_a_setting_in_force)
{
    double now_s = 4e9;
    history.now_s = later_s;
    history.now_context = &now_s;
    run(NIGHT_FIRST);
    now_s = 1.7e9;
    next.recommendation = slow;
    run(NIGHT_CHANGE);
    run(NIGHT_NO_CHANGE);
    assert_true(factors_equal(&asked.in_force, &slow));
}

TEST(a_change_knows_what_it_was_measured_on)
{
    next.remember = true;
    run(NIGHT_FIRST);
    assert_int_equal(strlen(newest().fingerprint), HISTORY_FINGERPRINT_SIZE - 1);
}

static int roll_back_meanwhile(const struct retune_request *request, struct retune_result *ret_result,
                               struct err *night_err)
{
    assert_int_equal(roll_back(), 0);
    return night(request, ret_result, night_err);
}

TEST(what_was_rolled_back_during_a_night_stays_so)
{
    struct retune_world world = world_of();
    run(NIGHT_FIRST);
    next.recommendation = slow;
    run(NIGHT_CHANGE);
    next.recommendation = (struct point){131072, 8, 1, API_IO_URING, 1, SYNC_END, 0};
    world.measure = roll_back_meanwhile;
    retune_report_done(&report);
    assert_int_equal(retune_run(&world, &config, "", &report, &err), 0);
    assert_int_equal(report.outcomes[0].action, RETUNE_HELD);
    assert_non_null(strstr(report.outcomes[0].text, "while this night measured"));
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
}
