/* Tests of tuner/nightly/retune, with a night whose verdict is made to order: what is applied, remembered,
 * skipped and told. */
#include "tests/tuner/nightly/retune_rig.h"
#include "tuner/nightly/report_retune.h"
#include "tuner/nightly/retune_state.h"

GROUP(rig_enter, rig_leave);

EACH_TEST(enter, leave);

TEST(the_first_advice_is_applied_and_in_force_next_night)
{
    assert_int_equal(run(NIGHT_FIRST), 0);
    assert_false(asked.in_force_given);
    assert_true(asked.first_budget_ns == 420000000000ULL && asked.night_budget_ns == 60000000000ULL);
    assert_int_equal(report.outcomes[0].action, RETUNE_APPLIED);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
    assert_int_equal(newest().kind, HISTORY_CHANGE_FIRST);
    assert_int_equal(run(NIGHT_NO_CHANGE), 0);
    assert_true(asked.in_force_given);
    assert_true(factors_equal(&asked.in_force, &quick));
    assert_int_equal(report.outcomes[0].action, RETUNE_STAYS);
    assert_int_equal(newest().kind, HISTORY_CHANGE_NONE);
    assert_string_equal(newest().text, "because");
}

TEST(a_change_is_applied_and_a_night_without_one_touches_nothing)
{
    run(NIGHT_FIRST);
    next.recommendation = slow;
    assert_int_equal(run(NIGHT_PENDING), 0);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
    assert_int_equal(rig_count_entries("place"), 2); /* with the lock */
    assert_int_equal(run(NIGHT_CHANGE), 0);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=psync"));
    assert_true(snippet_has("vm1.env.previous", "FSTUNE_API=io_uring"));
    assert_int_equal(newest().kind, HISTORY_CHANGE_MADE);
    const struct history_change change = newest();
    assert_true(factors_equal(&change.from, &quick));
    assert_true(factors_equal(&change.to, &slow));
}

TEST(the_configured_setting_is_in_force_before_the_first_change)
{
    configure("current = \"request_size=64k,queue_depth=8,direct=1,api=io_uring\";");
    run(NIGHT_NO_CHANGE);
    assert_true(asked.in_force_given);
    assert_true(factors_equal(&asked.in_force, &quick));
    next.recommendation = slow;
    run(NIGHT_CHANGE);
    run(NIGHT_NO_CHANGE);
    assert_true(factors_equal(&asked.in_force, &slow));
}

TEST(commands_know_the_target_and_the_setting)
{
    configure("apply = \"echo $FSTUNE_TARGET $FSTUNE_VERDICT $FSTUNE_API $FSTUNE_QUEUE_DEPTH >said\";");
    run(NIGHT_FIRST);
    assert_int_equal(system("grep -qx 'vm1 first io_uring 8' said"), 0);
}

TEST(what_fails_its_check_is_not_in_force_next_night)
{
    run(NIGHT_FIRST);
    configure("check = \"exit 1\";");
    next.recommendation = slow;
    assert_int_equal(run_to(NIGHT_CHANGE, RETUNE_FAILED), 1);
    assert_non_null(strstr(report.outcomes[0].text, "check command failed"));
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
    assert_int_equal(newest().kind, HISTORY_CHANGE_NONE);
    run(NIGHT_NO_CHANGE);
    assert_true(factors_equal(&asked.in_force, &quick));
}

TEST(a_rollback_is_remembered_and_not_undone_by_the_next_night)
{
    run(NIGHT_FIRST);
    next.recommendation = slow;
    run(NIGHT_CHANGE);
    assert_int_equal(roll_back(), 0);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
    assert_int_equal(newest().kind, HISTORY_CHANGE_ROLLBACK);
    assert_int_equal(run(NIGHT_CHANGE), 0);
    assert_true(factors_equal(&asked.in_force, &quick));
    assert_int_equal(report.outcomes[0].action, RETUNE_SPARED);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
}

TEST(without_a_change_there_is_nothing_to_roll_back)
{
    assert_int_equal(roll_back(), -ENOENT);
    run(NIGHT_FIRST); /* nothing was there before */
    assert_int_equal(roll_back(), -ENOENT);
    assert_int_equal(newest().kind, HISTORY_CHANGE_FIRST);
}

TEST(without_a_snippet_the_advice_is_remembered_once)
{
    configure_all("targets = ( { name = \"vm1\"; pattern = \"randwrite\"; no_lock = true; } );");
    run_to(NIGHT_FIRST, RETUNE_ADVISED);
    assert_int_equal(newest().kind, HISTORY_CHANGE_FIRST);
    run_to(NIGHT_CHANGE, RETUNE_REPEATED);
    assert_int_equal(newest().kind, HISTORY_CHANGE_NONE);
    assert_int_equal(rig_count_entries("place"), 0);
}

TEST(a_busy_machine_is_left_alone_and_a_week_of_it_is_told)
{
    busy.load_share = 3;
    for (unsigned i = 1; i <= 8; i++) {
        assert_int_equal(run(NIGHT_FIRST), i < 7 ? 0 : 3);
        assert_true(report.outcomes[0].skipped);
        assert_int_equal(report.outcomes[0].n_skipped, i);
    }
    assert_int_equal(asked.n, 0);
    assert_int_equal(newest().kind, HISTORY_CHANGE_SKIPPED);
    assert_non_null(strstr(newest().text, "max_load"));
    busy.load_share = 0;
    assert_int_equal(run(NIGHT_FIRST), 0);
    busy.load_share = 3;
    run(NIGHT_NO_CHANGE);
    assert_int_equal(report.outcomes[0].n_skipped, 1);
}

static void configure_two(void)
{
    configure_all("targets = ( { name = \"vm1\"; pattern = \"randwrite\"; no_lock = true; }, "
                  "{ name = \"vm2\"; pattern = \"randread\"; no_lock = true; } );");
}

TEST(the_first_target_does_not_make_the_second_one_wait)
{
    configure_two();
    own_pressure_share = 0.9;
    assert_int_equal(run(NIGHT_FIRST), 0);
    assert_int_equal(report.n, 2);
    assert_false(report.outcomes[0].skipped);
    assert_false(report.outcomes[1].skipped);
    assert_int_equal(asked.n, 2);
}

TEST(after_a_skipped_target_the_last_minute_counts)
{
    configure_two();
    busy.io_pressure_share = 0.9;
    assert_int_equal(run(NIGHT_FIRST), 0);
    assert_true(report.outcomes[0].skipped);
    assert_true(report.outcomes[1].skipped);
}

TEST(force_and_simulation_do_not_ask)
{
    struct retune_world world = world_of();
    busy.on_battery = true;
    world.force = true;
    assert_int_equal(retune_run(&world, &config, "", &report, &err), 0);
    assert_int_equal(asked.n, 1);
    configure("simulate = \"s.conf\";");
    run(NIGHT_FIRST);
    assert_int_equal(asked.n, 2);
}

TEST(a_device_in_use_is_a_skipped_night)
{
    next.result = -EWOULDBLOCK;
    assert_int_equal(run(NIGHT_FIRST), 0);
    assert_true(report.outcomes[0].skipped);
    /* retune has no option --no-lock, which the session would name. */
    assert_string_equal(report.outcomes[0].text,
                        "another fstune is measuring the device, or one that stalled still holds it");
}

/* The caller frees it. */
static char *printed(void (*print)(FILE *out, const struct retune_report *report))
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    print(out, &report);
    fclose(out);
    return text;
}

TEST(alarms_end_with_4_and_their_reason)
{
    next.behind = NIGHT_BEHIND_THROUGHPUT;
    assert_int_equal(run(NIGHT_NO_CHANGE), 4);
    assert_int_equal(newest().kind, HISTORY_CHANGE_ALARM);
    json_auto_t *document = report_retune_document(&report);
    assert_string_equal(json_string_value(json_object_get(document, "reason")), "20 % down");
    const json_t *target = json_array_get(json_object_get(document, "targets"), 0);
    assert_string_equal(json_string_value(json_array_get(json_object_get(target, "behind"), 0)),
                        "throughput");
    assert_string_equal(json_string_value(json_object_get(target, "verdict")), "no_change");
    AUTO(auto_free) char *text = printed(report_retune_log);
    assert_string_equal(text, "fstune: vm1: 20 % down\n");
}

TEST(codes_follow_the_verdict)
{
    assert_int_equal(run(NIGHT_NOTHING), 5);
    next.conclusive = false;
    assert_int_equal(run(NIGHT_FIRST), 3);
    next.result = -EIO;
    assert_int_equal(run(NIGHT_NO_CHANGE), 1);
    assert_string_equal(report.outcomes[0].text, "the disk is on fire");
}

TEST(the_worst_code_of_all_targets_counts)
{
    static const int order[] = {1, 4, 5, 3, 0};
    for (size_t i = 0; i < RIG_COUNT(order); i++) {
        for (size_t j = 0; j < RIG_COUNT(order); j++)
            assert_int_equal(retune_worse(order[i], order[j]), order[i < j ? i : j]);
    }
}

TEST(one_target_that_fails_does_not_stop_the_next)
{
    const struct retune_world world = world_of();
    configure_all("pattern = \"randwrite\"; no_lock = true; targets = ( { name = \"a\"; path = "
                  "\"/nowhere\"; }, { name = \"b\"; } );");
    next.result = -EIO;
    assert_int_equal(run(NIGHT_FIRST), 1);
    assert_int_equal(asked.n, 2);
    retune_report_done(&report);
    assert_int_equal(retune_run(&world, &config, "b", &report, &err), 0);
    assert_int_equal(report.n, 1);
    assert_string_equal(report.outcomes[0].target->name, "b");
}

TEST(an_interrupt_ends_the_night)
{
    atomic_store(&interrupted, SIGTERM);
    run(NIGHT_FIRST);
    assert_true(report.interrupted);
    assert_int_equal(asked.n, 0);
    assert_int_equal(report.n, 1);
    assert_string_equal(report.outcomes[0].text, "not begun: a signal ended the night before");
}

TEST(earlier_nights_are_remembered_of_this_target_only)
{
    next.remember = true;
    run(NIGHT_FIRST);
    assert_int_equal(asked.n_remembered, 0);
    run(NIGHT_NO_CHANGE);
    assert_int_equal(asked.n_remembered, 1);
    next.result = -EIO;
    run(NIGHT_NO_CHANGE);
    next.result = 0;
    run(NIGHT_NOTHING);
    run(NIGHT_NO_CHANGE);
    assert_int_equal(asked.n_remembered, 2); /* neither the failed night nor the one without a judgement */
    assert_int_equal(newest().run_ids[0], 5);
    snprintf(config.targets[0].name, sizeof config.targets[0].name, "other");
    run(NIGHT_FIRST);
    assert_int_equal(asked.n_remembered, 0);
}

static void write_night(const char *target, const char *on_host)
{
    struct retune_record record = {.has_in_force = true, .in_force = slow, .n_confirming = 2};
    record.confirming[0] = (struct retune_confirming){slow, {5, 20, 0.01}, {5, 20, 0.01}};
    record.confirming[1] = (struct retune_confirming){quick, {5, 20.1, 0.01}, {5, 20.1, 0.01}};
    const struct history_header header = {.command = "retune",
                                          .target = target,
                                          .pattern = "randwrite",
                                          .hostname = on_host,
                                          .identity = "disk"};
    json_auto_t *document = document_of(&slow);
    int64_t run_id;
    json_object_set_new(document, "night", retune_state_json(&record));
    assert_int_equal(history_begin_run(&history, &header, &run_id, &err), 0);
    assert_int_equal(history_finish_run(&history, run_id, HISTORY_DONE, 0, document, &err), 0);
}

/* Two thirds of a difference for every night of theirs after the first, RETUNE_SCATTER_MOST in all. */
TEST(other_targets_nights_say_how_nights_scatter)
{
    write_night("vm2", "here");
    write_night("vm3", "here");
    run(NIGHT_FIRST);
    assert_close(asked.n_scatter, 0, 1e-9);
    write_night("vm2", "here");
    write_night("vm1", "here");
    write_night("vm1", "here");
    write_night("vm3", "elsewhere");
    run(NIGHT_NO_CHANGE);
    assert_close(asked.n_scatter, 2.0 / 3, 1e-9);
    write_night("vm3", "here");
    run(NIGHT_NO_CHANGE);
    assert_close(asked.n_scatter, 4.0 / 3, 1e-9);
    for (int i = 0; i < 20; i++)
        write_night("vm2", "here");
    run(NIGHT_NO_CHANGE);
    assert_close(asked.n_scatter, RETUNE_SCATTER_MOST, 1e-9);
}

TEST(a_snippet_that_cannot_be_written_is_found_before_measuring)
{
    assert_int_equal(rmdir("place"), 0);
    assert_int_equal(run(NIGHT_FIRST), 1);
    assert_int_equal(asked.n, 0);
    assert_non_null(strstr(report.outcomes[0].text, "place"));
}

TEST(an_error_of_the_history_names_the_file)
{
    sqlite3_exec(history.db, "PRAGMA query_only = 1", NULL, NULL, NULL);
    assert_int_equal(run(NIGHT_FIRST), 1);
    assert_non_null(strstr(report.outcomes[0].text, "history h.db: "));
    assert_false(rig_exists("place/vm1.env"));
}
