/* Tests of searches at an offered rate: on a surface whose truth is known, the setting of the lowest latency
 * among those that serve the rate. */
#include "tests/tuner/search/tune_rig.h"
#include "tuner/search/objective.h"

#include <errno.h>

/* A device of 4 servers, each of which takes 1 ms for a request of 64 KiB through direct I/O and 2 ms through
 * the page cache: more depth than 4 only waits. */
static double servers_bps(const struct point *point)
{
    double n = point->queue_depth < 4 ? point->queue_depth : 4;
    return n * 65536 * 1000 / (point->direct != 0 ? 1 : 2);
}

SEARCHES_ON({"servers", "op_cv = 0.1; run_cv = 0.02; setup_seconds = 0.05;", servers_bps});

static void search_at(const char *rate)
{
    given(words("servers.conf --request-size 64k --budget 60s --tolerance 10%% --seed 3 --rate %s", rate));
    assert_int_equal(objective_take_rate(&settings, &err), 0);
    assert_int_equal(init(), 0);
    assert_int_equal(tune_run(&tune, &err), 0);
    answer_prepare(&answer, &tune);
}

/* 40 % of what one server can: all depths of direct I/O serve it in 1 ms, and depth 1 is the cheapest. Were
 * its full rate what counts, it would be depth 4. */
TEST(a_low_rate_is_served_by_the_cheapest)
{
    search_at("400iops");
    assert_true(answer.has_rows);
    assert_int_equal(answer.chosen.point.direct, 1);
    assert_int_equal(answer.chosen.point.queue_depth, 1);
    assert_close(answer.chosen.mean_bps, 400 * 65536, 400 * 65536 * 0.03);
    assert_close(answer.chosen.latency_ns.mean, 1e6, 1e5);
}

/* One server cannot serve it, and two of the page cache cannot either. */
TEST(a_higher_rate_wants_more_depth)
{
    search_at("2400iops");
    assert_true(answer.has_rows);
    assert_int_equal(answer.chosen.point.direct, 1);
    assert_int_equal(answer.chosen.point.queue_depth, 4);
    assert_close(answer.chosen.mean_bps, 2400 * 65536.0, 2400 * 65536 * 0.03);
}

TEST(a_rate_that_nothing_serves_has_no_answer)
{
    search_at("6000iops");
    assert_false(answer.has_rows);
    assert_non_null(answer.reason);
    assert_non_null(strstr(answer.reason, "rate_not_served"));
}
