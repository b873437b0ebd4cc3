/* Tests of pushing, into a second file in the place of a server: tests/fleet/run has a real one. */
#include "tests/tuner/store/history_rig.h"
#include "tuner/store/privacy.h"

GROUP(rig_enter, rig_leave);

static struct history server;

/* Neither the file nor the server holds anything. */
static int fresh_histories(void **state)
{
    unlink("server.db");
    return fresh_history(state);
}

EACH_TEST(fresh_histories, drop_history);

static void push(size_t n_runs, size_t n_changes)
{
    size_t n[2];
    assert_int_equal(open_at(&server, "server.db", true), 0);
    if (history_push(&server, &history, &n[0], &n[1], &err) != 0)
        fail_msg("%s", err.text);
    history_close(&server);
    assert_int_equal(n[0], n_runs);
    assert_int_equal(n[1], n_changes);
}

TEST(pushing_twice_is_pushing_once)
{
    int64_t run_id = add_whole_run(1e8);
    add_decision(HISTORY_CHANGE_MADE, run_id, "faster");
    push(1, 1);
    push(0, 0);
    add_whole_run(2e8);
    push(1, 0);
    static const char *const tables[] = {"hosts",   "targets",         "points",    "runs",
                                         "replays", "recommendations", "documents", "changes"};
    for (size_t i = 0; i < N_OF(tables); i++)
        assert_int_equal(count_rows("server.db", tables[i]), count_rows("h.db", tables[i]));
}

TEST(a_pushed_run_says_what_it_said)
{
    int64_t run_id = add_whole_run(1e8);
    struct history_info here = info_of(run_id), there;
    struct history_replay *replays[2];
    size_t n[2];
    push(1, 0);
    assert_int_equal(history_replays(&history, run_id, &replays[0], &n[0], &err), 0);
    assert_int_equal(open_at(&server, "server.db", false), 0);
    assert_int_equal(history_find_run(&server, 1, &there, &err), 0);
    assert_int_equal(history_replays(&server, 1, &replays[1], &n[1], &err), 0);
    history_close(&server);
    assert_string_equal(here.uuid, there.uuid);
    assert_string_equal(here.host, there.host);
    assert_true(here.started_s == there.started_s && here.finished_s == there.finished_s &&
                here.mean_bps == there.mean_bps && here.status == there.status);
    assert_int_equal(n[0], n[1]);
    for (size_t i = 0; i < n[0]; i++)
        check_same(&replays[1][i], &replays[0][i]);
    free(replays[0]);
    free(replays[1]);
}

TEST(a_run_under_way_stays_for_the_next_time_and_a_dead_one_goes)
{
    add_replays(begin_run("recommend", "", "alpha"), &fast, (const double[]){1e8}, 1, 0);
    push(0, 0);
    now_s += 2 * SECONDS_OF_A_DAY;
    push(1, 0);
    push(0, 0);
    assert_int_equal(count_rows("server.db", "replays"), 1);
}

TEST(a_change_rests_on_the_same_runs_there)
{
    struct history_change *changes;
    size_t n;
    int64_t first = add_whole_run(1e8), second = add_whole_run(2e8);
    struct history_change change = change_of(HISTORY_CHANGE_MADE, second, "faster");
    change.run_ids[1] = first;
    assert_int_equal(history_add_change(&history, &change, &err), 0);
    /* The server has another run before. */
    assert_int_equal(open_at(&server, "server.db", true), 0);
    int64_t other;
    assert_int_equal(history_begin_run(&server, &child_header, &other, &err), 0);
    history_close(&server);
    push(2, 1);
    assert_int_equal(open_at(&server, "server.db", false), 0);
    assert_int_equal(history_list_changes(&server, NULL, NULL, 0, 0, &changes, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(changes[0].run_ids[0], 3);
    assert_int_equal(changes[0].run_ids[1], 2);
    free(changes);
    history_close(&server);
}

TEST(names_are_hashed_on_their_way)
{
    size_t n[2];
    struct history_info info;
    int64_t run_id = add_whole_run(1e8);
    add_decision(HISTORY_CHANGE_NONE, run_id, "alpha stays");
    rig_write("secret", "0123456789abcdef0123456789abcdef");
    assert_int_equal(open_at(&server, "server.db", true), 0);
    server.privacy = calloc(1, sizeof *server.privacy);
    assert_int_equal(privacy_open(server.privacy, "secret", &err), 0);
    assert_int_equal(history_push(&server, &history, &n[0], &n[1], &err), 0);
    assert_int_equal(history_find_run(&server, 1, &info, &err), 0);
    history_close(&server);
    assert_string_not_equal(info.host, "alpha");
    assert_int_equal(count_rows("server.db", "hosts WHERE name LIKE '%alpha%'"), 0);
    assert_int_equal(count_rows("server.db", "changes WHERE text LIKE '%alpha%'"), 0);
    assert_int_equal(count_rows("server.db", "targets WHERE identity LIKE '%sda1%'"), 0);
    assert_int_equal(count_rows("server.db", "targets WHERE identity LIKE '%ext4%'"), 1);
}
