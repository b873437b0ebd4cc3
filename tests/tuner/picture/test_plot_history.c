/* Nights of a history as data and as a picture. */
#include "tests/tuner/store/history_rig.h"

#include "tuner/picture/plot.h"
#include "tuner/picture/plot_data.h"

#include <errno.h>

GROUP(rig_enter, rig_leave);

static struct plot_data data;
static char *script;

static json_t *night_of(double mean_bps, double in_force_bps)
{
    json_t *document = answer_of(mean_bps);
    json_object_set_new(document, "night",
                        json_pack("{s:{s:i, s:i, s:i, s:s, s:i, s:s}, s:{s:f, s:f, s:f, s:i}}", "in_force",
                                  "request_size", 4096, "queue_depth", 1, "direct", 0, "api", "psync",
                                  "threads", 1, "sync", "end", "throughput_in_force", "mean", in_force_bps,
                                  "ci_low", in_force_bps * 0.8, "ci_high", in_force_bps * 1.2, "n", 5));
    return document;
}

/* A night of `retune` that recommends `fast` while `slow` is in force; in_force_bps 0: its first. */
static int64_t add_night(const char *target, const char *host, double mean_bps, double in_force_bps)
{
    now_s += SECONDS_OF_A_DAY;
    int64_t run_id = begin_run("retune", target, host);
    json_t *document = in_force_bps > 0 ? night_of(mean_bps, in_force_bps) : answer_of(mean_bps);
    assert_int_equal(history_finish_run(&history, run_id, HISTORY_DONE, 0, document, &err), 0);
    json_decref(document);
    return run_id;
}

static void add_change(const char *target, enum history_kind kind, const struct point *to, int64_t run_id)
{
    struct history_change change = {.kind = kind, .run_ids = {run_id}, .has_to = to != NULL};
    snprintf(change.target, sizeof change.target, "%s", target);
    snprintf(change.host, sizeof change.host, "alpha");
    change.to = to != NULL ? *to : change.to;
    assert_int_equal(history_add_change(&history, &change, &err), 0);
}

static int load(const char *target)
{
    plot_data_done(&data);
    memset(&err, 0, sizeof err);
    return plot_data_history(&data, &history, target, &err);
}

static void draw(enum plot_terminal terminal)
{
    const struct plot_request request = {.terminal = terminal,
                                         .width = terminal == PLOT_DUMB ? 79 : 900,
                                         .height = terminal == PLOT_DUMB ? 30 : 560,
                                         .title = "",
                                         .x = "",
                                         .y = "",
                                         .where = ""};
    free(script);
    script = NULL;
    FILE *out = memory_stream(&script);
    int result = plot_history.draw(&request, &data, out, &err);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(result, 0);
}

FIXTURE(leave_case)
{
    plot_data_done(&data);
    free(script);
    script = NULL;
    history_close(&history);
    return 0;
}

EACH_TEST(NULL, leave_case);

TEST(a_night_shows_what_is_in_force_and_not_what_is_advised)
{
    begin_history("a.db");
    add_night("vm1", "alpha", 3e9, 0);
    add_night("vm1", "alpha", 2e9, 1e9);
    assert_int_equal(load(""), 0);
    assert_int_equal(data.n_nights, 2);
    assert_close(data.nights[0].mean_bps, 3e9, 1);
    assert_close(data.nights[1].mean_bps, 1e9, 1);
    assert_close(data.nights[1].ci_low_bps, 0.8e9, 1);
    assert_close(data.nights[1].at_s - data.nights[0].at_s, SECONDS_OF_A_DAY, 1e-3);
    assert_true(data.nights[0].point != data.nights[1].point);
}

TEST(without_a_name_it_is_the_newest_target)
{
    begin_history("b.db");
    add_night("vm1", "alpha", 3e9, 0);
    add_night("vm2", "alpha", 1e9, 0);
    add_night("vm2", "alpha", 1e9, 1e9);
    assert_int_equal(load(""), 0);
    assert_string_equal(data.target, "vm2");
    assert_int_equal(data.n_nights, 2);
    draw(PLOT_PNG);
    assert_contains(script, "History of vm2, randwrite (the newest of 2 targets)");
    assert_int_equal(load("vm1"), 0);
    assert_int_equal(data.n_nights, 1);
    draw(PLOT_PNG);
    assert_contains(script, "History of vm1, randwrite (one of 2 targets)");
    assert_int_equal(load("vm3"), -ENODATA);
    assert_contains(err.text, "vm3");
}

TEST(nights_of_another_host_are_left_out_and_counted)
{
    begin_history("c.db");
    add_night("vm1", "beta", 3e9, 0);
    add_night("vm1", "alpha", 1e9, 0);
    assert_int_equal(load(""), 0);
    assert_int_equal(data.n_nights, 1);
    assert_int_equal(data.n_elsewhere, 1);
    draw(PLOT_PNG);
    assert_contains(script, "1 night, 1 of other storage, host or pattern left out");
}

TEST(a_history_without_results_is_enodata)
{
    begin_history("d.db");
    assert_int_equal(load(""), -ENODATA);
    int64_t run_id = begin_run("retune", "vm1", "alpha");
    assert_int_equal(load(""), -ENODATA);
    assert_int_equal(history_finish_run(&history, run_id, HISTORY_FAILED, 1, NULL, &err), 0);
    assert_int_equal(load("vm1"), -ENODATA);
    assert_int_equal(data.n_events, 1);
    assert_int_equal(data.events[0].kind, PLOT_EVENT_SKIPPED);
}

TEST(every_kind_of_mark_is_drawn)
{
    begin_history("e.db");
    int64_t first = add_night("vm1", "alpha", 3e9, 0);
    add_change("vm1", HISTORY_CHANGE_FIRST, &fast, first);
    int64_t second = add_night("vm1", "alpha", 2e9, 1e9);
    add_change("vm1", HISTORY_CHANGE_NONE, &fast, second);
    now_s += 60;
    add_change("vm1", HISTORY_CHANGE_ALARM, NULL, second);
    now_s += SECONDS_OF_A_DAY;
    add_change("vm1", HISTORY_CHANGE_SKIPPED, NULL, 0);
    now_s += SECONDS_OF_A_DAY;
    add_change("vm1", HISTORY_CHANGE_ROLLBACK, &slow, 0);
    add_change("vm2", HISTORY_CHANGE_ROLLBACK, &slow, 0);
    assert_int_equal(load("vm1"), 0);
    assert_int_equal(data.n_events, 4);
    draw(PLOT_PNG);
    CHECK_HAS(script, "\nn_labels = 2\n", "'64k, depth 8, direct, io_uring'",
              "'4k, depth 1, buffered, psync'", " 0 1\n1800086400 ", " 0 2\n", " 3\n");
    /* The alarm stands on its night. */
    assert_contains(script, "\n1800172800 1e+09 4\n");
}

TEST(labels_that_find_no_room_are_left_out_and_their_lines_stay)
{
    begin_history("f.db");
    for (int i = 0; i < 60; i++) {
        int64_t run_id = add_night("vm1", "alpha", 3e9, i == 0 ? 0 : 1e9);
        add_change("vm1", HISTORY_CHANGE_MADE, i % 2 == 0 ? &fast : &slow, run_id);
    }
    assert_int_equal(load(""), 0);
    for (int terminal = PLOT_PNG; terminal <= PLOT_DUMB; terminal++) {
        draw((enum plot_terminal)terminal);
        const char *number = strstr(script, "\nn_labels = ");
        assert_non_null(number);
        assert_in_range(strtoul(number + strlen("\nn_labels = "), NULL, 10), 2, 16);
        assert_int_equal(count_of(script, " 0 1\n18"), 60);
        assert_lacks(script, "nan");
    }
}

TEST(one_night_is_a_picture)
{
    begin_history("g.db");
    add_night("vm1", "alpha", 3e9, 0);
    assert_int_equal(load(""), 0);
    draw(PLOT_DUMB);
    CHECK_HAS(script, "\nfrom = 1800043200\nto = 1800129600\n", "; the last with 64k, depth 8,");
}

TEST(texts_of_the_history_stay_texts)
{
    begin_history("h.db");
    add_night("`touch x`'\nsystem('y')", "alpha", 3e9, 0);
    assert_int_equal(load(""), 0);
    draw(PLOT_PNG);
    assert_contains(script, "History of `touch x`''?system(''y''), randwrite'");
}
