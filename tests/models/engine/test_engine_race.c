/* Tests of models/engine/engine_race, engine_explore and engine_queue: how long blocks are. */
#include "tests/models/engine/engine_rig.h"

ENGINES();

static struct engine growing(double growth)
{
    struct engine wanted = usual();
    wanted.growth = growth;
    return wanted;
}

/* Runs until a block of this phase was decided on. */
static void next_block(enum engine_phase phase)
{
    struct engine_run run;
    do {
        assert_int_equal(engine_ask(&engine, device.now, &run), ENGINE_RUN);
        make_run(&run);
    } while (engine.phase != phase || engine.queue.next > 1);
}

/* How often the queue holds a point. */
static size_t times_of(size_t point)
{
    size_t times = 0;
    for (size_t i = 0; i < engine.queue.n; i++)
        times += engine.queue.points[i] == point;
    return times;
}

TEST(a_block_of_the_race_repeats_its_points)
{
    begin(growing(0.5), 1);
    run_until(ENGINE_RACE);
    for (size_t k = 0; k < 2; k++) {
        next_block(ENGINE_RACE);
        size_t before = engine.n_handed - 1, times = times_of(engine.queue.points[0]);
        assert_true(2 * engine.queue.n <= before && 2 * (engine.queue.n + ENGINE_MAX_LISTED) > before);
        for (size_t i = 0; i < engine.queue.n; i++)
            assert_int_equal(times_of(engine.queue.points[i]), times);
    }
}

TEST(a_round_of_exploration_repeats_its_points)
{
    begin(growing(0.5), 1);
    do
        next_block(ENGINE_EXPLORE);
    while (engine.was_design);
    size_t n_once = 0, times = 1, half = (engine.n_handed - 1) / 2;
    for (size_t i = 0; i < engine.queue.n; i++)
        times = times_of(engine.queue.points[i]) > times ? times_of(engine.queue.points[i]) : times;
    for (size_t i = 0; i < engine.queue.n; i++) {
        n_once += times_of(engine.queue.points[i]) == 1;
        assert_true(times_of(engine.queue.points[i]) == 1 || times_of(engine.queue.points[i]) == times);
    }
    assert_true(times >= 2);
    size_t n_asked = (engine.queue.n - n_once) / times;
    assert_true(n_asked > 0);
    assert_int_equal(times, half / n_asked);
    assert_true(n_once <= 2); /* the best so far, and a suspect */
}

static size_t n_fits;

static int fit_and_count(void *state, const struct space *of, const struct observation *data, size_t n,
                         int refit, gsl_rng *random)
{
    n_fits++;
    return surrogate_gp.fit(state, of, data, n, refit, random);
}

/* When there is no time for another round, the race is what makes something of the last one. */
TEST(where_blocks_grow_exploration_does_not_think_about_its_last_round)
{
    static struct surrogate_ops counting;
    static struct search_ops search;
    struct engine wanted = growing(0.5);
    struct engine_run run;
    n_fits = 0;
    counting = surrogate_gp;
    search = search_auto;
    counting.fit = fit_and_count;
    search.surrogate = &counting;
    wanted.search = &search;
    begin(wanted, 1);
    while (engine.n_rounds < 3 || engine.queue.next < engine.queue.n) {
        assert_int_equal(engine_ask(&engine, device.now, &run), ENGINE_RUN);
        make_run(&run);
    }
    assert_true(n_fits > 0);
    n_fits = 0;
    engine.explore_end_seconds = device.now;
    assert_int_equal(engine_ask(&engine, device.now, &run), ENGINE_TURN);
    assert_int_equal(engine.phase, ENGINE_RACE);
    assert_int_equal(n_fits, 0);
}

TEST(without_growth_a_block_has_each_point_once)
{
    begin(usual(), 1);
    run_until(ENGINE_RACE);
    next_block(ENGINE_RACE);
    for (size_t i = 0; i < engine.queue.n; i++)
        assert_int_equal(times_of(engine.queue.points[i]), 1);
}

TEST(no_block_is_longer_than_the_queue)
{
    begin(growing(1), 1);
    engine.n_handed = 100000;
    for (size_t n = 1; n <= 16; n++) {
        size_t runs = n * engine_replays(&engine, n);
        assert_true(runs <= ENGINE_MAX_QUEUED && runs + n > ENGINE_MAX_QUEUED);
    }
}

/* Isolated fast points are looked at one after the other, however long a block is: if all runs of a block
 * were of six of them, a search would take several times as many. */
TEST(growth_decides_seldom_and_still_settles)
{
    size_t n_looks[2] = {0}, n_runs[2] = {0};
    for (unsigned long seed = 1; seed <= TRIALS(8); seed++) {
        for (size_t i = 0; i < 2; i++) {
            begin(growing(i == 0 ? 0 : 0.5), seed);
            run_until(ENGINE_END);
            n_looks[i] += engine.n_looks;
            n_runs[i] += device.n_runs;
            assert_int_equal(engine.chosen, HILL);
            assert_int_equal(engine.stop, ENGINE_STOP_SEPARATED);
            assert_true(engine.conclusive && engine.shortfall <= 0.03);
        }
    }
    assert_true(2 * n_looks[1] < n_looks[0]);
    assert_true(n_runs[1] < 3 * n_runs[0]);
}
