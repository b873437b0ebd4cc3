/* Tests of tuner/search/tune: whole searches on simulated surfaces, with fixed seeds. */
#include "tests/tuner/search/tune_rig.h"
#include "tuner/base/interrupt.h"

#include <errno.h>

SEARCHES(enter);

TEST(a_clear_peak_is_found_and_proved_with_any_seed)
{
    for (unsigned seed = 1; seed <= 5; seed++) {
        search(words("peak.conf --seed %u", seed));
        assert_true(factors_equal(chosen(), &hill));
        assert_int_equal(tune.engine.best, tune.engine.chosen);
        assert_true(tune.engine.conclusive);
        assert_int_equal(tune.engine.stop, ENGINE_STOP_SEPARATED);
        assert_true(session_seconds(session) < 60);
    }
}

TEST(figures_come_from_replays_after_the_choice)
{
    search("peak.conf --seed 1");
    assert_true(answer.has_rows && answer.confirming && answer.has_baseline && answer.speedup.has);
    assert_true(answer.chosen.replays >= ENGINE_CONFIRMING_LEAST);
    assert_true(answer.baseline.replays >= ENGINE_CONFIRMING_LEAST);
    assert_int_equal(answer.chosen.replays, record_count(&tune.records[tune.engine.chosen], true));
    assert_true(answer.chosen.replays < tune.records[tune.engine.chosen].n);
    /* 2 GB/s and 2 GB/s * 0.64 * exp(-0.4), each known to a few percent */
    assert_close(answer.chosen.mean_bps / 2e9, 1, 0.05);
    assert_close(answer.speedup.mean, 1 / (0.64 * exp(-0.4)), 0.2);
    assert_true(answer.speedup.ci.low < answer.speedup.mean && answer.speedup.mean < answer.speedup.ci.high);
}

TEST(without_noise_the_figures_are_the_table)
{
    search("calm.conf --seed 7");
    assert_true(factors_equal(chosen(), &hill));
    assert_close(answer.chosen.mean_bps / 2e9, 1, 1e-3);
    assert_true(tune.engine.conclusive);
}

TEST(on_a_flat_surface_the_cheapest_is_recommended)
{
    search("still.conf --seed 3");
    assert_int_equal(factors_bytes_in_flight(chosen()), 4096);
    assert_int_equal(chosen()->api, API_PSYNC);
    assert_true(tune.engine.conclusive);
}

TEST(a_noisy_flat_surface_is_answered_within_the_tolerance)
{
    search("flat.conf --seed 3");
    assert_true(answer.has_rows);
    assert_close(answer.chosen.mean_bps / 500e6, 1, 0.1);
}

/* With runs that scatter by half, an answer must not always claim to be sure, and those that do must be
 * right. */
TEST(heavy_noise_is_not_always_conclusive_and_else_rightly_so)
{
    int n_conclusive = 0, n_wrong = 0, n_unsettled = 0;
    for (unsigned seed = 1; seed <= 20; seed++) {
        search(words("noisy.conf --seed %u --budget 10s", seed));
        n_conclusive += tune.engine.conclusive;
        n_wrong += tune.engine.conclusive && rig_peak_bps(chosen()) < 0.97 * rig_peak_bps(&hill);
        n_unsettled += !tune.engine.conclusive && tune.engine.stop == ENGINE_STOP_SEPARATED;
        assert_true(tune.engine.conclusive || tune.engine.stop == ENGINE_STOP_BUDGET ||
                    tune.engine.stop == ENGINE_STOP_SEPARATED);
    }
    print_message("# heavy noise: %d of 20 answers conclusive, %d of them wrong\n", n_conclusive, n_wrong);
    assert_true(n_conclusive < 13);
    assert_int_equal(n_wrong, 0);
    /* Where confirming replays weaken what had settled the search, it goes on. */
    assert_int_equal(n_unsettled, 0);
}

TEST(one_seed_gives_one_answer)
{
    double mean[3];
    for (unsigned i = 0; i < 3; i++) {
        search(words("flat.conf --budget 10s --seed %u", 11 + i / 2));
        mean[i] = answer.chosen.mean_bps;
    }
    assert_close(mean[0], mean[1], 0);
    assert_true(mean[0] != mean[2]);
}

TEST(every_method_ends_within_the_budget)
{
    static const char *const methods[] = {"auto", "gp", "quadratic", "random", "grid"};
    for (size_t i = 0; i < N_OF(methods); i++) {
        search(words("peak.conf --seed 5 --method %s --budget 120s", methods[i]));
        assert_true(factors_equal(chosen(), &hill));
    }
}

TEST(a_grid_measures_every_point_three_times)
{
    search("peak.conf --seed 5 --method grid --budget 120s");
    for (size_t i = 0; i < tune.space.n_points; i++)
        assert_true(record_count(&tune.records[i], false) >= ENGINE_GRID_REPLAYS);
}

TEST(a_grid_beyond_the_budget_is_refused)
{
    given("peak.conf --method grid --budget 5s");
    assert_int_equal(init(), -EINVAL);
    assert_non_null(strstr(err.text, "--budget"));
    assert_int_equal(session->n_runs, 0);
}

TEST(the_write_budget_is_never_crossed)
{
    search("peak.conf --seed 1 --max-write 2g");
    assert_true(session->bytes_written <= 2ULL << 30);
    assert_true(session->bytes_written > 1ULL << 30);
    assert_int_equal(tune.engine.stop, ENGINE_STOP_WRITES);
    assert_true(answer.has_rows);
}

TEST(a_write_budget_for_no_run_leaves_no_recommendation)
{
    search("peak.conf --max-write 1k");
    assert_int_equal(session->bytes_written, 0);
    assert_int_equal(tune.engine.chosen, ENGINE_NONE);
    assert_false(answer.has_rows);
    assert_non_null(strstr(answer.reason, "--max-write"));
}

TEST(a_budget_for_hardly_a_run_is_survived)
{
    rig_simulator("slow", "setup_seconds = 3.0;", rig_peak_bps);
    search("slow.conf --budget 1s");
    assert_int_equal(tune.engine.chosen, ENGINE_NONE);
    assert_non_null(answer.reason);
    assert_int_equal(session->n_runs, 0);
}

TEST(filling_that_took_the_budget_is_told)
{
    rig_simulator("slow", "setup_seconds = 3.0;", rig_peak_bps);
    begin_on("slow.conf --budget 1s");
    session->target.fill_seconds = 0.9;
    run_on();
    assert_false(answer.has_rows);
    assert_non_null(strstr(answer.reason, "filling the test file"));
}

static int fail_on_the_hill(void *context, const struct pattern *pattern, const struct point *point,
                            double *ret_bps, struct err *why)
{
    if (factors_equal(point, &hill))
        return err_set(why, -EIO, "a broken sector");
    return simulator_truth_bps(context, pattern, point, ret_bps, why);
}

static int fail_everywhere(void *context, const struct pattern *pattern, const struct point *point,
                           double *ret_bps, struct err *why)
{
    (void)context, (void)pattern, (void)point, (void)ret_bps;
    return err_set(why, -EIO, "a broken disk");
}

TEST(a_failing_point_is_left_out_and_the_search_goes_on)
{
    begin_on("peak.conf --seed 1");
    session->env.truth_bps = fail_on_the_hill;
    run_on();
    assert_true(answer.has_rows);
    assert_false(factors_equal(chosen(), &hill));
    assert_int_equal(tune.failure.code, -EIO);
    const struct note *note = find_note(&session->dropped, "64k x 4, direct, io_uring");
    assert_true(note != NULL && strstr(note->text, "a broken sector") != NULL);
}

/* The device stalls in the last run of all: its setting stays, when it ran before. */
static int stall_after_the_choice(void *context, const struct pattern *pattern, const struct point *point,
                                  double *ret_bps, struct err *why)
{
    (void)context;
    (void)pattern;
    *ret_bps = rig_peak_bps(point);
    return tune.engine.confirm.replay > ENGINE_MIN_REPLAYS ? err_set(why, -ETIME, "the time is over") : 0;
}

TEST(a_stall_in_the_end_leaves_the_answer_so_far)
{
    begin_on("peak.conf --seed 3 --budget 30s");
    session->env.truth_bps = stall_after_the_choice;
    run_on();
    assert_int_equal(tune.engine.stop, ENGINE_STOP_STALLED);
    assert_int_equal(tune.failure.code, 0);
    assert_true(factors_equal(chosen(), &hill));
    assert_true(tune.records[tune.engine.chosen].n >= ENGINE_MIN_REPLAYS);
}

TEST(where_every_run_fails_the_reason_is_told)
{
    begin_on("calm.conf --seed 1");
    session->env.truth_bps = fail_everywhere;
    run_on();
    assert_false(answer.has_rows);
    assert_non_null(strstr(answer.reason, "a broken disk"));
}

static int interrupt_after_the_tenth(void *context, const struct pattern *pattern, const struct point *point,
                                     double *ret_bps, struct err *why)
{
    if (session->n_runs == 10)
        atomic_store(&interrupt_signal, 2);
    return simulator_truth_bps(context, pattern, point, ret_bps, why);
}

TEST(an_interrupted_search_answers_with_what_it_has)
{
    begin_on("peak.conf --seed 1");
    session->env.truth_bps = interrupt_after_the_tenth;
    run_on();
    atomic_store(&interrupt_signal, 0);
    assert_int_equal(tune.engine.stop, ENGINE_STOP_INTERRUPTED);
    assert_true(answer.interrupted);
    assert_true(answer.has_rows);
    assert_false(answer.confirming || tune.engine.conclusive);
    assert_int_equal(session->n_runs, 10);
}

TEST(an_interruption_before_the_first_run_is_told)
{
    begin_on("peak.conf --seed 1");
    atomic_store(&interrupt_signal, 2);
    run_on();
    atomic_store(&interrupt_signal, 0);
    assert_true(answer.interrupted);
    assert_non_null(strstr(answer.reason, "interrupted"));
}

TEST(done_accepts_a_zeroed_tune)
{
    struct tune zero = {0};
    tune_done(&zero);
}

/* The time that is kept for the runs of each target alone. */
TEST(replays_of_several_targets_may_pass_their_end_by_a_quarter_of_what_is_kept)
{
    given("calm.conf --budget 60s");
    open_session();
    session->reserved_ns = 12 * CLOCK_NS_PER_S;
    assert_int_equal(tune_init(&tune, session, &err), 0);
    double of_one = tune.engine.grace_seconds;
    open_session();
    session->reserved_ns = 12 * CLOCK_NS_PER_S;
    settings.file.more_paths.n = 1;
    assert_int_equal(tune_init(&tune, session, &err), 0);
    settings.file.more_paths.n = 0;
    assert_close(tune.engine.grace_seconds, of_one + 3, 1e-9);
}
