/* Tests of tuner/search/tune: a point that nobody expects anything of is found, and what is claimed holds. */
#include "tests/tuner/search/tune_rig.h"

#define RUN_STD 0.1

/* Far from the hill's top, and 1.6 times as fast: three to four times what its neighbours let expect. */
static const struct point needles[] = {{16384, 16, 0, API_IO_URING, 1, SYNC_END, 0, 0},
                                       {524288, 2, 1, API_IO_URING, 1, SYNC_END, 0, 0}};

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
    for (size_t i = 0; i < TRIALS(N_OF(needles) * N_OF(run_cvs) * 4); i++) {
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
