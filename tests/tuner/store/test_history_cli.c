/* Tests of `fstune history` and of --save and --db, with the built program on simulated surfaces. What list,
 * show and compare print is in tests/golden/expected/history and history-json. */
#include "tests/tuner/store/history_rig.h"

#include <signal.h>
#include <sys/resource.h>

#define RECOMMEND "recommend --quiet --pattern randwrite --simulate peak.conf --budget 8s "
#define MEASURE                                                                                              \
    "measure --quiet --pattern randwrite --simulate peak.conf --request-size 64k --queue-depth 4 --direct "  \
    "1 "                                                                                                     \
    "--api io_uring --replays 3 --duration 100ms "

static struct rig_run run;

/* The run is kept until the next line. */
static void go(const char *line)
{
    rig_free(&run);
    rig_run_line(&run, line);
}

static void succeed(const char *line)
{
    go(line);
    if (run.code != 0)
        fail_msg("%s: exit code %d: %s", line, run.code, run.err);
}

static void refuse(const char *line, const char *part)
{
    go(line);
    rig_check_error(&run, 2, part);
}

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    go(RECOMMEND "--seed 1 --save h.db");
    go(RECOMMEND "--seed 2 --save h.db");
    go(MEASURE "--seed 3 --save h.db");
    return rig_exists("h.db") ? 0 : -1;
}

GROUP(enter, rig_leave);
EACH_TEST(NULL, drop_history);
GROUP_NEEDS(rig_find_program);

/* The document of a line; the next one takes its place. */
static json_t *json_of(const char *line)
{
    static json_t *document;
    succeed(line);
    json_t *next = rig_json(&run);
    json_decref(document);
    return document = next;
}

TEST(saving_changes_nothing_that_is_printed)
{
    AUTO(rig_free) struct rig_run plain;
    rig_run_line(&plain, RECOMMEND "--seed 5 --json");
    go(RECOMMEND "--seed 5 --json --save other.db");
    assert_int_equal(run.code, plain.code);
    assert_string_equal(run.out, plain.out);
    assert_string_equal(run.err, "");
}

TEST(the_kept_answer_is_the_printed_one)
{
    json_auto_t *answer = json_incref(json_of(RECOMMEND "--seed 9 --json --save kept.db"));
    json_t *shown = json_of("history show 1 --db kept.db --json");
    assert_true(json_equal(json_object_get(shown, "answer"), answer));
    /* Every run that the search made and kept is there. */
    size_t n = 0, n_aside = 0, i;
    json_t *row;
    json_array_foreach(json_object_get(answer, "points"), i, row) n +=
        (size_t)json_integer_value(json_object_get(row, "replays"));
    json_array_foreach(json_object_get(shown, "runs"), i, row)
    {
        n_aside += json_is_true(json_object_get(row, "aside"));
    }
    size_t n_kept = json_array_size(json_object_get(shown, "runs")) - n_aside;
    assert_true(n_kept >= n);
}

TEST(two_nights_are_compared)
{
    json_t *document = json_of("history compare 1 2 --db h.db --json");
    assert_true(json_is_true(json_object_get(document, "same_fingerprint")));
    assert_true(json_array_size(json_object_get(document, "points")) > 0);
    assert_true(json_is_object(json_object_get(document, "answer")));
}

TEST(csv_has_a_line_for_each_replay_and_disarms_formulas)
{
    begin_history("csv.db");
    int64_t run_id = begin_run("measure", "=cmd|' /C calc'!A1", "a \"host\", with\nall");
    add_replays(run_id, &fast, (const double[]){1e8, 2e8}, 2, 0);
    history_close(&history);
    succeed("history export --db csv.db");
    CHECK_HAS(run.out, ",\"'=cmd|' /C calc'!A1\",", ",\"a \"\"host\"\", with\nall\",");
    size_t n_ends = 0;
    for (const char *end = run.out; (end = strstr(end, "\r\n")) != NULL; end++)
        n_ends++;
    assert_int_equal(n_ends, 3);
    json_t *document = json_of("history export --db csv.db --format json");
    const json_t *first = json_array_get(json_object_get(document, "runs"), 0);
    assert_int_equal(json_array_size(json_object_get(first, "runs")), 2);
}

TEST(snippets_come_from_the_history)
{
    succeed("emit shell --db h.db --run 1");
    static const char *const cases[][2] = {
        {"emit shell --db h.db --run 3", "no answer of `fstune recommend"},
        {"emit shell --db h.db --run 9", "there is no run 9"},
        {"emit shell --db missing.db", "missing.db"},
        {"emit shell --db h.db --from x.json", "--from and --db"},
    };
    for (size_t i = 0; i < N_OF(cases); i++)
        refuse(cases[i][0], cases[i][1]);
}

TEST(wrong_words_are_answered_with_the_right_ones)
{
    static const char *const cases[][2] = {
        {"history", "use list, show"},
        {"history lits --db h.db", "did you mean list"},
        {"history show --db h.db", "fstune history show ID"},
        {"history show x --db h.db", "'x' is no number of a run"},
        {"history prune --db h.db", "--keep N"},
        {"history prune --older-than 90 --db h.db", "is not an age"},
        {"history prune --summarise 90 --db h.db", "is not an age"},
        {"history list --db peak.conf", "no history of fstune"},
        {"history merge peak.conf --db h.db", "no history of fstune"},
    };
    for (size_t i = 0; i < N_OF(cases); i++)
        refuse(cases[i][0], cases[i][1]);
}

TEST(nothing_is_made_of_what_is_no_history)
{
    refuse("history merge h.db peak.conf --db new.db", "no history of fstune");
    assert_int_equal(access("new.db", F_OK), -1);
}

TEST(many_files_are_merged_at_once)
{
    succeed("history merge h.db h.db h.db h.db h.db h.db h.db h.db h.db h.db h.db h.db --db many.db");
    size_t n = 0;
    for (const char *line = strstr(run.out, "taken over"); line != NULL;
         line = strstr(line + 1, "taken over"))
        n++;
    assert_int_equal(n, 12);
}

TEST(pruning_by_age_and_verifying_work_from_outside)
{
    succeed("history merge h.db --db merged.db");
    go("history prune --older-than 36500d --db merged.db");
    assert_string_equal(run.out, "0 runs removed\n");
    go("history prune --summarise 1d --db merged.db");
    assert_string_equal(run.out, "0 runs summarised\n");
    run_sql("merged.db", "DELETE FROM replays WHERE run_id = 2 AND number = 0");
    go("history verify --db merged.db");
    assert_int_equal(run.code, 1);
    assert_non_null(strstr(run.out, "run 2: replays: "));
}

TEST(a_strange_database_is_refused_before_anything_is_measured)
{
    refuse(RECOMMEND "--save peak.conf", "no history of fstune");
    refuse(MEASURE "--save no/folder/h.db", "no/folder/h.db");
}

TEST(a_dry_run_makes_no_history)
{
    succeed(RECOMMEND "--dry-run --save dry.db");
    assert_false(rig_exists("dry.db"));
}

/* The log grows with every replay: some fit, then none. */
static bool limit_file_size(void)
{
    const struct rlimit limit = {200000, 200000};
    return signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

TEST(a_full_disk_costs_the_history_and_not_the_answer)
{
    AUTO(rig_free) struct rig_run plain;
    rig_run_line(&plain, RECOMMEND "--seed 4 --json");
    rig_free(&run);
    rig_run_line_as(&run, limit_file_size, RECOMMEND "--seed 4 --json --save full.db");
    assert_int_equal(run.code, plain.code);
    json_auto_t *answer = rig_json(&run), *expected = rig_json(&plain);
    assert_true(
        json_equal(json_object_get(answer, "recommendation"), json_object_get(expected, "recommendation")));
    assert_true(json_equal(json_object_get(answer, "throughput"), json_object_get(expected, "throughput")));
    assert_non_null(strstr(run.out, "history_lost"));
    assert_int_equal(strncmp(run.err, "fstune: warning: full.db is not complete", 40), 0);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1);
    /* What fitted is there. */
    reopen_history("full.db", false);
    const struct history_info info = info_of(1);
    assert_int_equal(info.status, HISTORY_UNFINISHED);
    assert_true(info.n_replays > 0);
    assert_int_equal(n_findings(), 0);
}

TEST(decisions_are_listed_with_their_evidence)
{
    begin_history("decisions.db");
    succeed("history changes --db decisions.db");
    assert_non_null(strstr(run.out, "No decisions"));
    int64_t run_id = add_whole_run(1e8);
    add_decision(HISTORY_CHANGE_SKIPPED, 0, "on battery");
    add_decision(HISTORY_CHANGE_MADE, run_id, "two nights agree: +33 %");
    add_decision(HISTORY_CHANGE_ALARM, 0, "slower\033[2J");
    history_close(&history);
    succeed("history changes --db decisions.db");
    const char *skipped = strstr(run.out, "on battery"), *made = strstr(run.out, "two nights agree: +33 %");
    assert_true(skipped != NULL && made != NULL && skipped < made);
    CHECK_HAS(run.out, "4k x 1, buffered, psync -> 64k", "of run 1", "slower?[2J");
    json_t *document = json_of("history changes --db decisions.db --json --limit 2");
    const json_t *rows = json_object_get(document, "changes");
    assert_int_equal(json_array_size(rows), 2);
    CHECK_JSON(rows, "0.kind=change", "1.kind=alarm");
    document = json_of("history show 1 --db decisions.db --json");
    assert_int_equal(json_array_size(json_object_get(document, "changes")), 1);
    document = json_of("history export --db decisions.db --json");
    assert_int_equal(json_array_size(json_object_get(document, "changes")), 3);
    go("history show 1 --db decisions.db");
    CHECK_HAS(run.out, "two nights agree", "-on battery");
}

TEST(runs_that_do_not_compare_are_refused)
{
    begin_history("pairs.db");
    add_whole_run(1e8);
    add_whole_run(2e8);
    history_close(&history);
    run_sql("pairs.db", "UPDATE runs SET pattern = 'read' WHERE id = 2");
    refuse("history compare 1 1 --db pairs.db", "name two runs");
    refuse("history compare 1 2 --db pairs.db", "run 1 is of pattern randwrite, run 2 of read");
}

TEST(texts_of_other_machines_do_not_reach_the_terminal)
{
    static const char *const lines[] = {"history list --db evil.db", "history show 1 --db evil.db",
                                        "history changes --db evil.db", "history export --db evil.db"};
    begin_history("evil.db");
    add_whole_run(1e8);
    add_decision(HISTORY_CHANGE_MADE, 1, "text");
    history_close(&history);
    run_sql("evil.db",
            "UPDATE runs SET uuid = char(27) || 'u', command = char(27) || '[2J', name = char(27) || "
            "char(155) || '[2J'; UPDATE hosts SET name = char(27) || '[2J'; UPDATE changes SET "
            "target = char(155) || 'T'; UPDATE targets SET identity = "
            "'{\"file_system\":\"' || char(127) || '\"}', fingerprint = char(27)");
    for (size_t i = 0; i < N_OF(lines); i++) {
        succeed(lines[i]);
        for (const char *c = run.out; *c != '\0'; c++) {
            bool is_end = *c == '\n' || (*c == '\r' && c[1] == '\n');
            if ((((unsigned char)*c < ' ' || *c == 127) && !is_end) || *c == '\xc2')
                fail_msg("%s: byte %d in %s", lines[i], *c, run.out);
        }
    }
}
