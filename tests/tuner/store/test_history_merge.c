/* Tests of merging histories, and of two writers at once. */
#include "tests/tuner/store/history_rig.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

GROUP(rig_enter, rig_leave);

EACH_TEST(NULL, drop_history);

static const char *const tables[] = {"hosts",   "targets",         "points",    "runs",
                                     "replays", "recommendations", "documents", "changes"};

static void make_other(const char *path, const char *host, double bps)
{
    begin_history(path);
    int64_t run_id = begin_run("recommend", "vms", host);
    add_replays(run_id, &fast, (const double[]){bps}, 1, 0);
    struct history_replay warm = replay_of(1, &fast, bps);
    snprintf(warm.conditions, sizeof warm.conditions, "cache=warm");
    assert_int_equal(history_add_replay(&history, run_id, &warm, &err), 0);
    finish_run(run_id, bps);
    now_s += 10;
    begin_run("measure", "", host);
    struct history_change change = change_of(HISTORY_CHANGE_MADE, run_id, "");
    snprintf(change.host, sizeof change.host, "%s", host);
    assert_int_equal(history_add_change(&history, &change, &err), 0);
    history_close(&history);
}

/* Into the open history; what it says it took. */
static void merge(const char *path, size_t n_runs, size_t n_changes)
{
    size_t n[2] = {0, 0};
    if (history_merge(&history, path, &n[0], &n[1], &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(n[0], n_runs);
    assert_int_equal(n[1], n_changes);
}

static int fail_to_merge(const char *path)
{
    size_t n[2];
    return history_merge(&history, path, &n[0], &n[1], &err);
}

TEST(merging_twice_is_merging_once)
{
    int64_t rows[N_OF(tables)];
    make_other("one.db", "alpha", 1e8);
    make_other("two.db", "beta", 2e8);
    begin_history("all.db");
    merge("one.db", 2, 1);
    merge("two.db", 2, 1);
    for (size_t i = 0; i < N_OF(tables); i++)
        rows[i] = count_rows("all.db", tables[i]);
    assert_int_equal(rows[3], 4);
    assert_int_equal(rows[7], 2);
    merge("one.db", 0, 0);
    merge("two.db", 0, 0);
    for (size_t i = 0; i < N_OF(tables); i++)
        assert_int_equal(count_rows("all.db", tables[i]), rows[i]);
    assert_int_equal(n_findings(), 0);
}

TEST(what_is_merged_refers_to_the_same_things)
{
    struct history_filter beta = {.host = "beta", .with_recommendation = true};
    AUTO(auto_free) struct history_info *runs;
    AUTO(auto_free) struct history_replay *replays;
    AUTO(auto_free) struct history_change *changes;
    size_t n;
    make_other("three.db", "beta", 3e8);
    begin_history("own.db");
    add_whole_run(1e8); /* the same points have other ids here */
    merge("three.db", 2, 1);
    assert_int_equal(history_list_runs(&history, &beta, &runs, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_close(runs[0].mean_bps, 3e8, 1);
    assert_true(factors_equal(&runs[0].point, &(struct point){65536, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0}));
    assert_int_equal(history_replays(&history, runs[0].id, &replays, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_true(factors_equal(&replays[1].point, &fast));
    assert_string_equal(replays[1].conditions, "cache=warm");
    assert_int_equal(history_list_changes(&history, NULL, NULL, 0, 0, &changes, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(changes[0].run_ids[0], runs[0].id);
    assert_true(factors_equal(&changes[0].to, &fast));
}

TEST(an_unfinished_run_is_completed_by_a_later_copy)
{
    begin_history("live.db");
    int64_t run_id = begin_run("recommend", "", "alpha");
    add_replays(run_id, &fast, (const double[]){1e8}, 1, 0);
    history_close(&history);
    begin_history("copy.db");
    merge("live.db", 1, 0);
    reopen_history("live.db", true);
    add_replays(run_id, &slow, (const double[]){2e8}, 1, 1);
    finish_run(run_id, 1e8);
    reopen_history("copy.db", true);
    merge("live.db", 1, 0);
    const struct history_info info = info_of(1);
    assert_int_equal(info.status, HISTORY_DONE);
    assert_int_equal(info.n_replays, 2);
    assert_true(info.has_point);
    assert_int_equal(n_findings(), 0);
}

TEST(strange_files_are_not_merged)
{
    begin_history("host.db");
    rig_write("text.db", "%0200d", 1);
    assert_int_equal(fail_to_merge("text.db"), -EINVAL);
    assert_int_equal(fail_to_merge("missing.db"), -ENOENT);
    assert_false(rig_exists("missing.db"));
    assert_int_equal(fail_to_merge("host.db"), -EINVAL);
    assert_non_null(strstr(err.text, "itself"));
}

/* Once in, a damaged run would make every list fail. */
TEST(of_a_history_with_a_damaged_run_nothing_is_merged)
{
    static const char *const damages[] = {
        "UPDATE replays SET throughput_bps = -1",  "UPDATE replays SET warmup = 'cold'",
        "UPDATE replays SET quantiles_ns = '1,x'", "UPDATE runs SET started_s = 9e999",
        "UPDATE changes SET at_s = 9e999",
    };
    begin_history("clean.db");
    add_whole_run(1e8);
    for (size_t i = 0; i < N_OF(damages); i++) {
        char path[32];
        snprintf(path, sizeof path, "damaged-%zu.db", i);
        history_close(&history);
        make_other(path, "beta", 2e8);
        run_sql(path, damages[i]);
        reopen_history("clean.db", true);
        assert_int_equal(fail_to_merge(path), -EBADMSG);
        assert_non_null(strstr(err.text, path));
        assert_int_equal(n_findings(), 0);
        assert_int_equal(count_rows("clean.db", "runs"), 1);
        assert_int_equal(count_rows("clean.db", "changes"), 0);
    }
}

#define WRITERS       3
#define WRITER_RUNS   4
#define WRITER_POINTS 25

/* Opens by itself, the file's making included. */
static int write_as_child(const char *path)
{
    if (open_at(&history, path, true) != 0)
        return 1;
    for (int i = 0; i < WRITER_RUNS; i++) {
        int64_t run_id;
        if (history_begin_run(&history, &child_header, &run_id, &err) != 0)
            return 2;
        for (uint64_t k = 0; k < WRITER_POINTS; k++) {
            struct history_replay replay = replay_of(k, k % 2 == 0 ? &fast : &slow, 1e8);
            if (history_add_replay(&history, run_id, &replay, &err) != 0)
                return 3;
        }
        if (history_finish_run(&history, run_id, HISTORY_DONE, 0, NULL, &err) != 0)
            return 4;
    }
    history_close(&history);
    return 0;
}

TEST(several_processes_write_at_once)
{
    pid_t pids[WRITERS];
    unlink("shared.db");
    for (size_t i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            _exit(write_as_child("shared.db"));
    }
    for (size_t i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    reopen_history("shared.db", false);
    assert_int_equal(n_findings(), 0);
    history_close(&history);
    assert_int_equal(count_rows("shared.db", "runs"), WRITERS * WRITER_RUNS);
    assert_int_equal(count_rows("shared.db", "replays"), WRITERS * WRITER_RUNS * WRITER_POINTS);
}

/* Also one of an older schema: what it lacks is made in a copy. */
TEST(the_other_history_and_its_folder_stay_as_they_are)
{
    size_t n;
    assert_int_equal(mkdir("away", 0700), 0);
    make_other("away/old.db", "beta", 1e8);
    make_first_schema("away/old.db");
    assert_int_equal(rig_count_entries("away"), 1);
    AUTO(auto_free) char *before = bytes_of("away/old.db", &n);
    assert_int_equal(symlink("away/old.db", "link.db"), 0);
    begin_history("mine.db");
    for (size_t i = 0; i < 2; i++) {
        merge(i == 0 ? "away/old.db" : "link.db", i == 0 ? 2 : 0, i == 0 ? 1 : 0);
        assert_int_equal(rig_count_entries("away"), 1);
        check_bytes("away/old.db", before, n);
    }
    assert_int_equal(n_findings(), 0);
}

TEST(what_another_process_has_only_in_its_log_is_merged)
{
    struct history own;
    size_t n_runs = 0, n_changes = 0, n_entries;
    assert_int_equal(mkdir("temporary", 0700), 0);
    setenv("TMPDIR", "temporary", 1); /* relative: not taken */
    begin_history("writing.db");
    int64_t run_id = begin_run("measure", "", "beta");
    add_replays(run_id, &fast, (const double[]){1e8, 2e8}, 2, 0);
    n_entries = rig_count_entries(".");
    assert_int_equal(open_at(&own, "taker.db", true), 0);
    assert_int_equal(history_merge(&own, "writing.db", &n_runs, &n_changes, &err), 0);
    assert_int_equal(n_runs, 1);
    history_close(&own);
    assert_int_equal(rig_count_entries("."), n_entries + 1);
    assert_int_equal(count_rows("taker.db", "replays"), 2);
    /* The writer's log is still its own. */
    finish_run(run_id, 1e8);
    history_close(&history);
    assert_int_equal(count_rows("writing.db", "recommendations"), 1);
    unsetenv("TMPDIR");
}

TEST(a_copy_leaves_nothing_behind)
{
    char folder[1024];
    assert_non_null(getcwd(folder, sizeof folder - 16));
    strcat(folder, "/copies");
    assert_int_equal(mkdir(folder, 0700), 0);
    setenv("TMPDIR", folder, 1);
    make_other("source.db", "beta", 1e8);
    begin_history("sink.db");
    merge("source.db", 2, 1);
    run_sql("source.db", "DROP TABLE hosts");
    assert_true(fail_to_merge("source.db") < 0);
    assert_non_null(strstr(err.text, "history source.db"));
    assert_int_equal(rig_count_entries("copies"), 0);
    unsetenv("TMPDIR");
}
