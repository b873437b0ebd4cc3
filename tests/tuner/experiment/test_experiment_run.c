/* Tests of tuner/experiment/experiment_run, _resume and _json: runs on simulated surfaces, stopped and gone
 * on with. */
#include "tests/tuner/experiment/experiment_rig.h"
#include "tuner/base/interrupt.h"

#include <errno.h>

EXPERIMENTS(enter);

#define PEAK    "--simulate peak.conf --pattern randwrite --api io_uring --direct 1 --quiet "
#define SIZES   "--request-size 4k,64k "
#define DEPTHS  "--queue-depth 1,4 "
#define LENGTH  "--duration 200ms "
#define ON_PEAK PEAK SIZES DEPTHS LENGTH

TEST(every_cell_has_its_replays)
{
    bool seen[13] = {false};
    run(ON_PEAK "--seed 1 --replays 3");
    for (size_t i = 0; i < experiment.n_cells; i++) {
        const struct experiment_cell *cell = &experiment.cells[i];
        assert_int_equal(cell->record.n, 3);
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(experiment.order[cell->numbers[k] - 1], i);
            assert_true(k == 0 || cell->numbers[k] > cell->numbers[k - 1]);
            assert_false(seen[cell->numbers[k]]);
            seen[cell->numbers[k]] = true;
        }
    }
    assert_false(experiment.interrupted);
}

/* A surface completes some 5 ms of requests at once: that is how close counts can be. */
TEST(replays_make_as_many_requests_as_the_first_run)
{
    rig_simulator("slower", "run_cv = 0.3; setup_seconds = 0.05;", rig_peak_bps);
    run("--simulate slower.conf --pattern randwrite --api io_uring --direct 1 --request-size 4k,64k "
        "--queue-depth 1,4 --duration 500ms --seed 1");
    for (size_t i = 0; i < experiment.n_cells; i++) {
        const struct record *record = &experiment.cells[i].record;
        double first = (double)record->samples[0].moved_bytes, scatter = 0;
        assert_close(record->samples[0].seconds, 0.5, 0.02);
        for (size_t k = 1; k < record->n; k++) {
            assert_close((double)record->samples[k].moved_bytes / first, 1, 0.03);
            scatter = fmax(scatter, fabs(record->samples[k].seconds - 0.5));
        }
        assert_true(scatter > 0.05);
    }
}

TEST(batches_bound_the_first_run_too)
{
    run(PEAK DEPTHS LENGTH "--seed 1 --batches 2000 --batch 5 --replays 2 --request-size 4k");
    for (size_t i = 0; i < experiment.n_cells; i++) {
        for (size_t k = 0; k < 2; k++)
            assert_close((double)experiment.cells[i].record.samples[k].moved_bytes / 4096, 10000, 600);
    }
}

static bool has_warning(const char *code)
{
    for (size_t i = 0; i < session->warnings.n; i++) {
        if (strcmp(session->warnings.note[i].code, code) == 0)
            return true;
    }
    return false;
}

/* Eight times slower than the first run may be: four times its duration is enough. */
TEST(a_replay_that_takes_too_long_is_shorter)
{
    rig_write(
        "late.conf",
        "name = \"late\"; points = \"peak.csv\"; trace = \"late-trace.csv\"; noise = { op_cv = 0.1; };\n");
    rig_write("late-trace.csv", "seconds,factor\n0,1\n0.4,0.1\n");
    run("--simulate late.conf --pattern randwrite --api io_uring --direct 1 --request-size 4k --queue-depth "
        "1 "
        "--duration 200ms --warmup-limit 0s --replays 3 --seed 1");
    const struct record *record = &experiment.cells[0].record;
    assert_int_equal(record->n, 3);
    assert_true(record->samples[2].moved_bytes < record->samples[0].moved_bytes);
    assert_close(record->samples[2].seconds, 0.8, 0.05);
    assert_true(has_warning("replay_shorter"));
    run(ON_PEAK "--seed 1");
    assert_false(has_warning("replay_shorter"));
}

TEST(patterns_are_measured_as_patterns)
{
    rig_write("two.conf", "name = \"two\"; points = \"two.csv\";\n");
    rig_write("two.csv", "pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n"
                         "randwrite,4096,1,1,io_uring,1,100e6\nrandread,4096,1,1,io_uring,1,400e6\n");
    run("--simulate two.conf --pattern randread,randwrite --replays 2 --duration 200ms");
    assert_int_equal(experiment.n_cells, 2);
    char conditions[64];
    experiment_conditions(&experiment, &experiment.cells[1], conditions, sizeof conditions);
    assert_string_equal(conditions, "pattern=randwrite");
    assert_close(experiment.cells[0].record.samples[0].throughput_bps / 400e6, 1, 0.01);
    assert_close(experiment.cells[1].record.samples[0].throughput_bps / 100e6, 1, 0.01);
    assert_true(session->bytes_read > 0 && session->bytes_written > 0);
}

TEST(an_interruption_keeps_what_is_done)
{
    assert_int_equal(plan(ON_PEAK "--seed 1"), 0);
    assert_int_equal(experiment_check(&experiment, &err), 0);
    atomic_store(&interrupt_signal, 2);
    assert_int_equal(experiment_run(&experiment, &err), 0);
    atomic_store(&interrupt_signal, 0);
    assert_true(experiment.interrupted);
    json_auto_t *document = experiment_json(&experiment);
    CHECK_JSON(document, "interrupted=true", "points.0.mean=null", "points.0.replays=0");
}

/* The first lines of a journal: its header and n runs. */
static void cut_journal(const char *from, const char *to, size_t n_lines)
{
    char text[512];
    snprintf(text, sizeof text, "head -n %zu %s >%s", n_lines, from, to);
    assert_int_equal(system(text), 0);
}

TEST(a_journal_brings_the_runs_back)
{
    double means[4];
    run(ON_PEAK "--seed 9 --replays 4 --resume whole.jsonl");
    for (size_t i = 0; i < 4; i++)
        means[i] = record_log_moments(&experiment.cells[i].record, false).mean;
    done();
    cut_journal("whole.jsonl", "part.jsonl", 8);
    run(ON_PEAK "--replays 4 --resume part.jsonl");
    assert_int_equal(session->seed, 9);
    assert_int_equal(experiment.n_taken, 7);
    assert_int_equal(experiment.n_made, 16);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(experiment.cells[i].record.n, 4);
        assert_close(record_log_moments(&experiment.cells[i].record, false).mean, means[i], 0.05);
    }
    assert_int_equal(plan(ON_PEAK "--replays 4 --resume part.jsonl"), 0);
    assert_int_equal(experiment.n_made, 16);
}

#define RESUMED "--resume other.jsonl "
#define OTHER   ON_PEAK RESUMED

TEST(a_journal_of_something_else_is_refused)
{
    static const struct {
        const char *words, *part;
    } cases[] = {
        {OTHER "--replays 3", "replays is 3 here"},
        {OTHER "--replays 2 --design random:3", "design is \"random\" here"},
        {OTHER "--replays 2 --batches 5", "batches is 5 here"},
        {PEAK SIZES LENGTH RESUMED "--replays 2 --queue-depth 1,16", "queue_depth is [1,16] here"},
        {PEAK SIZES DEPTHS RESUMED "--replays 2 --duration 300ms", "duration_ns is 300000000 here"},
        {OTHER "--replays 2 --seed 4", "seed is 4 here"},
    };
    run(ON_PEAK "--seed 9 --replays 2 --resume other.jsonl");
    done();
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(plan(cases[i].words), -EINVAL);
        assert_contains(err.text, cases[i].part);
    }
}

TEST(a_run_in_the_wrong_place_is_refused)
{
    run(ON_PEAK "--seed 9 --replays 2 --resume twice.jsonl");
    done();
    assert_int_equal(
        system("tail -n 1 twice.jsonl >last && cat last >>twice.jsonl && cat last >>twice.jsonl"), 0);
    assert_int_equal(plan(ON_PEAK "--replays 2 --resume twice.jsonl"), -EINVAL);
    assert_contains(err.text, "line 10 is no run of this experiment");
}

TEST(a_write_budget_leaves_runs_out)
{
    run(ON_PEAK "--seed 1 --max-write 500m");
    assert_true(experiment.n_refused > 0);
    assert_true(experiment.n_made > 0 && experiment.n_made < experiment.n_runs);
    assert_true(session->bytes_written <= 500U << 20);
}
