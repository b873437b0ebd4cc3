/* Tests of tuner/report/live: the status line of searches on simulated surfaces. */
#include "tests/tuner/report/live_rig.h"
#include "tests/tuner/search/tune_rig.h"

#include <errno.h>

SEARCHES(enter);

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

TEST(before_the_first_run_nothing_is_best)
{
    begin("throughput");
    assert_int_equal(init(), 0);
    next = 0;
    assert_contains(what_is_shown(show), "60 s left  no best yet  now 4k x 1, ");
}

TEST(a_search_shows_its_best_with_an_interval)
{
    char name[FACTORS_TEXT_SIZE], now[FACTORS_TEXT_SIZE + 8];
    begin("throughput");
    run();
    next = 0;
    confirming = true;
    const char *text = what_is_shown(show);
    snprintf(now, sizeof now, " %% (%s)  now ", factors_format(&hill, name));
    assert_contains(text, now);
    assert_contains(text, "B/s +-");
    confirming = false;
}

TEST(what_failed_is_not_the_best)
{
    begin("throughput");
    run();
    tune.records[tune.engine.chosen].failed = -EIO;
    assert_contains(what_is_shown(show), "no best yet");
    tune.records[tune.engine.chosen].failed = 0;
}

TEST(a_search_for_latency_shows_times)
{
    char name[FACTORS_TEXT_SIZE], best[FACTORS_TEXT_SIZE + 8];
    begin("latency");
    run();
    const char *text = what_is_shown(show);
    snprintf(best, sizeof best, "(%s)", factors_format(chosen(), name));
    assert_contains(text, best);
    CHECK_HAS(text, "us +-", "-B/s");
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
}
