/* Tests of tuner/nightly/retune_online: a program of known rates is tuned in virtual time. */
#include "tests/tuner/nightly/online_rig.h"

GROUP(rig_enter, rig_leave);

static const double hill[] = {0.5, 1, 1.3, 1.8, 1.4};

FIXTURE(set_up)
{
    unlink("kept.json");
    read_config("");
    begin_program(hill, 1500);
    return 0;
}

EACH_TEST(set_up, NULL);

static double cost_share(void)
{
    return tuned.online.regret_bytes / tuned.online.served_bytes;
}

static void run_to_its_end(void)
{
    if (retune_online_run(&tuned, &err) != 0)
        fail_msg("%s", err.text);
}

static void ends_with(int code, const char *words)
{
    assert_int_equal(retune_online_run(&tuned, &err), code);
    if (strstr(err.text, words) == NULL)
        fail_msg("'%s' is not in: %s", words, err.text);
    retune_online_close(&tuned);
}

TEST(the_fastest_value_is_found_and_trials_stay_cheap)
{
    open_program();
    assert_int_equal(in_force(), 1);
    run_to_its_end();
    assert_int_equal(in_force(), 3);
    assert_true(tuned.online.mind[0].is_settled);
    assert_close(tuned.online.mind[0].gain, 1.8, 0.05);
    assert_true(cost_share() > 0 && cost_share() < 0.03);
    assert_true(program.n_run[3] > 1000);
    retune_online_close(&tuned);
}

/* tests/study/online_program tells how many on average. */
TEST(that_takes_some_hundred_slices)
{
    program.end_ns = 200 * SLICE_NS;
    open_program();
    run_to_its_end();
    assert_true(tuned.interrupted);
    assert_int_equal(in_force(), 3);
    retune_online_close(&tuned);
}

TEST(words_are_settled_for_each_load_by_itself)
{
    program.has_words = true;
    program.swap_every = 40;
    program.end_ns = 6000 * SLICE_NS;
    open_program();
    run_to_its_end();
    assert_int_equal(tuned.n_kinds, 2);
    assert_string_equal(tuned.kinds[0], "reads");
    assert_string_equal(tuned.kinds[1], "writes");
    assert_true(tuned.online.mind[0].is_settled && tuned.online.mind[1].is_settled);
    assert_close(tuned.online.mind[0].best.values[0], 3, 0);
    assert_close(tuned.online.mind[1].best.values[0], 1, 0);
    retune_online_close(&tuned);
}

TEST(a_second_session_begins_with_what_was_found)
{
    read_config("history = \"kept.json\";");
    open_program();
    run_to_its_end();
    retune_online_close(&tuned);
    begin_program(hill, 1);
    open_program();
    assert_int_equal(in_force(), 3);
    assert_int_equal(program.n_put, 1);
    retune_online_close(&tuned);
}

static int plan(const char *kind, unsigned *ret_value)
{
    struct retune_online_count now = {0};
    struct online_setting setting = {{0}};
    snprintf(now.kind, sizeof now.kind, "%s", kind);
    int code = retune_online_plan(&tuned, &config, &now, &setting, &err);
    *ret_value = (unsigned)setting.values[0];
    return code;
}

TEST(a_plan_begins_as_a_session_does_and_changes_nothing)
{
    unsigned value;
    rig_write("kept.json", "%s",
              "{\"format\": \"fstune/online-history/1\", \"kinds\": [{\"kind\": \"reads\", \"setting\": "
              "\"block=64k\", \"gain\": 2.0}]}");
    read_config("history = \"kept.json\";");
    assert_true(plan("reads", &value) == 0 && value == 2);
    assert_true(plan("writes", &value) == 0 && value == 1);
    assert_int_equal(program.n_put, 0);
    program.has_words = true;
    open_program();
    assert_int_equal(in_force(), 2);
    retune_online_close(&tuned);
}

TEST(a_plan_refuses_a_damaged_history)
{
    unsigned value;
    rig_write("kept.json", "%s", "{}");
    read_config("history = \"kept.json\";");
    assert_int_equal(plan("reads", &value), -EINVAL);
    assert_non_null(strstr(err.text, "history kept.json: it is no history of this program"));
}

TEST(a_history_of_other_settings_is_refused_and_stays)
{
    rig_write("kept.json", "%s",
              "{\"format\": \"fstune/online-history/1\", \"kinds\": [{\"kind\": \"load\", \"setting\": "
              "\"block=2k\", \"gain\": 2.0}]}");
    read_config("history = \"kept.json\";");
    assert_int_equal(retune_online_open(&tuned, &config, &world, &err), -EINVAL);
    assert_non_null(strstr(err.text, "history kept.json: it is no history of this program"));
    assert_int_equal(program.n_put, 0);
    assert_int_equal(system("grep -q 2k kept.json"), 0);
}

TEST(a_signal_in_a_trial_leaves_the_best_in_force)
{
    /* One by one, so that some end in a trial. */
    unsigned n_in_trials = 0;
    for (unsigned n = 40; n < 120; n++) {
        begin_program(hill, n);
        open_program();
        run_to_its_end();
        n_in_trials += tuned.online.step == ONLINE_TRYING;
        assert_close(in_force(), tuned.online.mind[0].best.values[0], 0);
        retune_online_close(&tuned);
    }
    assert_true(n_in_trials > 0);
}

TEST(the_duration_ends_it_too)
{
    read_config("duration = \"30s\";");
    open_program();
    run_to_its_end();
    assert_int_equal(program.n_slices, 30);
    assert_false(tuned.interrupted);
    retune_online_close(&tuned);
}

/* The first change is the one at the beginning. */
TEST(a_hook_that_fails_ends_it_with_the_first_setting)
{
    program.fail_put = 4;
    open_program();
    ends_with(-EREMOTEIO, "the hook command failed with exit code 1; the first setting is back: block=16k");
    assert_int_equal(program.n_put, 5);
    assert_int_equal(in_force(), 1);
}

TEST(a_hook_that_fails_for_good_is_said)
{
    program.fail_put = 4;
    program.fail_all = true;
    open_program();
    ends_with(-EREMOTEIO, "the first setting, block=16k, cannot be put back: the hook command failed");
}

TEST(a_hook_that_fails_at_once_is_said)
{
    program.fail_put = 1;
    assert_int_equal(retune_online_open(&tuned, &config, &world, &err), -EREMOTEIO);
    assert_non_null(strstr(err.text, "the first setting is back: block=16k"));
}

TEST(a_counter_that_goes_back_ends_it)
{
    program.back_at = 20;
    open_program();
    ends_with(-ERANGE, "to 1; it has to grow");
    assert_non_null(strstr(err.text, "the first setting stays: block=16k"));
}

TEST(a_counter_that_vanishes_after_the_choice_brings_the_first_setting_back)
{
    program.gone_at = 1200;
    open_program();
    ends_with(-ENOENT, "counter /x: cannot be opened; the first setting is back: block=16k");
    assert_true(program.n_run[3] > 100);
    assert_int_equal(in_force(), 1);
}

TEST(a_value_that_stops_the_work_is_tried_for_one_slice_at_a_time)
{
    static const double dead[] = {0, 1, 1.3, 0, 0};
    begin_program(dead, 3000);
    open_program();
    run_to_its_end();
    assert_int_equal(in_force(), 2);
    assert_true(cost_share() < 0.03);
    assert_true(program.n_run[0] + program.n_run[3] + program.n_run[4] < 60);
    retune_online_close(&tuned);
}

TEST(a_program_that_does_nothing_is_left_alone)
{
    static const double none[RIG_VALUES] = {0};
    begin_program(none, 200);
    open_program();
    run_to_its_end();
    assert_int_equal(program.n_put, 1);
    assert_int_equal(tuned.online.n_trials, 0);
    retune_online_close(&tuned);
}

/* A trial costs 20 slices, because nothing is done during its two changes. */
TEST(the_time_of_changes_is_paid_for)
{
    program.put_ns = 10 * SLICE_NS;
    open_program();
    run_to_its_end();
    assert_true(tuned.online.n_trials >= 1);
    assert_true(cost_share() > 0.01 && cost_share() < 0.03);
    retune_online_close(&tuned);
}

TEST(slices_in_which_we_were_stopped_do_not_count)
{
    program.stops = true;
    open_program();
    run_to_its_end();
    assert_int_equal(tuned.online.n_trials, 0);
    retune_online_close(&tuned);
}

/* The first word is known; no other one can come behind these. */
static void know_all_kinds(void)
{
    for (unsigned i = 1; i < KIND_N; i++)
        snprintf(tuned.kinds[i], sizeof tuned.kinds[i], "w%u", i);
    tuned.n_kinds = KIND_N;
}

static void go_on(bool has_words, unsigned n_slices)
{
    memset(program.n_run, 0, sizeof program.n_run);
    program.has_words = has_words;
    program.end_ns += n_slices * SLICE_NS;
    run_to_its_end();
}

TEST(a_load_beyond_those_that_are_told_apart_runs_with_the_first_setting)
{
    open_program();
    know_all_kinds();
    run_to_its_end();
    assert_int_equal(in_force(), 3);
    go_on(true, 100);
    assert_int_equal(in_force(), 1);
    assert_int_equal(program.n_run[3], 2);
    assert_int_equal(program.n_run[1], 98);
    go_on(false, 100);
    assert_int_equal(in_force(), 3);
    assert_true(program.n_run[3] > 80);
    retune_online_close(&tuned);
}

TEST(a_word_beyond_those_for_one_slice_changes_nothing)
{
    open_program();
    know_all_kinds();
    run_to_its_end();
    unsigned n_put = program.n_put;
    go_on(true, 1);
    go_on(false, 1);
    go_on(true, 1);
    assert_int_equal(program.n_put, n_put);
    assert_int_equal(in_force(), 3);
    retune_online_close(&tuned);
}

/* Each lasts 40 slices, and the last one that ended did so after 999. */
TEST(ends_of_loads_that_come_regularly_are_foreseen)
{
    struct phases_forecast next;
    program.has_words = true;
    program.swap_every = 40;
    program.end_ns = 1010 * SLICE_NS;
    open_program();
    run_to_its_end();
    assert_true(phases_foresee(&tuned.online.phases, &next));
    assert_close(next.seconds, 1039, 0.5);
    assert_int_equal(next.kind, 1 - program.load);
    retune_online_close(&tuned);
}

TEST(more_words_than_kinds_are_said_once)
{
    open_program();
    know_all_kinds();
    program.has_words = true;
    run_to_its_end();
    assert_true(tuned.is_full);
    assert_int_equal(tuned.n_kinds, KIND_N);
    assert_int_equal(tuned.online.n_trials, 0);
    retune_online_close(&tuned);
}

TEST(lines_and_the_document_say_what_was_found)
{
    struct retune_online_world talking = world;
    AUTO(auto_free) char *text = NULL;
    size_t n = 0;
    talking.out = open_memstream(&text, &n);
    assert_int_equal(retune_online_open(&tuned, &config, &talking, &err), 0);
    run_to_its_end();
    retune_online_print(talking.out, &tuned);
    json_t *document = retune_online_document(&tuned);
    fclose(talking.out);
    assert_non_null(strstr(text, "load: block=256k, 1.8"));
    assert_non_null(strstr(text, "in force: block=256k; "));
    assert_string_equal(json_string_value(json_at(document, "in_force")), "block=256k");
    assert_true(json_is_true(json_at(json_array_get(json_object_get(document, "kinds"), 0), "settled")));
    json_decref(document);
    retune_online_close(&tuned);
}
