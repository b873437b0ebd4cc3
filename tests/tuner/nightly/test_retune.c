/* Tests of tuner/nightly/retune and its record, with nights whose verdict is made to order: what is applied,
 * only later, or never; what is remembered, skipped and told; and whose decisions count. */
#include "tests/tuner/nightly/retune_rig.h"
#include "tuner/nightly/report_retune.h"
#include "tuner/nightly/retune_state.h"
#include "tuner/store/history_row.h"
#include "tuner/store/sql_file.h"

GROUP(rig_enter, rig_leave);

EACH_TEST(enter, leave);

static const struct point small = {4096, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0};
static const struct point other = {131072, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0};

/* Nights and rollbacks one after the other, and what is there after each. */
static const struct step {
    const char *story;         /* begins with nothing; "": goes on */
    const char *configuration; /* what the target has more from now on; "": as before */
    const char *verdict;       /* of the night, or "rollback", or "mine": somebody writes the snippet */
    const struct point *found; /* the night's recommendation */
    int code;
    const char *action;
    const struct point *in_force; /* what the night was told; NULL: nothing is known */
    const char *kind;             /* of what was recorded; "": nothing */
    const char *snippet;          /* has these words; "": there is none */
    const char *text;             /* of the outcome has these */
} steps[] = {
    {"the first advice is applied, and in force the next night", "", "first", &quick, 0, "applied", NULL,
     "first", "API=io_uring", "was written"},
    {"", "", "no_change", &quick, 0, "stays", &quick, "none", "API=io_uring", ""},

    {"a change is applied, and a night without one touches nothing", "", "first", &quick, 0, "applied", NULL,
     "first", "API=io_uring", ""},
    {"", "", "pending", &slow, 0, "stays", &quick, "none", "API=io_uring", ""},
    {"", "", "change", &slow, 0, "applied", &quick, "change", "API=psync", ""},

    {"the configured setting is in force before the first change",
     "current = \"request_size=64k,queue_depth=8,direct=1,api=io_uring\";", "no_change", &quick, 0, "stays",
     &quick, "none", "", ""},
    {"", "", "change", &slow, 0, "applied", &quick, "change", "API=psync", ""},
    {"", "", "no_change", &slow, 0, "stays", &slow, "none", "API=psync", ""},

    {"what fails its check is not in force the next night", "", "first", &quick, 0, "applied", NULL, "first",
     "API=io_uring", ""},
    {"", "check = \"exit 1\";", "change", &slow, 1, "failed", &quick, "none", "API=io_uring",
     "check command failed"},
    {"", "", "no_change", &quick, 0, "stays", &quick, "none", "API=io_uring", ""},

    {"a rollback is not undone by the next night", "", "first", &quick, 0, "applied", NULL, "first",
     "API=io_uring", ""},
    {"", "", "change", &slow, 0, "applied", &quick, "change", "API=psync", ""},
    {"", "", "rollback", NULL, 0, "", NULL, "rollback", "API=io_uring", ""},
    {"", "", "change", &slow, 0, "spared", &quick, "none", "API=io_uring", "rolled back by hand"},

    {"without a change there is nothing to roll back", "", "rollback", NULL, -ENOENT, "", NULL, "", "", ""},
    {"", "", "first", &quick, 0, "applied", NULL, "first", "API=io_uring", ""},
    {"", "", "rollback", NULL, -ENOENT, "", NULL, "first", "API=io_uring", ""},

    {"after the first was rolled back nothing is applied before current is known", "", "mine", NULL, 0, "",
     NULL, "", "mine", ""},
    {"", "", "first", &quick, 0, "applied", NULL, "first", "API=io_uring", ""},
    {"", "", "rollback", NULL, 0, "", NULL, "rollback", "mine", ""},
    {"", "", "first", &other, 0, "held", NULL, "none", "mine", "set it as current"},
    {"", "", "first", &slow, 0, "held", NULL, "none", "mine", "set it as current"},
    {"", "", "first", &other, 0, "held", NULL, "none", "mine", "set it as current"},
    {"", "current = \"request_size=4k,queue_depth=1,direct=0,api=psync\";", "change", &other, 0, "applied",
     &small, "change", "SIZE=131072", ""},

    {"after a rollback two nights have to decide for the same", "nights = 1;", "first", &quick, 0, "applied",
     NULL, "first", "API=io_uring", ""},
    {"", "", "change", &slow, 0, "applied", &quick, "change", "API=psync", ""},
    {"", "", "rollback", NULL, 0, "", NULL, "rollback", "API=io_uring", ""},
    {"", "", "change", &other, 0, "held", &quick, "none", "SIZE=65536", "this is number 1"},
    {"", "", "no_change", &quick, 0, "stays", &quick, "none", "SIZE=65536", ""},
    {"", "", "change", &other, 0, "applied", &quick, "change", "SIZE=131072", ""},
    /* Still, although something else was applied since. */
    {"", "", "change", &slow, 0, "spared", &other, "none", "SIZE=131072", ""},

    {"a second rollback lifts the first", "", "mine", NULL, 0, "", NULL, "", "mine", ""},
    {"", "", "first", &quick, 0, "applied", NULL, "first", "API=io_uring", ""},
    {"", "", "rollback", NULL, 0, "", NULL, "rollback", "mine", ""},
    {"", "", "rollback", NULL, 0, "", NULL, "rollback", "API=io_uring", ""},
    {"", "", "no_change", &quick, 0, "stays", &quick, "none", "API=io_uring", ""},
};

static void check_night(const struct step *step)
{
    const struct retune_outcome *outcome = &report.outcomes[0];
    assert_string_equal(retune_action_names[outcome->action], step->action);
    assert_non_null(strstr(outcome->text, step->text));
    assert_int_equal(asked.in_force_given, step->in_force != NULL);
    assert_true(step->in_force == NULL || factors_equal(&asked.in_force, step->in_force));
}

static int take_step(const struct step *step)
{
    if (strcmp(step->verdict, "rollback") == 0)
        return roll_back();
    if (strcmp(step->verdict, "mine") == 0) {
        rig_write("place/vm1.env", "mine\n");
        return 0;
    }
    next.recommendation = *step->found;
    int code =
        run((enum night_verdict)history_row_name(step->verdict, night_verdict_names, NIGHT_N_VERDICTS));
    check_night(step);
    return code;
}

TEST(every_story_goes_as_it_says)
{
    for (size_t i = 0; i < N_OF(steps); i++) {
        const struct step *step = &steps[i];
        if (step->story[0] != '\0') {
            leave(NULL);
            assert_int_equal(enter(NULL), 0);
            next.remember = true;
        }
        print_message("# %zu %s\n", i, step->story);
        if (step->configuration[0] != '\0')
            configure(step->configuration);
        assert_int_equal(take_step(step), step->code);
        if (step->kind[0] != '\0')
            assert_string_equal(history_kind_names[newest().kind], step->kind);
        assert_int_equal(rig_exists("place/vm1.env"), step->snippet[0] != '\0');
        assert_true(snippet_has(step->snippet) || step->snippet[0] == '\0');
    }
}

TEST(a_change_knows_its_settings_its_reason_and_what_it_was_measured_on)
{
    next.remember = true;
    run(NIGHT_FIRST);
    assert_true(asked.first_budget_ns == 420000000000ULL && asked.night_budget_ns == 60000000000ULL);
    next.recommendation = slow;
    run(NIGHT_CHANGE);
    const struct history_change change = newest();
    assert_true(factors_equal(&change.from, &quick) && factors_equal(&change.to, &slow));
    assert_string_equal(change.text, "because");
    assert_int_equal(strlen(change.fingerprint), HISTORY_FINGERPRINT_SIZE - 1);
    assert_int_equal(system("grep -q FSTUNE_API=io_uring place/vm1.env.previous"), 0);
    assert_int_equal(rig_count_entries("place"), 3); /* with the lock */
}

TEST(commands_know_the_target_and_the_setting)
{
    configure("apply = \"echo $FSTUNE_TARGET $FSTUNE_VERDICT $FSTUNE_API $FSTUNE_QUEUE_DEPTH >said\";");
    run(NIGHT_FIRST);
    assert_int_equal(system("grep -qx 'vm1 first io_uring 8' said"), 0);
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
    assert_int_equal(n_asked, 0);
    assert_int_equal(newest().kind, HISTORY_CHANGE_SKIPPED);
    assert_non_null(strstr(newest().text, "max_load"));
    busy.load_share = 0;
    assert_int_equal(run(NIGHT_FIRST), 0);
    busy.load_share = 3;
    run(NIGHT_NO_CHANGE);
    assert_int_equal(report.outcomes[0].n_skipped, 1);
}

/* The last minute counts, unless an own night made it busy. */
TEST(the_first_target_does_not_make_the_second_one_wait)
{
    configure_all("targets = ( { name = \"vm1\"; pattern = \"randwrite\"; no_lock = true; }, "
                  "{ name = \"vm2\"; pattern = \"randread\"; no_lock = true; } );");
    busy.io_pressure_share = 0.9;
    assert_int_equal(run(NIGHT_FIRST), 0);
    assert_true(report.outcomes[0].skipped && report.outcomes[1].skipped);
    busy.io_pressure_share = 0;
    own_pressure_share = 0.9;
    assert_int_equal(run(NIGHT_FIRST), 0);
    assert_int_equal(report.n, 2);
    assert_false(report.outcomes[0].skipped || report.outcomes[1].skipped);
    assert_int_equal(n_asked, 2);
}

TEST(force_and_simulation_do_not_ask)
{
    struct retune_world world = world_of();
    busy.on_battery = true;
    world.force = true;
    run_world(world, "");
    assert_int_equal(n_asked, 1);
    configure("simulate = \"s.conf\";");
    run(NIGHT_FIRST);
    assert_int_equal(n_asked, 2);
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

TEST(alarms_end_with_4_and_their_reason)
{
    next.behind = NIGHT_BEHIND_THROUGHPUT;
    assert_int_equal(run(NIGHT_NO_CHANGE), 4);
    assert_int_equal(newest().kind, HISTORY_CHANGE_ALARM);
    json_auto_t *document = report_retune_document(&report);
    CHECK_JSON(document, "reason=20 % down");
    const json_t *target = json_array_get(json_object_get(document, "targets"), 0);
    CHECK_JSON(target, "behind.0=throughput", "verdict=no_change");
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
    for (size_t i = 0; i < N_OF(order); i++) {
        for (size_t j = 0; j < N_OF(order); j++)
            assert_int_equal(retune_worse(order[i], order[j]), order[i < j ? i : j]);
    }
}

TEST(one_target_that_fails_does_not_stop_the_next)
{
    configure_all("pattern = \"randwrite\"; no_lock = true; targets = ( { name = \"a\"; path = "
                  "\"/nowhere\"; }, { name = \"b\"; } );");
    next.result = -EIO;
    assert_int_equal(run(NIGHT_FIRST), 1);
    assert_int_equal(n_asked, 2);
    run_world(world_of(), "b");
    assert_int_equal(report.n, 1);
    assert_string_equal(report.outcomes[0].target->name, "b");
}

TEST(an_interrupt_ends_the_night)
{
    atomic_store(&interrupted, SIGTERM);
    run(NIGHT_FIRST);
    assert_true(report.interrupted);
    assert_int_equal(n_asked, 0);
    assert_int_equal(report.n, 1);
    assert_string_equal(report.outcomes[0].text, "not begun: a signal ended the night before");
}

TEST(earlier_nights_are_remembered_of_this_target_only)
{
    next.remember = true;
    run(NIGHT_FIRST);
    assert_int_equal(n_remembered, 0);
    run(NIGHT_NO_CHANGE);
    assert_int_equal(n_remembered, 1);
    next.result = -EIO;
    run(NIGHT_NO_CHANGE);
    next.result = 0;
    run(NIGHT_NOTHING);
    run(NIGHT_NO_CHANGE);
    assert_int_equal(n_remembered, 2); /* neither the failed night nor the one without a judgement */
    assert_int_equal(newest().run_ids[0], 5);
    snprintf(config.targets[0].name, sizeof config.targets[0].name, "other");
    run(NIGHT_FIRST);
    assert_int_equal(n_remembered, 0);
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
    assert_close(asked.scatter.n, 0, 1e-9);
    write_night("vm2", "here");
    write_night("vm1", "here");
    write_night("vm1", "here");
    write_night("vm3", "elsewhere");
    run(NIGHT_NO_CHANGE);
    assert_close(asked.scatter.n, 2.0 / 3, 1e-9);
    write_night("vm3", "here");
    run(NIGHT_NO_CHANGE);
    assert_close(asked.scatter.n, 4.0 / 3, 1e-9);
    for (int i = 0; i < 20; i++)
        write_night("vm2", "here");
    run(NIGHT_NO_CHANGE);
    assert_close(asked.scatter.n, RETUNE_SCATTER_MOST, 1e-9);
}

TEST(a_snippet_that_cannot_be_written_is_found_before_measuring)
{
    assert_int_equal(rmdir("place"), 0);
    assert_int_equal(run(NIGHT_FIRST), 1);
    assert_int_equal(n_asked, 0);
    assert_non_null(strstr(report.outcomes[0].text, "place"));
}

TEST(an_error_of_the_history_names_the_file)
{
    sqlite3_exec(history.db.handle, "PRAGMA query_only = 1", NULL, NULL, NULL);
    assert_int_equal(run(NIGHT_FIRST), 1);
    assert_non_null(strstr(report.outcomes[0].text, "history h.db: "));
    assert_false(rig_exists("place/vm1.env"));
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
    assert_true(snippet_has("mine"));
    next.conclusive = true;
    assert_int_equal(run_to(NIGHT_FIRST, RETUNE_APPLIED), 0);
    assert_int_equal(system("grep -qx mine place/vm1.env.previous"), 0);
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
    next.recommendation = other;
    world.measure = roll_back_meanwhile;
    run_world(world, "");
    assert_int_equal(report.outcomes[0].action, RETUNE_HELD);
    assert_non_null(strstr(report.outcomes[0].text, "while this night measured"));
    assert_true(snippet_has("FSTUNE_API=io_uring"));
}
