/* Tests of tuner/search/tune_transient: points whose requests are so large or so many at once that a short
 * run sends all of them within the start wait for it in the search, too. */
#include "models/statistics/line.h"
#include "tests/tuner/search/tune_rig.h"

static const struct point deep = {262144, 64, 1, API_IO_URING, 1, SYNC_END, 0, 0};
static const struct point deep_buffered = {262144, 64, 0, API_IO_URING, 1, SYNC_END, 0, 0};
static const struct point best = {65536, 4, 1, API_IO_URING, 1, SYNC_END, 0, 0};

/* The second best is the deepest point of the largest requests, buffered, 20 % below the best. A run of 50 ms
 * whose start is taken off as of any other takes it for as good. */
static double slow_and_deep_bps(const struct point *point)
{
    double size = log2((double)point->request_size_bytes) - 16, depth = log2((double)point->queue_depth) - 2;
    if (factors_equal(point, &deep_buffered))
        return 160e6;
    return 200e6 * (point->direct ? 1 : 0.6) * exp(-0.06 * size * size - 0.05 * depth * depth);
}

/* Starts at three times the rate; settled within a tenth of a second. */
FIXTURE(enter_here)
{
    static const unsigned sizes[] = {4096, 16384, 65536, 262144}, depths[] = {1, 4, 16, 64};
    if (enter(test_state) != 0)
        return -1;
    rig_write("deep.conf", "name = \"deep\"; points = \"deep.csv\"; noise = { run_cv = 0.02; setup_seconds = "
                           "0.005; warmup_seconds = 0.1; warmup_factor = 3.0; };\n");
    FILE *table = fopen("deep.csv", "w");
    assert_non_null(table);
    fputs("pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n", table);
    for (unsigned i = 0; i < 4 * 4 * 2; i++) {
        struct point point = {.request_size_bytes = sizes[i % 4],
                              .queue_depth = depths[i / 4 % 4],
                              .direct = i / 16,
                              .api = API_IO_URING,
                              .threads = 1,
                              .sync = SYNC_END};
        fprintf(table, "randwrite,%u,%u,%u,io_uring,1,%.17g\n", sizes[i % 4], point.queue_depth, point.direct,
                slow_and_deep_bps(&point));
    }
    assert_int_equal(fclose(table), 0);
    return 0;
}

SEARCHES(enter_here);

#define SEED_1 "deep.conf --budget 120s --seed 1"

static void deep_pilot(void)
{
    pilot(SEED_1);
    assert_true(tune.length.start.taken_off);
}

static double settling_seconds(void)
{
    return (double)tune.length.warmup_least_ns / LINE_MARGIN / 1e9;
}

/* Requests of a run of the shortest length by each slot of the queue, at the settled rate. */
static double rounds_of(size_t i)
{
    const struct point *point = &tune.records[i].point;
    double bytes = slow_and_deep_bps(point) * (double)tune.duration_ns / 1e9;
    return fmax(bytes / (double)point->request_size_bytes, MEASURE_MIN_REQUESTS) / point->queue_depth;
}

static struct measure_plan plan_of(const struct point *point, bool confirming)
{
    struct measure_plan plan = {.duration_ns = tune.duration_ns,
                                .warmup_limit_ns = tune.length.warmup_limit_ns,
                                .warmup_least_ns = tune.length.warmup_least_ns};
    tune_transient_plan(&tune, tune_find_point(&tune, point), confirming, &plan);
    return plan;
}

/* --- plans --- */

TEST(few_rounds_wait_until_the_start_has_settled)
{
    deep_pilot();
    struct measure_plan of_deep = plan_of(&deep, false), of_best = plan_of(&best, false);
    assert_close((double)of_deep.warmup_least_ns, settling_seconds() * 1e9, 1);
    assert_int_equal(of_deep.warmup_limit_ns, of_deep.warmup_least_ns);
    assert_true(of_deep.warmup_least_ns > 50000000);
    assert_int_equal(of_best.warmup_least_ns, 0);
    assert_int_equal(of_best.warmup_limit_ns, TUNE_LENGTH_WARMUP_NS);
}

TEST(few_rounds_without_a_warmup_last_longer_instead)
{
    deep_pilot();
    struct point shallow = deep_buffered;
    shallow.queue_depth = 1;
    assert_true(plan_of(&deep_buffered, false).duration_ns > 2 * tune.duration_ns);
    assert_int_equal(plan_of(&shallow, false).duration_ns, tune.duration_ns);
    assert_int_equal(plan_of(&deep, false).duration_ns, tune.duration_ns);
}

/* These wait in any case. */
TEST(replays_after_the_choice_do_not_ask_for_rounds)
{
    deep_pilot();
    assert_int_equal(plan_of(&deep, true).warmup_least_ns, tune.length.warmup_least_ns);
    assert_int_equal(plan_of(&best, true).warmup_least_ns, tune.length.warmup_least_ns);
    struct point shallow = deep_buffered;
    shallow.queue_depth = 1;
    assert_int_equal(plan_of(&deep_buffered, true).duration_ns, plan_of(&shallow, true).duration_ns);
}

TEST(what_is_waited_for_is_expected_to_cost_as_much)
{
    const struct point points[] = {deep, deep_buffered, best};
    deep_pilot();
    tune_transient_tell_waits(&tune);
    engine_expect_costs(&tune.engine);
    for (size_t i = 0; i < N_OF(points); i++) {
        size_t point = tune_find_point(&tune, &points[i]);
        struct measure_plan plan = plan_of(&points[i], false), confirming = plan_of(&points[i], true);
        bool unwarmed = measure_writes_once(&settings.workload.pattern, &points[i]);
        double waits = (double)(unwarmed ? plan.duration_ns - tune.duration_ns : plan.warmup_least_ns) / 1e9;
        double waits_confirming =
            (double)(unwarmed ? confirming.duration_ns - tune.duration_ns : confirming.warmup_least_ns) / 1e9;
        assert_close(tune.engine.points[point].wait_seconds, waits, 1e-9);
        assert_close(tune.engine.points[point].confirming_wait_seconds, waits_confirming, 1e-9);
        assert_true(tune.engine.seconds[point] >= (double)tune.duration_ns / 1e9 + waits);
    }
}

/* The pilot's own runs of such points saw nothing but the start. */
TEST(runs_of_the_pilot_with_few_rounds_are_made_again)
{
    deep_pilot();
    size_t n = 0;
    for (size_t i = 0; i < tune.n_records; i++) {
        for (size_t k = 0; k < tune.records[i].n; k++) {
            const struct sample *sample = &tune.records[i].samples[k];
            double waited = sample->warmup_seconds - sample->trimmed_seconds;
            bool unwarmed = measure_writes_once(&settings.workload.pattern, &tune.records[i].point);
            if (rounds_of(i) > 9)
                continue;
            assert_true(unwarmed ? sample->seconds > 0.1 : waited >= settling_seconds() - 1e-9);
            n++;
        }
    }
    assert_true(n > 0);
}

/* --- searches --- */

TEST(the_best_is_chosen_and_deep_points_are_seen_as_they_are)
{
    size_t n_deep = 0;
    for (unsigned seed = 1; seed <= 4; seed++) {
        search(words("deep.conf --budget 120s --seed %u", seed));
        assert_true(tune.length.start.taken_off);
        assert_true(slow_and_deep_bps(chosen()) >= 0.95 * slow_and_deep_bps(&best));
        for (size_t k = 0; k < tune.n_records; k++) {
            const struct record *record = &tune.records[k];
            if (record->n == 0 || rounds_of(k) > 9)
                continue;
            double error = record_log_moments(record, false).mean - log(slow_and_deep_bps(&record->point));
            /* A longer run still begins with its start. */
            assert_close(error, 0,
                         measure_writes_once(&settings.workload.pattern, &record->point) ? 0.2 : 0.1);
            n_deep += factors_equal(&record->point, &deep_buffered);
        }
    }
    assert_true(n_deep >= 1);
}

/* Every queue turns over once before it counts. */
static double turnover_seconds(size_t i)
{
    const struct point *point = &tune.records[i].point;
    return (double)factors_bytes_in_flight(point) / slow_and_deep_bps(point);
}

TEST(only_few_rounds_wait_in_the_search)
{
    size_t n_deep = 0, n_buffered = 0, n_shallow = 0, n_long = 0;
    search(SEED_1);
    for (size_t i = 0; i < tune.n_records; i++) {
        bool unwarmed = measure_writes_once(&settings.workload.pattern, &tune.records[i].point);
        bool few = rounds_of(i) < 9;
        for (size_t k = 0; k < tune.records[i].n; k++) {
            const struct sample *sample = &tune.records[i].samples[k];
            double waited = sample->warmup_seconds - sample->trimmed_seconds, turnover = turnover_seconds(i);
            if (sample->confirming)
                continue;
            if (few && unwarmed) {
                assert_true(waited < 0.01 + turnover && sample->seconds > 2 * (double)tune.duration_ns / 1e9);
                n_buffered++;
            } else if (few) {
                assert_true(waited >= settling_seconds() - 1e-9);
                n_deep++;
            } else if (rounds_of(i) > 12) {
                n_long += waited > 0.02 + turnover && k > 0;
                n_shallow++;
            }
        }
    }
    assert_true(n_deep > 0 && n_buffered > 0 && n_shallow > 0);
    assert_true(n_long <= 2);
}
