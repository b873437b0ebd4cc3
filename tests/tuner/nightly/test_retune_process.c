/* Tests of tuner/nightly/retune_process: what becomes of a target whose process dies, hangs or answers. */
#include "tests/tuner/nightly/retune_rig.h"
#include "tuner/base/interrupt.h"

GROUP(rig_enter, rig_leave);

/* Two targets: the first meets `trouble`, the second has an ordinary night. */
static int (*trouble)(struct err *night_err);

static int troubled_night(const struct retune_request *request, struct retune_result *ret_result,
                          struct err *night_err)
{
    if (strcmp(request->settings->file.path, "/a") == 0 && trouble != NULL)
        return trouble(night_err);
    next.verdict = NIGHT_FIRST;
    next.remember = true;
    return night(request, ret_result, night_err);
}

FIXTURE(set_up)
{
    if (enter(test_state) != 0)
        return -1;
    history_close(&history); /* a connection must not go through a fork */
    trouble = NULL;
    configure_all("pattern = \"randwrite\"; no_lock = true; hook_timeout = \"5s\"; targets = ( { name = "
                  "\"one\"; path = \"/a\"; }, { name = \"two\"; path = \"/b\"; } );");
    return 0;
}

EACH_TEST(set_up, leave);

static const struct retune_outcome *run_apart(int (*what)(struct err *night_err), uint64_t slack_ns)
{
    struct retune_world world = world_of();
    world.history = NULL;
    world.measure = troubled_night;
    world.force = true;
    world.apart = true;
    world.slack_ns = slack_ns;
    trouble = what;
    for (size_t i = 0; i < config.n_targets; i++)
        config.targets[i].first_budget_ns = config.targets[i].settings.limits.budget_ns = 0;
    run_world(world, "");
    assert_int_equal(report.n, 2);
    assert_int_equal(n_asked, 0); /* not in this process */
    return report.outcomes;
}

static void check_second(const struct retune_outcome *outcome)
{
    assert_true(outcome->measured && !outcome->failed);
    assert_int_equal(outcome->night.verdict, NIGHT_FIRST);
    json_auto_t *expected = document_of(&quick);
    assert_true(json_equal(outcome->night.document, expected));
}

TEST(what_was_measured_arrives_whole_and_is_remembered)
{
    const struct history_place place = {.path = "h.db"};
    AUTO(auto_free) struct history_change *changes = NULL;
    size_t n = 0;
    const struct retune_outcome *outcomes = run_apart(NULL, RETUNE_SLACK_NS);
    check_second(&outcomes[0]);
    check_second(&outcomes[1]);
    assert_ptr_equal(outcomes[1].target, &config.targets[1]);
    assert_int_equal(report.exit_code, 0);
    assert_int_equal(history_open(&history, &place, &err), 0);
    assert_int_equal(history_list_changes(&history, "two", NULL, 0, 9, &changes, &n, &err), 0);
    assert_int_equal(n, 1);
}

static int die(struct err *night_err)
{
    (void)night_err;
    kill(getpid(), SIGKILL);
    return 0;
}

static int hang(struct err *night_err)
{
    (void)night_err;
    signal(SIGTERM, SIG_IGN);
    while (getppid() != 0)
        pause();
    return 0;
}

static int be_late(struct err *night_err)
{
    atomic_store(&interrupted, INTERRUPT_LATE);
    return err_set(night_err, -ETIME, "the time is over");
}

TEST(a_process_in_trouble_is_one_target_that_failed)
{
    static const struct {
        int (*trouble)(struct err *night_err);
        uint64_t slack_ns;
        const char *text;
    } cases[] = {
        {die, RETUNE_SLACK_NS, "its process was ended by signal 9 (is memory short? see dmesg)"},
        {hang, CLOCK_NS_PER_S, "did not end in time and was killed"},
        {be_late, RETUNE_SLACK_NS, "the time is over"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        const struct retune_outcome *outcomes = run_apart(cases[i].trouble, cases[i].slack_ns);
        assert_true(outcomes[0].failed && outcomes[0].exit_code == 1 && report.exit_code == 1);
        assert_string_equal(outcomes[0].text, cases[i].text);
        assert_true(atomic_load(&interrupted) == 0 && !report.interrupted);
        check_second(&outcomes[1]);
    }
}

/* The parent's flag is set while the first target is under way. */
static void on_alarm(int number)
{
    (void)number;
    atomic_store(&interrupted, SIGTERM);
}

TEST(a_signal_ends_even_one_that_hangs_and_the_next_is_not_begun)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    alarm(1);
    const struct retune_outcome *outcomes = run_apart(hang, RETUNE_SLACK_NS);
    assert_true(report.interrupted && !outcomes[0].failed && !outcomes[0].not_begun);
    assert_string_equal(outcomes[0].text, "did not end in time and was killed");
    assert_true(outcomes[1].not_begun);
}
