/* Tests of tuner/report/live_tune: the view in the middle and at the end of searches on simulated surfaces.
 */
#include "tests/test.h"
#include "tests/tuner/report/live_rig.h"
#include "tests/tuner/search/tune_rig.h"
#include "tuner/report/live_tune.h"

#include <errno.h>
#include <stdio.h>

GROUP(enter, rig_leave);

static size_t next;
static bool confirming;

static void show(void)
{
    session->progress = (struct progress){.on = true, .clock = &session->clock};
    live_tune.run_begins(&tune, next, confirming);
}

static void begin(const char *objective)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--budget", "60s", "--seed",
                 "1", "--objective", objective, "--request-size",
                 strcmp(objective, "latency") == 0 ? "64k" : "4k,16k,64k,256k", NULL);
}

/* The point whose row is marked as the best. */
static void assert_marked(const char *text, const struct point *point)
{
    char name[FACTORS_TEXT_SIZE], *end;
    const char *row = strstr(text, "\n* ");
    assert_non_null(row);
    end = strchr(row + 1, '\n');
    assert_non_null(end);
    *end = '\0';
    assert_non_null(strstr(row + 1, factors_format(point, name)));
    *end = '\n';
}

TEST(before_the_first_run_nothing_is_best)
{
    begin("throughput");
    assert_int_equal(init(), 0);
    next = 0;
    const char *text = what_is_shown(show);
    assert_non_null(strstr(text, "  0 %    0 s of 60  searching  run 1\n"));
    assert_non_null(strstr(text, "\nbest not known yet\n"));
    assert_int_equal(count_lines(text), 3);
    done();
}

TEST(a_search_shows_its_best_and_five_contenders)
{
    char name[FACTORS_TEXT_SIZE + 8];
    begin("throughput");
    run();
    next = tune.chosen;
    confirming = true;
    const char *text = what_is_shown(show);
    assert_int_equal(count_lines(text), LIVE_LINES);
    assert_marked(text, &hill);
    assert_non_null(strstr(text, "confirming"));
    assert_non_null(strstr(text, "(95 %: "));
    snprintf(name, sizeof name, "\nnow  %s", factors_format(&hill, (char[FACTORS_TEXT_SIZE]){0}));
    assert_non_null(strstr(text, name));
    done();
}

TEST(what_was_left_out_is_no_contender)
{
    begin("throughput");
    run();
    next = tune.chosen;
    tune.records[next].failed = -EIO;
    const char *text = what_is_shown(show), *best = strstr(text, "\nbest ");
    assert_int_equal(count_lines(text), LIVE_LINES);
    assert_non_null(best);
    assert_null(strstr(best, factors_format(&hill, (char[FACTORS_TEXT_SIZE]){0})));
    tune.records[next].failed = 0;
    done();
}

TEST(latencies_have_the_shortest_first)
{
    begin("latency");
    run();
    next = tune.chosen;
    const char *text = what_is_shown(show);
    assert_marked(text, chosen());
    assert_non_null(strstr(text, "us (95 %: "));
    assert_null(strstr(text, "B/s"));
    done();
}

TEST(what_was_drawn_just_now_is_not_drawn_again)
{
    begin("throughput");
    assert_int_equal(init(), 0);
    next = 0;
    what_is_shown(show);
    assert_true(session->progress.drawn);
    uint64_t before_ns = session->progress.drawn_ns;
    session->simulator.now_ns += PROGRESS_PERIOD_NS - 1;
    live_tune.run_begins(&tune, 0, false);
    assert_int_equal(session->progress.drawn_ns, before_ns);
    session->progress.drawn = false;
    done();
}
