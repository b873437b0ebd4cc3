/* Tests of tuner/experiment/experiment_plan: which points a design has, and the order of its runs. */
#include "tests/tuner/experiment/experiment_rig.h"

#include <errno.h>

EXPERIMENTS(enter);

#define ON_PEAK "--simulate peak.conf --pattern randwrite --seed 3 "

static bool has_dropped(const char *part)
{
    for (size_t i = 0; i < session->dropped.n; i++) {
        if (strstr(session->dropped.note[i].code, part) != NULL)
            return true;
    }
    return false;
}

TEST(a_full_design_has_every_legal_combination)
{
    assert_int_equal(
        plan(ON_PEAK "--request-size 4k,64k --queue-depth 1,4 --direct 0,1 --api psync,io_uring"), 0);
    /* psync at depth 4 leaves: 2 sizes x 2 direct x (psync 1, io_uring 1 and 4). */
    assert_int_equal(experiment.n_cells, 12);
    assert_true(has_dropped("psync"));
    size_t varied[EXPERIMENT_N];
    assert_int_equal(experiment_varied(&experiment, varied), 4);
    assert_int_equal(varied[0], FACTOR_REQUEST_SIZE);
}

TEST(factors_stand_in_the_order_given)
{
    size_t varied[EXPERIMENT_N];
    assert_int_equal(plan(ON_PEAK "--direct 0,1 --api io_uring --queue-depth 1,4 --request-size 4k"), 0);
    assert_int_equal(experiment_varied(&experiment, varied), 2);
    assert_int_equal(varied[0], FACTOR_DIRECT);
    assert_int_equal(varied[1], FACTOR_QUEUE_DEPTH);
}

TEST(a_surface_gives_the_levels_that_nobody_asked_for)
{
    assert_int_equal(plan(ON_PEAK), 0);
    /* Its table: 4 sizes x 2 direct x (3 depths of io_uring and psync at 1). */
    assert_int_equal(experiment.n_cells, 32);
}

TEST(the_order_holds_every_replay_of_every_cell)
{
    size_t n[32] = {0}, in_place = 0;
    assert_int_equal(plan(ON_PEAK "--replays 4"), 0);
    assert_int_equal(experiment.n_runs, 128);
    for (size_t i = 0; i < experiment.n_runs; i++) {
        n[experiment.order[i]]++;
        in_place += experiment.order[i] == i / 4;
    }
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(n[i], 4);
    assert_true(in_place < 32);
}

TEST(the_order_is_the_seeds)
{
    uint32_t first[160];
    assert_int_equal(plan(ON_PEAK), 0);
    assert_int_equal(experiment.n_runs, 160);
    memcpy(first, experiment.order, sizeof first);
    assert_int_equal(plan(ON_PEAK), 0);
    assert_memory_equal(experiment.order, first, sizeof first);
    assert_int_equal(plan("--simulate peak.conf --pattern randwrite --seed 4"), 0);
    assert_memory_not_equal(experiment.order, first, sizeof first);
}

TEST(designs_have_the_points_asked_for)
{
    static const struct {
        const char *name;
        size_t n;
    } designs[] = {{"sobol:10", 10}, {"random:7", 7}, {"lhs:5", 5}, {"full", 32}, {"random:99", 32}};
    char words[160];
    for (size_t i = 0; i < N_OF(designs); i++) {
        snprintf(words, sizeof words, ON_PEAK "--design %s", designs[i].name);
        assert_int_equal(plan(words), 0);
        assert_int_equal(experiment.n_cells, designs[i].n);
        for (size_t k = 1; k < experiment.n_cells; k++)
            assert_memory_not_equal(experiment.cells[k].level, experiment.cells[k - 1].level,
                                    sizeof experiment.cells[k].level);
    }
}

TEST(half_of_a_design_has_even_sums)
{
    assert_int_equal(
        plan(ON_PEAK "--design fractional --api io_uring --request-size 4k,16k --queue-depth 1,4"), 0);
    assert_int_equal(experiment.n_cells, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct point *point = &experiment.cells[i].record.point;
        bool odd = (point->request_size_bytes == 16384) != (point->queue_depth == 4);
        assert_int_equal(odd, point->direct);
    }
}

TEST(tests_are_joined_and_counted_once)
{
    rig_write("tests.conf", "api = \"io_uring\"; direct = 1; pattern = \"randwrite\";\n"
                            "tests = ( { request_size = \"4k\"; queue_depth = \"1,4\"; },\n"
                            "          { request_size = \"4k,64k\"; queue_depth = 4; } );\n");
    assert_int_equal(plan("tests.conf --simulate peak.conf"), 0);
    assert_int_equal(experiment.n_cells, 3);
    assert_int_equal(experiment.cells[1].test, 0);
    assert_int_equal(experiment.cells[2].test, 1);
}

TEST(what_a_surface_has_not_is_refused)
{
    static const struct {
        const char *words, *part;
    } cases[] = {
        {ON_PEAK "--sync none", "only sync end"},
        {ON_PEAK "--cache warm,cold", "has no file"},
        {ON_PEAK "--file-size 128m", "has no file"},
        {ON_PEAK "--queue-depth 2..1024 --request-size 1m", "no point is left"},
        {ON_PEAK "--api psync --queue-depth 4", "no point is left"},
        {ON_PEAK "--design sobol:3 --api io_uring --request-size 4k --queue-depth 1 --direct 1",
         "0 factors vary"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(plan(cases[i].words), -EINVAL);
        assert_contains(err.text, cases[i].part);
    }
}

TEST(plain_values_stand_where_nothing_is_asked_for)
{
    assert_int_equal(plan("--pattern randread --path ."), 0);
    const struct point *point = &experiment.cells[0].record.point;
    const struct point expected = {65536, 1, 0, API_IO_URING, 1, SYNC_END, 0, 0};
    assert_int_equal(experiment.n_cells, 1);
    assert_true(factors_equal(point, &expected));
}
