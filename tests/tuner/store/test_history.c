/* Tests of tuner/store/history: what is written is read, by filter, and pruned. */
#include "tests/tuner/store/history_rig.h"
#include "tuner/store/database.h"

#include <errno.h>
#include <sys/stat.h>

GROUP(rig_enter, rig_leave);

EACH_TEST(fresh_history, drop_history);

TEST(a_replay_is_read_as_it_was_written)
{
    AUTO(auto_free) struct history_replay *replays;
    size_t n;
    int64_t run_id = begin_run("measure", "", "alpha");
    struct history_replay made = replay_of(0, &fast, 1e9 / 3);
    snprintf(made.conditions, sizeof made.conditions, "pattern=randread cache=cold");
    assert_int_equal(history_add_replay(&history, run_id, &made, &err), 0);
    assert_int_equal(history_replays(&history, run_id, &replays, &n, &err), 0);
    assert_int_equal(n, 1);
    check_same(&replays[0], &made);
    assert_int_equal(replays[0].windows.n, 100);
    assert_close(replays[0].windows.most_bps, made.windows.most_bps, 1e-6);
    assert_string_equal(replays[0].conditions, made.conditions);
    assert_false(replays[0].aside);
    free(replays);
    assert_int_equal(history_set_aside(&history, run_id, &err), 0);
    assert_int_equal(history_replays(&history, run_id, &replays, &n, &err), 0);
    assert_true(replays[0].aside);
}

TEST(a_file_is_its_owners_alone)
{
    struct stat status;
    assert_int_equal(stat("h.db", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    begin_run("measure", "", "alpha");
    assert_int_equal(stat("h.db-wal", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    history_close(&history);
    assert_false(rig_exists("h.db-wal"));
}

/* What lies beside a database is played back into it. */
TEST(root_opens_none_where_others_can_write)
{
    const struct history_place place = {.path = "shared/h.db", .write = true};
    if (geteuid() != 0) {
        print_message("is about root\n");
        skip();
    }
    history_close(&history);
    assert_true(mkdir("shared", 0755) == 0 && chmod("shared", 01777) == 0);
    assert_int_equal(history_open(&history, &place, &err), -EPERM);
    assert_non_null(strstr(err.text, "history shared/h.db: "));
    assert_int_equal(rig_count_entries("shared"), 0);
    assert_int_equal(chmod("shared", 0755), 0);
    assert_int_equal(history_open(&history, &place, &err), 0);
    history_close(&history);
    assert_int_equal(chown("shared/h.db", 65534, 65534), 0);
    assert_int_equal(history_open(&history, &place, &err), -EPERM);
    assert_int_equal(chown("shared", 65534, 65534), 0);
    assert_int_equal(history_open(&history, &place, &err), 0);
}

TEST(a_run_without_end_stays_unfinished_with_its_replays)
{
    json_t *document = NULL;
    int64_t run_id = begin_run("recommend", "", "alpha");
    add_replays(run_id, &fast, (const double[]){1e8, 2e8}, 2, 0);
    reopen_history("h.db", false);
    const struct history_info info = info_of(run_id);
    assert_int_equal(info.status, HISTORY_UNFINISHED);
    assert_int_equal(info.exit_code, -1);
    assert_int_equal(info.n_replays, 2);
    assert_true(isnan(info.finished_s));
    assert_false(info.has_point);
    assert_int_equal(history_document(&history, run_id, &document, &err), -ENODATA);
    assert_int_equal(history_document(&history, 0, &document, &err), -ENODATA);
    assert_int_equal(history_document(&history, 99, &document, &err), -ENOENT);
}

TEST(the_end_of_a_run_keeps_its_recommendation)
{
    json_t *document = NULL, *settings = NULL, *system = NULL;
    int64_t run_id = add_whole_run(3e8);
    now_s += 60;
    const struct history_info info = info_of(run_id);
    assert_int_equal(info.status, HISTORY_DONE);
    assert_int_equal(info.exit_code, 0);
    assert_true(info.has_point && info.conclusive);
    assert_close(info.mean_bps, 3e8, 1);
    assert_close(info.started_s, 1.8e9, 1e-3);
    assert_string_equal(info.file_system, "ext4");
    assert_string_equal(info.host, "alpha");
    assert_string_equal(info.target, "vms");
    begin_run("recommend", "vms", "alpha"); /* has none yet, so that the newest is that one's */
    assert_int_equal(history_document(&history, 0, &document, &err), 0);
    json_auto_t *expected = answer_of(3e8);
    assert_true(json_equal(document, expected));
    json_decref(document);
    assert_int_equal(history_circumstances(&history, run_id, &settings, &system, &err), 0);
    assert_string_equal(json_string_value(json_object_get(system, "kernel")), "6.1");
    json_decref(settings);
    json_decref(system);
    assert_int_equal(history_finish_run(&history, run_id, HISTORY_DONE, 0, NULL, &err), -ENOENT);
    assert_int_equal(n_findings(), 0);
}

TEST(a_run_of_measure_has_the_interval_of_its_replays)
{
    int64_t run_id = begin_run("measure", "", "alpha");
    add_replays(run_id, &fast, (const double[]){1e8, 2e8, 3e8}, 3, 0);
    assert_int_equal(history_finish_run(&history, run_id, HISTORY_DONE, 0, NULL, &err), 0);
    const struct history_info info = info_of(run_id);
    assert_true(info.has_point);
    assert_close(info.mean_bps, 2e8, 1);
    /* t(0.975, 2) = 4.302653 */
    assert_close(info.ci_high_bps, 2e8 + 4.302653 * 1e8 / sqrt(3), 1e3);
}

static size_t count_runs(struct history_filter filter)
{
    struct history_info *runs;
    size_t n;
    assert_int_equal(history_list_runs(&history, &filter, &runs, &n, &err), 0);
    for (size_t i = 1; i < n; i++)
        assert_true(runs[i - 1].started_s >= runs[i].started_s);
    free(runs);
    return n;
}

static void check_pruned(size_t keep, double before_s, size_t expected)
{
    size_t n_removed = 0;
    assert_int_equal(history_prune(&history, keep, before_s, &n_removed, &err), 0);
    assert_int_equal(n_removed, expected);
}

/* A clock that was wrong for a night must not make that night the newest for ever, nor the next one the
 * oldest. */
TEST(the_order_is_that_of_writing_whatever_the_clock_says)
{
    static const double years[] = {0, 20, -30, 0.1};
    const size_t n_years = sizeof years / sizeof years[0];
    struct history_info *runs;
    json_auto_t *document = NULL;
    size_t n;
    for (size_t i = 0; i < n_years; i++) {
        now_s = 1.8e9 + years[i] * 365 * SECONDS_OF_A_DAY;
        add_whole_run(1e8 * (double)(i + 1));
    }
    const struct history_filter any = {0};
    assert_int_equal(history_list_runs(&history, &any, &runs, &n, &err), 0);
    assert_int_equal(n, n_years);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(runs[i].id, n - i);
    free(runs);
    assert_int_equal(history_document(&history, 0, &document, &err), 0);
    assert_close(json_real_value(json_object_get(json_object_get(document, "throughput"), "mean")), 4e8, 1);
    check_pruned(2, 0, 2);
    assert_int_equal(history_list_runs(&history, &any, &runs, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_int_equal(runs[0].id, 4);
    assert_int_equal(runs[1].id, 3);
    free(runs);
}

TEST(a_log_is_kept_where_no_other_machine_can_be)
{
    static const uint32_t local[] = {0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x2fc12fc1, 0x794c7630};
    static const uint32_t shared[] = {0x6969, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x00c36400};
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        assert_non_null(strstr(database_journal_mode(local[i]), "WAL"));
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        assert_non_null(strstr(database_journal_mode(shared[i]), "DELETE"));
}

TEST(a_filter_takes_what_it_names)
{
    char fingerprint[HISTORY_FINGERPRINT_SIZE];
    add_whole_run(1e8);
    now_s += 10;
    begin_run("measure", "", "beta");
    history_fingerprint(identity, fingerprint);
    assert_int_equal(count_runs((struct history_filter){0}), 2);
    assert_int_equal(count_runs((struct history_filter){.limit = 1}), 1);
    assert_int_equal(count_runs((struct history_filter){.target = "vms"}), 1);
    assert_int_equal(count_runs((struct history_filter){.target = ""}), 1);
    assert_int_equal(count_runs((struct history_filter){.host = "beta"}), 1);
    assert_int_equal(count_runs((struct history_filter){.command = "retune"}), 0);
    assert_int_equal(count_runs((struct history_filter){.pattern = "randwrite"}), 2);
    assert_int_equal(count_runs((struct history_filter){.fingerprint = fingerprint}), 2);
    assert_int_equal(count_runs((struct history_filter){.fingerprint = "0"}), 0);
    assert_int_equal(count_runs((struct history_filter){.with_recommendation = true}), 1);
    assert_int_equal(count_runs((struct history_filter){.statuses = 1U << HISTORY_UNFINISHED}), 1);
    assert_int_equal(
        count_runs((struct history_filter){.statuses = 1U << HISTORY_UNFINISHED | 1U << HISTORY_DONE}), 2);
}

TEST(changes_are_read_newest_first)
{
    struct history_change *changes;
    size_t n;
    int64_t run_id = add_whole_run(1e8);
    add_decision(HISTORY_CHANGE_FIRST, 0, "what was there");
    add_decision(HISTORY_CHANGE_MADE, run_id, "");
    assert_int_equal(history_list_changes(&history, "vms", NULL, 0, 0, &changes, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_int_equal(changes[0].kind, HISTORY_CHANGE_MADE);
    assert_true(factors_equal(&changes[0].to, &fast) && factors_equal(&changes[0].from, &slow));
    assert_int_equal(changes[0].run_ids[0], run_id);
    assert_int_equal(changes[0].run_ids[1], 0);
    assert_true(changes[1].has_from && !changes[1].has_to);
    assert_string_equal(changes[1].text, "what was there");
    free(changes);
    assert_int_equal(
        history_list_changes(&history, NULL, "alpha", 1U << HISTORY_CHANGE_FIRST, 1, &changes, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(changes[0].kind, HISTORY_CHANGE_FIRST);
    free(changes);
    const struct history_change change = change_of(HISTORY_CHANGE_MADE, 12345, "");
    assert_int_equal(history_add_change(&history, &change, &err), -EEXIST);
}

TEST(pruning_keeps_the_newest_and_what_changes_rest_on)
{
    int64_t first = add_whole_run(1e8);
    for (int i = 0; i < 4; i++) {
        now_s += SECONDS_OF_A_DAY;
        add_whole_run(1e8);
    }
    now_s -= SECONDS_OF_A_DAY;
    add_decision(HISTORY_CHANGE_MADE, first, "");
    check_pruned(3, 0, 1);
    check_pruned(0, now_s - 1.5 * SECONDS_OF_A_DAY, 1);
    assert_int_equal(count_runs((struct history_filter){0}), 3);
    assert_int_equal(n_findings(), 0);
    history_close(&history);
    assert_int_equal(count_rows("h.db", "replays"), 18);
}

TEST(a_second_run_never_gets_a_removed_runs_number)
{
    int64_t first = add_whole_run(1e8);
    check_pruned(0, now_s + 1, 1);
    assert_true(add_whole_run(1e8) > first);
}

TEST(verifying_finds_lost_replays_and_changed_answers)
{
    add_whole_run(1e8);
    history_close(&history);
    run_sql("h.db", "DELETE FROM replays WHERE number = 1");
    reopen_history("h.db", false);
    assert_int_equal(n_findings(), 1);
    history_close(&history);
    run_sql("h.db", "UPDATE runs SET n_replays = 5; UPDATE documents SET document = '{'");
    reopen_history("h.db", false);
    assert_int_equal(n_findings(), 1);
    history_close(&history);
    run_sql("h.db", "DELETE FROM documents; DELETE FROM points; UPDATE runs SET status = 'unfinished'");
    reopen_history("h.db", false);
    assert_true(n_findings() >= 3);
}

TEST(verifying_goes_on_behind_what_cannot_be_read)
{
    struct history_change *changes = NULL;
    size_t n;
    add_whole_run(1e8);
    add_whole_run(2e8);
    add_decision(HISTORY_CHANGE_MADE, 1, "");
    history_close(&history);
    run_sql("h.db",
            "UPDATE runs SET started_s = 9e999 WHERE id = 1; UPDATE replays SET throughput_bps = -1 WHERE "
            "run_id = 2 AND number = 0; UPDATE changes SET at_s = 9e999");
    reopen_history("h.db", false);
    assert_int_equal(n_findings(), 3);
    history_close(&history);
    run_sql("h.db", "DROP TABLE changes");
    reopen_history("h.db", false);
    assert_int_equal(history_list_changes(&history, NULL, NULL, 0, 0, &changes, &n, &err), -EBADMSG);
}

TEST(a_default_place_follows_the_environment)
{
    static const struct {
        const char *home, *xdg, *service, *path; /* NULL: not set; there is none */
    } rows[] = {
        {"/home/someone", NULL, NULL, "/home/someone/.local/state/fstune/history.db"},
        {"/home/someone", "relative", NULL, "/home/someone/.local/state/fstune/history.db"},
        {"/home/someone", "/state", NULL, "/state/fstune/history.db"},
        {"/home/someone", "/state", "/var/lib/fstune:/var/lib/other", "/var/lib/fstune/history.db"},
        {NULL, NULL, NULL, NULL},
    };
    static const char *const names[] = {"HOME", "XDG_STATE_HOME", "STATE_DIRECTORY"};
    char path[256];
    for (size_t i = 0; i < N_OF(rows); i++) {
        const char *const values[] = {rows[i].home, rows[i].xdg, rows[i].service};
        for (size_t k = 0; k < N_OF(names); k++) {
            if (values[k] == NULL ? unsetenv(names[k]) : setenv(names[k], values[k], 1))
                fail();
        }
        assert_int_equal(history_default_path(path, sizeof path, &err), rows[i].path != NULL ? 0 : -ENOENT);
        if (rows[i].path != NULL) {
            assert_string_equal(path, rows[i].path);
            assert_int_equal(history_default_path(path, 10, &err), -ENAMETOOLONG);
        }
    }
}

TEST(directories_are_made_for_their_owner_alone)
{
    struct stat status;
    assert_int_equal(history_make_directories("x/y/history.db", &err), 0);
    assert_int_equal(stat("x/y", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_false(rig_exists("x/y/history.db"));
    rig_write("file", "text");
    assert_int_equal(history_make_directories("file/y/history.db", &err), -ENOTDIR);
}

TEST(pruning_keeps_what_may_be_under_way)
{
    begin_run("retune", "vms", "alpha"); /* its process died */
    now_s += 2 * SECONDS_OF_A_DAY;
    int64_t live = begin_run("retune", "vms", "alpha");
    now_s += 3600;
    add_whole_run(1e8);
    begin_run("retune", "vms", "alpha");
    now_s += 60;
    check_pruned(1, now_s - 30, 2);
    assert_int_equal(info_of(live).id, live);
    assert_int_equal(history_finish_run(&history, live, HISTORY_DONE, 0, NULL, &err), 0);
}
