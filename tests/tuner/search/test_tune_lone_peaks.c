/* Tests of tuner/search/tune_lone_peaks: a point that nobody expects anything of is found, and not looked for
 * where other warnings are larger or points are too many. */
#include "tests/tuner/search/tune_rig.h"

#include <gsl/gsl_randist.h>

#define MOST    6
#define RUN_STD 0.1

/* Far from the hill's top, and 1.6 times as fast: three to four times what its neighbours let expect. */
static const struct point needles[] = {{16384, 16, 0, API_IO_URING, 1, SYNC_END, 0},
                                       {524288, 2, 1, API_IO_URING, 1, SYNC_END, 0}};

static double smooth_bps(const struct point *point)
{
    double size = log2((double)point->request_size_bytes) - 16, depth = log2((double)point->queue_depth) - 2;
    double api = point->api == API_IO_URING ? 1 : 0.8, direct = point->direct ? 1 : 0.8;
    return 2e9 * api * direct * exp(-0.06 * size * size - 0.1 * depth * depth);
}

/* 4k..1m x 1..32, direct 0 and 1, io_uring, and psync at depth 1: 126 points, one of them the needle. */
static void simulator(const char *name, double run_cv, const struct point *needle)
{
    char file[64];
    snprintf(file, sizeof file, "%s.csv", name);
    FILE *table = fopen(file, "w");
    assert_non_null(table);
    fputs("pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n", table);
    for (unsigned i = 0; i < 9 * 2 * 7; i++) {
        unsigned deep = i / 18;
        struct point point = {.request_size_bytes = 4096U << i % 9,
                              .queue_depth = deep == 6 ? 1 : 1U << deep,
                              .direct = i / 9 % 2,
                              .api = deep == 6 ? API_PSYNC : API_IO_URING,
                              .threads = 1,
                              .sync = SYNC_END};
        bool lone = needle != NULL && factors_equal(&point, needle);
        fprintf(table, "randwrite,%u,%u,%u,%s,1,%.17g\n", 4096U << i % 9, point.queue_depth, point.direct,
                api_names[point.api], lone ? 3.2e9 : smooth_bps(&point));
    }
    assert_int_equal(fclose(table), 0);
    snprintf(file, sizeof file, "%s.conf", name);
    rig_write(file, "name = \"%s\"; points = \"%s.csv\"; noise = { run_cv = %g; setup_seconds = 0.05; };\n",
              name, name, run_cv);
}

FIXTURE(enter_here)
{
    if (enter(test_state) != 0)
        return -1;
    simulator("smooth", RUN_STD, NULL);
    return 0;
}

SEARCHES(enter_here);

/* Without looks at such points one search in thirty finds it. With them nearly all do; some settle early on
 * what they have seen, and are wrong no more often than they say. */
TEST(a_lone_needle_is_found_and_what_is_claimed_holds)
{
    static const double run_cvs[] = {0.1, 0.15};
    size_t n = 0, n_found = 0, n_wrong = 0;
    for (size_t i = 0; i < RIG_COUNT(needles) * RIG_COUNT(run_cvs) * 8; i++) {
        const struct point *needle = &needles[i % 2];
        simulator("needle", run_cvs[i / 2 % 2], needle);
        search(words("needle.conf --budget 60s --seed %zu", 1 + i / 4));
        bool found = factors_equal(chosen(), needle);
        n++;
        n_found += found;
        n_wrong += !found && tune.engine.probability >= 0.95;
    }
    assert_true(8 * n_found >= 7 * n);
    assert_true(20 * n_wrong <= n);
}

/* --- what is looked at --- */

static void tell(size_t point, size_t replays)
{
    for (size_t k = 0; k < replays; k++)
        assert_int_equal(
            belief_tell(&tune.engine.belief, point,
                        log(smooth_bps(&tune.records[point].point)) + gsl_ran_gaussian(tune.engine.rng, RUN_STD)),
            0);
}

static void update(void)
{
    assert_int_equal(belief_update(&tune.engine.belief, true, tune.engine.rng), 0);
    engine_expect_costs(&tune.engine);
}

/* A search that told the belief of every stride-th point. */
static void begin_and_tell(const char *simulator_and_options, size_t stride)
{
    begin_on(simulator_and_options);
    for (size_t i = 0; i < tune.space.n_points; i += stride)
        tell(i, 1);
    update();
    tune.engine.chosen = belief_best(&tune.engine.belief, 1);
}

/* What comes near the best is replayed until it is known. */
static void settle(void)
{
    for (size_t i = 0; i < tune.space.n_points; i++) {
        bool near = tune.engine.belief.mean[i] + 3 * sqrt(tune.engine.belief.variance[i]) > tune.engine.belief.mean[tune.engine.chosen];
        if (near && tune.space.n_points < 1000)
            tell(i, 100);
    }
    update();
    tune.engine.chosen = belief_best(&tune.engine.belief, 1);
    tell(tune.engine.chosen, 400);
    update();
}

/* Of the smooth surface, with the best settled; `options` begins with a space. */
static void smooth_search(const char *options)
{
    begin_and_tell(words("smooth.conf --seed 1%s", options), 3);
    settle();
}

static size_t list(size_t most, size_t *ret_points)
{
    size_t n = SIZE_MAX;
    assert_int_equal(engine_list_lone_peaks(&tune.engine, most, ret_points, &n), 0);
    assert_true(n <= most);
    return n;
}

TEST(only_what_was_hardly_measured_is_looked_at)
{
    size_t points[MOST];
    smooth_search("");
    assert_int_equal(list(MOST, points), MOST);
    for (size_t i = 0; i < MOST; i++) {
        assert_true(points[i] < tune.space.n_points && points[i] != tune.engine.chosen);
        assert_true(tune.engine.belief.moments[points[i]].n <= 1);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(points[i], points[k]);
    }
}

TEST(those_that_most_likely_surprise_by_the_second_come_first)
{
    size_t points[MOST], first[2];
    smooth_search("");
    assert_int_equal(list(MOST, points), MOST);
    double response = tune.engine.belief.mean[tune.engine.chosen] + tune.engine.margin, last = INFINITY;
    for (size_t i = 0; i < MOST; i++) {
        double worth =
            belief_lone_peaks(&tune.engine.belief, points[i], response) / tune.engine.seconds[points[i]];
        assert_true(worth > 0 && worth <= last);
        last = worth;
    }
    for (size_t i = 0; i < tune.space.n_points; i++) {
        size_t k = 0;
        while (k < MOST && points[k] != i)
            k++;
        if (k == MOST && i != tune.engine.chosen)
            assert_true(belief_lone_peaks(&tune.engine.belief, i, response) / tune.engine.seconds[i] <= last);
    }
    assert_int_equal(list(2, first), 2);
    assert_int_equal(first[0], points[0]);
    assert_int_equal(first[1], points[1]);
}

TEST(a_point_that_is_out_is_not_looked_at)
{
    size_t points[MOST], out;
    smooth_search("");
    assert_int_equal(list(MOST, points), MOST);
    out = points[0];
    belief_exclude(&tune.engine.belief, out);
    assert_int_equal(list(MOST, points), MOST);
    for (size_t i = 0; i < MOST; i++)
        assert_int_not_equal(points[i], out);
}

/* One of them is better by more than the margin. */
TEST(while_contenders_are_undecided_none_is)
{
    size_t points[MOST], rival = 0;
    smooth_search("");
    assert_int_equal(list(MOST, points), MOST);
    while (rival == tune.engine.chosen || tune.engine.belief.moments[rival].n < 100)
        rival++;
    belief_forget(&tune.engine.belief, rival);
    for (size_t k = 0; k < 400; k++)
        assert_int_equal(belief_tell(&tune.engine.belief, rival,
                                     tune.engine.belief.mean[tune.engine.chosen] + 1.5 * tune.engine.margin +
                                         (k % 2 == 0 ? RUN_STD : -RUN_STD)),
                         0);
    update();
    assert_int_equal(list(MOST, points), 0);
}

/* The race proves that points keep the bound; there is no time to prove it of new ones. */
TEST(with_a_bound_on_latency_none_is)
{
    size_t points[MOST];
    smooth_search(" --max-latency-p99 10s");
    assert_int_equal(list(MOST, points), 0);
}

TEST(without_a_choice_or_a_surrogate_none_is)
{
    size_t points[MOST];
    smooth_search("");
    tune.engine.chosen = ENGINE_NONE;
    assert_int_equal(list(MOST, points), 0);
    assert_int_equal(init(), 0);
    tune.engine.chosen = 0;
    assert_int_equal(list(MOST, points), 0);
}

/* 4 KiB steps of size, all depths: a look at six of them settles next to nothing. */
TEST(among_thousands_of_points_none_is)
{
    char sizes[512] = "8k", depths[256] = "1";
    size_t points[MOST], n = strlen(sizes), k = strlen(depths);
    for (unsigned i = 3; i <= 56; i++)
        n += (size_t)snprintf(sizes + n, sizeof sizes - n, ",%uk", 4 * i);
    for (unsigned i = 2; i <= 32; i++)
        k += (size_t)snprintf(depths + k, sizeof depths - k, ",%u", i);
    begin_and_tell(
        words("smooth.conf --seed 1 --api io_uring --request-size %s --queue-depth %s", sizes, depths), 41);
    assert_true(tune.space.n_points > 3000);
    settle();
    double none =
        belief_no_lone_peaks(&tune.engine.belief, tune.engine.chosen, tune.engine.belief.mean[tune.engine.chosen] + tune.engine.margin);
    assert_true(none < 0.9);
    assert_int_equal(list(MOST, points), 0);
}
