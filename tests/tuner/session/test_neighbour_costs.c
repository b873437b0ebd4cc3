/* Tests of tuner/session/neighbour_costs: what runs cost, and the pauses that keep all of them below
 * --max-cost. */
#include "tuner/session/neighbour_costs.h"

#include "tests/test.h"

#include <errno.h>

#define PLACE "/tmp/fstune-costs-XXXXXX"

static struct settings settings;
static struct session *session;
static atomic_int interrupted;
static uint64_t now_ns;
static struct err err;
static char directory[sizeof PLACE];

FIXTURE(open_session)
{
    memcpy(directory, PLACE, sizeof PLACE);
    session = calloc(1, sizeof *session);
    if (session == NULL || mkdtemp(directory) == NULL)
        return 1;
    settings_init(&settings);
    snprintf(settings.file.path, sizeof settings.file.path, "%s", directory);
    settings.limits.max_cost_share = 0.25;
    settings.limits.budget_ns = 100 * CLOCK_NS_PER_S;
    now_ns = 7;
    session->settings = &settings;
    session->clock = clock_virtual(&now_ns);
    session->start_ns = now_ns;
    session->env.interrupted = &interrupted;
    return neighbour_costs_open(session, &err);
}

FIXTURE(close_session)
{
    neighbour_costs_close(session);
    free(session);
    return rmdir(directory); /* fails unless it is empty */
}

EACH_TEST(open_session, close_session);

/* A run of so many seconds in which each step took `times` as long as before and after it, on average. */
static void make_run(double seconds, double times)
{
    struct neighbour_costs *costs = session->neighbours;
    now_ns += (uint64_t)(seconds * 1e9);
    costs->before = (struct neighbour_time){.steps = 15, .seconds = 0.1};
    costs->after = (struct neighbour_time){.steps = 5, .seconds = 0.1};
    costs->beside = (struct neighbour_time){.steps = 100 * seconds / times, .seconds = seconds};
    costs->written_bytes = 3;
    neighbour_costs_count(session);
}

/* Seconds that pass before a run, less those in which the reference runs alone. */
static double pause_before_run(void)
{
    const double before = session->neighbours->waited_seconds;
    assert_int_equal(neighbour_costs_before_run(session, CLOCK_NS_PER_S, &err), 0);
    return session->neighbours->waited_seconds - before;
}

/* Where the machine becomes slower in the meantime, that is no cost. */
TEST(a_run_costs_by_how_much_it_is_slower_than_before_and_after_it)
{
    assert_true(isnan(neighbour_costs_last(session)));
    make_run(1, 3);
    assert_close(neighbour_costs_last(session), 6 * (3.0 - 1) / (3 + 1), 1e-12);
    make_run(1, 1);
    assert_close(neighbour_costs_last(session), 0, 1e-12);
    assert_int_equal(session->bytes_written, 6);
}

TEST(a_neighbour_that_stands_still_costs_the_most)
{
    make_run(1, INFINITY);
    assert_close(neighbour_costs_last(session), 6, 0);
}

/* What ran alone after one run is not made again before the next, unless there was a pause. */
TEST(between_two_runs_the_reference_runs_alone_once)
{
    struct neighbour_costs *costs = session->neighbours;
    assert_int_equal(neighbour_costs_before_run(session, CLOCK_NS_PER_S, &err), 0);
    assert_true(costs->before.seconds > 0);
    assert_int_equal(neighbour_costs_after_run(session, CLOCK_NS_PER_S, &err), 0);
    const uint64_t after_ns = costs->after.end_ns, written = costs->written_bytes;
    assert_true(costs->after.seconds > 0);
    assert_int_equal(neighbour_costs_before_run(session, CLOCK_NS_PER_S, &err), 0);
    assert_int_equal(costs->before.end_ns, after_ns);
    assert_int_equal(costs->written_bytes, written);
    assert_int_equal(neighbour_costs_after_run(session, CLOCK_NS_PER_S, &err), 0);
    now_ns += 2 * CLOCK_NS_PER_S;
    assert_int_equal(neighbour_costs_before_run(session, CLOCK_NS_PER_S, &err), 0);
    assert_true(costs->before.end_ns > after_ns + 2 * CLOCK_NS_PER_S);
}

TEST(a_run_that_failed_has_no_cost)
{
    make_run(1, 3);
    assert_int_equal(neighbour_costs_before_run(session, CLOCK_NS_PER_S, &err), 0);
    neighbour_costs_count(session);
    assert_true(isnan(neighbour_costs_last(session)));
}

/* 3 over 2 s, and a quarter is allowed: 24 s in all. */
TEST(pauses_bring_the_mean_cost_down_to_what_is_allowed)
{
    assert_close(pause_before_run(), 0, 0);
    const uint64_t first_ns = session->neighbours->first_ns;
    make_run(2, 3);
    const double elapsed = (double)(now_ns - first_ns) / 1e9;
    assert_close(pause_before_run(), 24 - elapsed, 1e-6);
    make_run(1, 1);
    assert_close(pause_before_run(), 0, 0);
    const struct neighbour_total total = neighbour_costs_total(session);
    assert_true(total.cost_share <= 0.25);
    assert_close(total.busy_seconds, 3, 1e-12);
    assert_int_equal(total.runs.n, 2);
}

/* 4 over 50 s would need 800 s. */
TEST(where_the_pause_leaves_no_time_there_is_no_run)
{
    assert_close(pause_before_run(), 0, 0);
    make_run(50, 5);
    assert_int_equal(neighbour_costs_before_run(session, CLOCK_NS_PER_S, &err), -EDQUOT);
    assert_true(session->paused_out);
    assert_close(session->neighbours->waited_seconds, 0, 0);
}

TEST(without_max_cost_there_are_no_pauses)
{
    settings.limits.max_cost_share = 0;
    settings.search.neighbour_limit_share = 0.25;
    assert_close(pause_before_run(), 0, 0);
    make_run(2, 3);
    assert_close(pause_before_run(), 0, 0);
}
