/* Tests of tuner/report/live: what the status line says. */
#include "tests/test.h"
#include "tests/tuner/report/live_rig.h"

static struct live live;

static void show(void)
{
    struct clock clock = clock_monotonic;
    struct progress progress = {.on = true, .clock = &clock};
    live_show(&live, &progress);
}

static void set_live(double best, size_t n_replays)
{
    live = (struct live){.seconds_left = 30.4,
                         .now = "4k x 1, psync",
                         .confidence = 0.95,
                         .best = "64k x 4",
                         .best_logs = {.n = n_replays, .mean = log(best), .std = 0.01}};
}

TEST(the_line_tells_time_best_with_interval_and_what_runs)
{
    set_live(7e8, 4);
    assert_string_equal(what_is_shown(show),
                        "\r\033[K30 s left  best 700 MB/s +-1.6 % (64k x 4)  now 4k x 1, psync");
}

TEST(before_the_first_run_nothing_is_best)
{
    set_live(7e8, 0);
    live.seconds_left = -2;
    assert_string_equal(what_is_shown(show), "\r\033[K0 s left  no best yet  now 4k x 1, psync");
}

TEST(without_replays_there_is_no_interval)
{
    set_live(1e9, 2);
    assert_contains(what_is_shown(show), "  best 1.00 GB/s (64k x 4)  now ");
}

TEST(figures_have_the_unit_of_the_objective)
{
    set_live(183000, 2);
    live.unit = LIVE_NS;
    assert_contains(what_is_shown(show), "best 183 us (");
    live.unit = LIVE_PER_S;
    assert_contains(what_is_shown(show), "best 183 k/s (");
    live.unit = LIVE_NS;
    live.best_logs.mean = 60;
    assert_contains(what_is_shown(show), "best n/a (");
}

TEST(a_narrow_terminal_keeps_the_time_and_the_best)
{
    set_live(7e8, 4);
    memset(live.now, 'n', sizeof live.now - 1);
    assert_int_equal(strlen(what_is_shown(show)), strlen("\r\033[K") + 79);
    assert_contains(shown, "30 s left  best 700 MB/s +-1.6 % (64k x 4)  now nnn");
}
