/* Tests of `fstune retune` as a user runs it, on simulated surfaces. */
#include "tests/tuner/commands/cli_rig.h"

#include <signal.h>

GROUP(rig_enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define ROLLBACK "retune rollback --config n.conf --target vm1"

static double half_bps(const struct point *point)
{
    return rig_peak_bps(point) / 2;
}

FIXTURE(setup)
{
    char here[256];
    if (system("rm -rf * .fstune-*") != 0 || getcwd(here, sizeof here) == NULL)
        return -1;
    rig_simulator("s", "run_cv = 0.02;", rig_peak_bps);
    rig_write("n.conf",
              "db = \"h.db\"; seed = 7; first_budget = \"60s\"; budget = \"20s\"; simulate = \"s.conf\"; "
              "targets = ( { name = \"vm1\"; pattern = \"randwrite\"; emit = \"shell\"; snippet = "
              "\"%s/vm1.env\"; } );",
              here);
    return 0;
}

EACH_TEST(setup, NULL);

/* The night's document. */
static json_t *night(int code)
{
    json_t *document = cli_json(code, "retune --config n.conf --json");
    cli_has_text(document, "schema", "fstune/retune/1");
    assert_int_equal(cli_integer(document, "exit_code"), code);
    return document;
}

static void wait_for(const char *file)
{
    for (unsigned i = 0; i < 6000 && !rig_exists(file); i++)
        usleep(10000);
    assert_true(rig_exists(file));
}

static void stop_when_there(const char *file)
{
    wait_for(file);
    assert_int_equal(kill(run.pid, SIGTERM), 0);
    rig_finish(&run);
}

static const char *of_target(const json_t *document, const char *key)
{
    const json_t *target = json_array_get(json_object_get(document, "targets"), 0);
    return json_string_value(json_object_get(target, key));
}

TEST(the_first_night_applies_and_the_second_changes_nothing)
{
    json_t *document = night(0);
    assert_string_equal(of_target(document, "verdict"), "first");
    assert_string_equal(of_target(document, "action"), "applied");
    const json_t *target = json_array_get(json_object_get(document, "targets"), 0);
    const json_t *answer = json_object_get(target, "document");
    cli_has_text(answer, "schema", "fstune/recommendation/1");
    assert_int_equal(system("grep -q '^FSTUNE_API=io_uring$' vm1.env && cp vm1.env kept"), 0);
    document = night(0);
    assert_string_equal(of_target(document, "verdict"), "no_change");
    assert_string_equal(of_target(document, "action"), "stays");
    assert_true(json_is_null(json_object_get(document, "reason")));
    assert_int_equal(system("cmp -s vm1.env kept"), 0);
}

TEST(half_the_throughput_ends_with_4_and_one_line)
{
    for (unsigned i = 0; i < 4; i++)
        night(0);
    rig_simulator("s", "run_cv = 0.02;", half_bps);
    rig_run_line(cli_next(), "retune --config n.conf --json");
    assert_int_equal(run.code, 4);
    json_t *document = cli_document();
    const char *reason = json_string_value(json_object_get(document, "reason"));
    assert_non_null(reason);
    assert_non_null(strstr(run.err, reason));
    assert_int_equal(strncmp(run.err, "fstune: vm1: ", 13), 0);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1);
}

TEST(a_rollback_exchanges_the_files)
{
    rig_write("vm1.env", "mine\n");
    night(0);
    cli_prints(0, ROLLBACK, "vm1: rolled back", NULL);
    assert_int_equal(system("grep -qx mine vm1.env && grep -q FSTUNE_API vm1.env.previous"), 0);
    cli_fails(2, "--target is missing", "retune rollback --config n.conf");
}

TEST(a_dry_rollback_says_what_would_come_back)
{
    rig_write("vm1.env", "mine\n");
    night(0);
    assert_int_equal(system("cp vm1.env before"), 0);
    cli_prints(0, ROLLBACK " --dry-run", "vm1: would be rolled back: ", "setting: not known", NULL);
    json_t *document = cli_json(0, ROLLBACK " --dry-run --json");
    CHECK_JSON(document, "dry_run=true", "in_force=null");
    assert_int_equal(system("cmp -s vm1.env before && grep -qx mine vm1.env.previous"), 0);
    cli_prints(0, ROLLBACK, NULL); /* nothing was recorded before */
    assert_int_equal(system("grep -qx mine vm1.env"), 0);
}

TEST(a_rollback_is_not_overruled_by_the_next_nights)
{
    rig_write("vm1.env", "mine\n");
    night(0);
    cli_prints(0, ROLLBACK, NULL);
    for (unsigned i = 0; i < 3; i++) {
        rig_run_line(cli_next(), "retune --config n.conf");
        assert_null(strstr(run.out, "  advice      applied"));
        assert_int_equal(system("grep -qx mine vm1.env"), 0);
    }
}

/* The first is in its apply command when the second comes. */
TEST(a_rollback_waits_for_a_night_that_applies)
{
    static const char *const arguments[] = {"retune", "--config", "n.conf", NULL};
    struct rig_run first = {0};
    rig_write("vm1.env", "mine\n");
    assert_int_equal(system("sed -i 's/emit = /apply = \"touch applying; sleep 1\"; emit = /' n.conf"), 0);
    rig_start(&first, NULL, arguments);
    wait_for("applying");
    cli_prints(0, ROLLBACK, NULL);
    rig_finish(&first);
    assert_int_equal(first.code, 0);
    assert_non_null(strstr(first.out, "applied: "));
    rig_free(&first);
    assert_int_equal(system("grep -qx mine vm1.env && grep -q FSTUNE_API vm1.env.previous"), 0);
}

TEST(a_dry_run_finds_a_directory_that_is_not_there)
{
    assert_int_equal(system("sed -i 's|/vm1.env|/no/vm1.env|' n.conf"), 0);
    cli_fails(1, "no/vm1.env", "retune --config n.conf --dry-run --json");
}

TEST(an_interrupted_night_has_its_code_in_json)
{
    static const char *const arguments[] = {"retune", "--config", "n.conf", "--json", NULL};
    assert_int_equal(system("sed -i 's/emit = /apply = \"sleep 20\"; emit = /' n.conf"), 0);
    rig_start(cli_next(), NULL, arguments);
    stop_when_there("vm1.env");
    assert_int_equal(run.code, 128 + SIGTERM);
    json_t *document = cli_document();
    assert_int_equal(cli_integer(document, "exit_code"), 128 + SIGTERM);
}

static bool ignore_ends_of_children(void)
{
    return signal(SIGCHLD, SIG_IGN) != SIG_ERR;
}

TEST(a_failed_check_counts_whatever_signals_the_caller_ignored)
{
    rig_write("vm1.env", "mine\n");
    assert_int_equal(system("sed -i 's/emit = /check = \"exit 1\"; emit = /' n.conf"), 0);
    rig_run(cli_next(), ignore_ends_of_children, "retune", "--config", "n.conf", NULL);
    assert_int_equal(run.code, 1);
    assert_non_null(strstr(run.err, "the check command failed with exit code 1"));
    assert_int_equal(system("grep -qx mine vm1.env"), 0);
}

TEST(an_interrupted_rollback_has_the_signals_code)
{
    static const char *const arguments[] = {"retune",   "rollback", "--config", "n.conf",
                                            "--target", "vm1",      NULL};
    rig_write("vm1.env", "mine\n");
    night(0);
    assert_int_equal(
        system(
            "sed -i 's/emit = /rollback = \"test -e going || { touch going; sleep 20; }\"; emit = /' n.conf"),
        0);
    rig_start(cli_next(), NULL, arguments);
    stop_when_there("going");
    cli_failed(128 + SIGTERM, "interrupted");
    assert_int_equal(system("grep -qx mine vm1.env.previous && grep -q FSTUNE_API vm1.env"), 0);
}

TEST(nothing_to_go_back_to_is_exit_1)
{
    cli_fails(1, "vm1: no change of it is in the history", ROLLBACK);
}

TEST(a_dry_run_touches_nothing)
{
    const size_t n = rig_count_entries(".");
    cli_prints(0, "retune --config n.conf --dry-run",
               "vm1: pattern randwrite in s.conf; first tune 1m 0s, a night 20.0 s",
               "not known; the first tune decides", NULL);
    json_t *document = cli_json(0, "retune --config n.conf --dry-run --json");
    assert_true(json_is_true(json_object_get(document, "dry_run")));
    assert_int_equal(rig_count_entries("."), n);
}

TEST(the_command_line_wins_over_the_file)
{
    cli_prints(0, "retune --config n.conf --db other.db --prometheus f.prom", NULL);
    assert_true(rig_exists("other.db"));
    assert_false(rig_exists("h.db"));
    assert_int_equal(system("grep -q 'fstune_verdict_info{target=\"vm1\",verdict=\"first\"} 1' f.prom"), 0);
}

TEST(wrong_words_are_exit_2)
{
    cli_fails(2, "--config is missing", "retune");
    cli_fails(2, "'rolback' is no action of retune; there is rollback", "retune rolback --config n.conf");
    rig_write("bad.conf", "targets = ( {\nnmae = \"a\"; } );");
    cli_fails(2, "bad.conf:2: nmae: unknown setting; did you mean name?", "retune --config bad.conf");
}

TEST(a_history_that_is_none_is_left_alone)
{
    rig_write("h.db", "my diary\n");
    rig_run_line(cli_next(), "retune --config n.conf");
    assert_true(run.code == 1 || run.code == 2);
    assert_string_equal(run.out, "");
    assert_int_equal(system("grep -qx 'my diary' h.db"), 0);
}
