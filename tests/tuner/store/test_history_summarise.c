/* Tests of summarising: of an old run a row for each setting stays, and says what its replays said. */
#include "tests/tuner/store/history_rig.h"
#include "tuner/store/history_compare.h"

#include <errno.h>

GROUP(rig_enter, rig_leave);

EACH_TEST(fresh_history, drop_history);

static size_t summarise(double older_than_s)
{
    size_t n = 0;
    if (history_summarise(&history, older_than_s, &n, &err) != 0)
        fail_msg("%s", err.text);
    return n;
}

static struct history_replay *replays_of(int64_t run_id, size_t *ret_n)
{
    struct history_replay *replays;
    if (history_replays(&history, run_id, &replays, ret_n, &err) != 0)
        fail_msg("%s", err.text);
    return replays;
}

/* Of two settings with three replays each, some of them made after the choice, which stay apart. */
TEST(a_setting_becomes_one_row_with_mean_and_scatter)
{
    size_t n;
    int64_t run_id = add_whole_run(1e8);
    assert_int_equal(summarise(now_s + 1), 1);
    AUTO(auto_free) struct history_replay *rows = replays_of(run_id, &n);
    assert_int_equal(n, 4);
    const struct moments pair = moments_of((const double[]){1e8, 0.99e8}, 2);
    assert_true(factors_equal(&rows[0].point, &fast) && !rows[0].sample.confirming);
    assert_int_equal(rows[0].n_replays, 2);
    assert_close(rows[0].sample.throughput_bps, pair.mean, 1);
    assert_close(rows[0].std_bps, pair.std, 1);
    assert_int_equal(rows[0].sample.latency_quantiles.n, 0);
    assert_int_equal(rows[0].windows.n, 0);
    assert_true(isnan(rows[0].sample.latency_p99_ns) && rows[0].sample.latency_mean_ns == 1.5e6);
    assert_int_equal(rows[0].sample.bytes, 1 << 20);
    assert_true(factors_equal(&rows[1].point, &fast) && rows[1].sample.confirming);
    assert_int_equal(rows[1].n_replays, 1);
    assert_true(rows[1].std_bps == 0);
    assert_int_equal(info_of(run_id).n_replays, 6);
    assert_int_equal(n_findings(), 0);
}

TEST(what_is_cut_or_aside_stays_apart)
{
    int64_t run_id = begin_run("recommend", "vms", "alpha");
    size_t n;
    for (uint64_t i = 0; i < 6; i++) {
        struct history_replay replay = replay_of(2 * i, &fast, 1e8);
        replay.sample.cut = i % 3 == 1;
        replay.aside = i % 3 == 2;
        assert_int_equal(history_add_replay(&history, run_id, &replay, &err), 0);
    }
    finish_run(run_id, 1e8);
    summarise(now_s + 1);
    AUTO(auto_free) struct history_replay *rows = replays_of(run_id, &n);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        assert_true(rows[i].n_replays == 2 && rows[i].sample.cut == (i == 1) && rows[i].aside == (i == 2));
}

TEST(only_older_runs_are_taken_and_once)
{
    size_t n;
    add_whole_run(1e8);
    now_s += 2 * SECONDS_OF_A_DAY;
    int64_t newer = add_whole_run(1e8);
    assert_int_equal(summarise(now_s - SECONDS_OF_A_DAY), 1);
    assert_int_equal(summarise(now_s - SECONDS_OF_A_DAY), 0);
    AUTO(auto_free) struct history_replay *rows = replays_of(newer, &n);
    assert_int_equal(n, 6);
    assert_true(isnan(rows[0].std_bps));
}

/* The interval of the ratio of two runs, whole and summarised, but for the lognormal shape. */
TEST(two_runs_compare_as_before)
{
    const int64_t ids[2] = {add_whole_run(1e8), add_whole_run(1.2e8)};
    struct history_comparison compared[2];
    for (int after = 0; after < 2; after++) {
        const struct history_info infos[2] = {info_of(ids[0]), info_of(ids[1])};
        size_t n[2];
        struct history_replay *replays[2] = {replays_of(ids[0], &n[0]), replays_of(ids[1], &n[1])};
        assert_int_equal(history_compare(infos,
                                         (const struct history_replay *const[2]){replays[0], replays[1]}, n,
                                         &compared[after]),
                         0);
        free(replays[0]);
        free(replays[1]);
        summarise(now_s + 1);
    }
    assert_int_equal(compared[0].n, compared[1].n);
    for (size_t i = 0; i < compared[0].n; i++) {
        const struct history_ratio *whole = &compared[0].points[i], *summary = &compared[1].points[i];
        assert_true(factors_equal(&whole->point, &summary->point) && whole->n[0] == summary->n[0]);
        assert_close(summary->ratio, whole->ratio, 1e-3 * whole->ratio);
        assert_close(summary->bounds.low, whole->bounds.low, 1e-2);
        assert_close(summary->bounds.high, whole->bounds.high, 1e-2);
    }
    history_compare_done(&compared[0]);
    history_compare_done(&compared[1]);
}

/* p99 is not known of runs with few requests; these do not count in its mean. */
TEST(figures_that_are_not_known_do_not_count)
{
    int64_t run_id = begin_run("recommend", "vms", "alpha");
    static const double p99s[] = {NAN, NAN, 3e6, 1e6};
    size_t n;
    for (uint64_t i = 0; i < N_OF(p99s); i++) {
        struct history_replay replay = replay_of(2 * i, &fast, 1e8);
        replay.sample.latency_p99_ns = p99s[i];
        assert_int_equal(history_add_replay(&history, run_id, &replay, &err), 0);
    }
    finish_run(run_id, 1e8);
    summarise(now_s + 1);
    AUTO(auto_free) struct history_replay *rows = replays_of(run_id, &n);
    assert_int_equal(n, 1);
    assert_close(rows[0].sample.latency_p99_ns, 2e6, 1);
}

/* What is summarised twice, as after a merge, stays as it is. */
TEST(a_summary_of_summaries_is_the_same)
{
    size_t n, n_again;
    int64_t run_id = add_whole_run(1e8);
    summarise(now_s + 1);
    AUTO(auto_free) struct history_replay *rows = replays_of(run_id, &n);
    history_close(&history);
    run_sql("h.db", "UPDATE runs SET summarised = 0");
    reopen_history("h.db", true);
    assert_int_equal(summarise(now_s + 1), 1);
    AUTO(auto_free) struct history_replay *again = replays_of(run_id, &n_again);
    assert_int_equal(n_again, n);
    for (size_t i = 0; i < n; i++)
        assert_true(again[i].n_replays == rows[i].n_replays && again[i].std_bps == rows[i].std_bps &&
                    again[i].sample.throughput_bps == rows[i].sample.throughput_bps);
}

TEST(a_damaged_run_stays_and_the_others_are_done)
{
    size_t n, n_runs;
    const int64_t ids[] = {add_whole_run(1e8), add_whole_run(1e8), add_whole_run(1e8)};
    history_close(&history);
    run_sql("h.db", "UPDATE replays SET throughput_bps = 0 WHERE run_id = 2 AND number = 3");
    reopen_history("h.db", true);
    assert_int_equal(history_summarise(&history, now_s + 1, &n_runs, &err), -EBADMSG);
    assert_int_equal(n_runs, 2);
    assert_non_null(strstr(err.text, "run 2: replay 3 is damaged; 1 damaged run is left as it was"));
    free(replays_of(ids[2], &n));
    assert_int_equal(n, 4);
}

/* What fails otherwise ends it, whatever was damaged before, and says why. */
TEST(another_failure_ends_it_with_its_own_reason)
{
    size_t n_runs;
    for (int i = 0; i < 3; i++)
        add_whole_run(1e8);
    history_close(&history);
    run_sql(
        "h.db",
        "UPDATE replays SET throughput_bps = 0 WHERE run_id = 1 AND number = 3;"
        "CREATE TRIGGER t BEFORE INSERT ON replays WHEN NEW.run_id = 2 BEGIN SELECT RAISE(ABORT, 'no'); END");
    reopen_history("h.db", true);
    int result = history_summarise(&history, now_s + 1, &n_runs, &err);
    assert_true(result < 0 && result != -EBADMSG);
    assert_null(strstr(err.text, "damaged"));
    assert_int_equal(n_runs, 0);
}

TEST(a_run_whose_process_died_long_ago_is_summarised)
{
    size_t n;
    int64_t dead = begin_run("recommend", "vms", "alpha");
    add_replays(dead, &fast, (const double[]){1e8, 1.1e8, 1.2e8}, 3, 0);
    assert_int_equal(summarise(now_s + 1), 0);
    now_s += 2 * SECONDS_OF_A_DAY;
    assert_int_equal(summarise(now_s), 1);
    free(replays_of(dead, &n));
    assert_int_equal(n, 2);
}

TEST(a_run_without_replays_is_asked_once)
{
    int64_t run_id = begin_run("recommend", "vms", "alpha");
    assert_int_equal(history_finish_run(&history, run_id, HISTORY_FAILED, 1, NULL, &err), 0);
    assert_int_equal(summarise(now_s + 1), 1);
    assert_int_equal(summarise(now_s + 1), 0);
}

TEST(summaries_are_merged_into_another_history)
{
    size_t n_runs, n_changes, n;
    add_whole_run(1e8);
    summarise(now_s + 1);
    history_close(&history);
    unlink("other.db");
    reopen_history("other.db", true);
    assert_int_equal(history_merge(&history, "h.db", &n_runs, &n_changes, &err), 0);
    assert_int_equal(n_runs, 1);
    assert_int_equal(summarise(now_s + 1), 0);
    AUTO(auto_free) struct history_replay *rows = replays_of(1, &n);
    assert_int_equal(n, 4);
    assert_int_equal(rows[0].n_replays, 2);
    assert_int_equal(n_findings(), 0);
}

/* Summaries that say of themselves what cannot be. */
TEST(damaged_summaries_are_found)
{
    static const char *const damages[] = {"n_replays = 0",
                                          "n_replays = -1",
                                          "n_replays = 2",
                                          "n_replays = 5, std_bps = NULL",
                                          "n_replays = 1000001, std_bps = 0",
                                          "std_bps = -1",
                                          "std_bps = 1e30"};
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        char sql[96];
        struct history_replay *replays;
        size_t n;
        begin_history("h.db");
        int64_t run_id = add_whole_run(1e8);
        history_close(&history);
        snprintf(sql, sizeof sql, "UPDATE replays SET %s WHERE number = 0", damages[i]);
        run_sql("h.db", sql);
        reopen_history("h.db", true);
        assert_int_equal(history_replays(&history, run_id, &replays, &n, &err), -EBADMSG);
    }
}
