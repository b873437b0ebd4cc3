/* Tests of tuner/tune and its parts: whole searches on simulated surfaces, with fixed seeds. */
#include "tests/check.h"
#include "tests/tuner/rig.h"
#include "tuner/interrupt.h"
#include "tuner/report.h"
#include "tuner/tune.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct settings settings;
static struct session *session;
static struct tune tune;
static struct answer answer;
static struct err err;

static int enter(void **state)
{
    gsl_set_error_handler_off();
    if (rig_enter(state) != 0)
        return -1;
    rig_surface("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    rig_surface("noisy", "run_cv = 0.5; setup_seconds = 0.05;", rig_peak_bps);
    rig_surface("calm", "", rig_peak_bps);
    rig_surface("flat", "run_cv = 0.05; setup_seconds = 0.05;", rig_flat_bps);
    rig_surface("still", "", rig_flat_bps);
    return 0;
}

/* The space's point that the surface was made to be best at. */
static const struct point hill = {65536, 4, 1, API_IO_URING, 1, SYNC_END};

static int init(void)
{
    memset(&err, 0, sizeof err);
    memset(&tune, 0, sizeof tune);
    session = rig_open_session(&settings);
    return tune_init(&tune, session, &err);
}

/* Everything, up to the answer. */
static void run(void)
{
    if (init() != 0 || tune_run(&tune, &err) != 0)
        fail_msg("%s", err.text);
    answer_prepare(&answer, &tune);
}

static void done(void)
{
    tune_done(&tune);
    rig_close_session(session);
}

static const struct point *chosen(void)
{
    assert_true(tune.chosen < tune.space.n_points);
    return &tune.records[tune.chosen].point;
}

/* What must hold after every search, whatever it found. */
static void check_bounds(void)
{
    size_t told = 0;
    for (size_t i = 0; i < tune.n_records; i++) {
        told += tune.records[i].n;
        for (size_t k = 0; k < tune.records[i].n; k++)
            assert_true(tune.records[i].samples[k].throughput_bps > 0);
    }
    assert_int_equal(told, session->n_runs);
    assert_true(tune.probability >= 0 && tune.probability <= 1);
    assert_true(session_seconds(session) <= (double)settings.budget_ns / 1e9 + 5);
    assert_int_not_equal(tune.stop, TUNE_STOP_NOT_YET);
    if (tune.conclusive)
        assert_true(tune.probability >= settings.confidence_share);
}

static void a_clear_peak_is_found_and_proved_with_any_seed(void **state)
{
    (void)state;
    static const char *const seeds[] = {"1", "2", "3", "4", "5"};
    for (size_t i = 0; i < RIG_COUNT(seeds); i++) {
        rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", seeds[i],
                     NULL);
        run();
        assert_true(factors_equal(chosen(), &hill));
        assert_int_equal(tune.best, tune.chosen);
        assert_true(tune.conclusive);
        assert_int_equal(tune.stop, TUNE_STOP_SEPARATED);
        assert_true(session_seconds(session) < 60);
        check_bounds();
        done();
    }
}

static void figures_come_from_replays_after_the_choice(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "1", NULL);
    run();
    assert_true(answer.has_rows && answer.fresh && answer.has_baseline && answer.has_speedup);
    assert_true(answer.chosen.replays >= TUNE_FRESH_LEAST);
    assert_true(answer.baseline.replays >= TUNE_FRESH_LEAST);
    assert_int_equal(answer.chosen.replays, record_count(&tune.records[tune.chosen], true));
    assert_true(answer.chosen.replays < tune.records[tune.chosen].n);
    /* 2 GB/s and 2 GB/s * 0.64 * exp(-0.4), each known to a few percent */
    assert_close(answer.chosen.mean_bps / 2e9, 1, 0.05);
    assert_close(answer.speedup_mean, 1 / (0.64 * exp(-0.4)), 0.2);
    assert_true(answer.speedup.low < answer.speedup_mean && answer.speedup_mean < answer.speedup.high);
    done();
}

static void without_noise_the_figures_are_the_table(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "calm.conf", "--seed", "7", NULL);
    run();
    assert_true(factors_equal(chosen(), &hill));
    assert_close(answer.chosen.mean_bps / 2e9, 1, 1e-3);
    assert_true(tune.conclusive);
    check_bounds();
    done();
}

static void on_a_flat_surface_the_cheapest_is_recommended(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "still.conf", "--seed", "3", NULL);
    run();
    assert_int_equal(factors_bytes_in_flight(chosen()), 4096);
    assert_int_equal(chosen()->api, API_PSYNC);
    assert_true(tune.conclusive);
    check_bounds();
    done();
}

static void a_noisy_flat_surface_is_answered_within_the_tolerance(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "flat.conf", "--seed", "3", NULL);
    run();
    assert_true(answer.has_rows);
    assert_close(answer.chosen.mean_bps / 500e6, 1, 0.1);
    check_bounds();
    done();
}

static void heavy_noise_is_not_called_conclusive(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "noisy.conf", "--seed", "3", "--budget",
                 "10s", NULL);
    run();
    assert_false(tune.conclusive);
    assert_int_equal(tune.stop, TUNE_STOP_BUDGET);
    check_bounds();
    done();
}

/* Depth 16 is 1 % faster than depth 4, 64k the only size. */
static double nearly_flat_bps(const struct point *point)
{
    double depth = point->queue_depth == 16 ? 1.01 : point->queue_depth == 4 ? 1 : 0.5;
    return 1e9 * depth * (point->request_size_bytes == 65536 ? 1 : 0.3) * (point->direct ? 1 : 0.5);
}

static void the_cheaper_of_two_equivalents_is_recommended(void **state)
{
    (void)state;
    rig_surface("near", "run_cv = 0.005; setup_seconds = 0.01;", nearly_flat_bps);
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "near.conf", "--seed", "1", NULL);
    run();
    assert_int_equal(tune.records[tune.best].point.queue_depth, 16);
    assert_int_equal(chosen()->queue_depth, 4);
    assert_int_equal(chosen()->request_size_bytes, 65536);
    assert_int_equal(tune.verdicts[tune.chosen], VERDICT_EQUIVALENT);
    done();
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "near.conf", "--seed", "1", "--tolerance",
                 "0.3%", NULL);
    run();
    assert_int_equal(chosen()->queue_depth, 16);
    done();
}

static void one_seed_gives_one_answer(void **state)
{
    (void)state;
    double mean[3];
    static const char *const seeds[] = {"11", "11", "12"};
    for (size_t i = 0; i < 3; i++) {
        rig_settings(&settings, "--pattern", "randwrite", "--simulate", "flat.conf", "--budget", "10s",
                     "--seed", seeds[i], NULL);
        run();
        mean[i] = answer.chosen.mean_bps;
        done();
    }
    assert_close(mean[0], mean[1], 0);
    assert_true(mean[0] != mean[2]);
}

static void every_method_ends_within_the_budget(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "gp", "quadratic", "random", "grid"};
    for (size_t i = 0; i < RIG_COUNT(methods); i++) {
        rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "5",
                     "--method", methods[i], "--budget", "120s", NULL);
        run();
        assert_true(factors_equal(chosen(), &hill));
        check_bounds();
        done();
    }
}

static void a_grid_measures_every_point_three_times(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "5", "--method",
                 "grid", "--budget", "120s", NULL);
    run();
    for (size_t i = 0; i < tune.space.n_points; i++)
        assert_true(record_count(&tune.records[i], false) >= TUNE_GRID_REPLAYS);
    done();
}

static void a_grid_beyond_the_budget_is_refused(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--method", "grid",
                 "--budget", "5s", NULL);
    assert_int_equal(init(), -EINVAL);
    assert_non_null(strstr(err.text, "--budget"));
    assert_int_equal(session->n_runs, 0);
    done();
}

static void the_write_budget_is_never_crossed(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "1", "--max-write",
                 "5g", NULL);
    run();
    assert_true(session->bytes_written <= 5ULL << 30);
    assert_true(session->bytes_written > 1ULL << 30);
    assert_int_equal(tune.stop, TUNE_STOP_WRITES);
    assert_true(answer.has_rows);
    done();
}

static void a_write_budget_for_no_run_leaves_no_recommendation(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--max-write", "1k", NULL);
    run();
    assert_int_equal(session->bytes_written, 0);
    assert_int_equal(tune.chosen, TUNE_NONE);
    assert_false(answer.has_rows);
    assert_non_null(strstr(answer.reason, "--max-write"));
    done();
}

static void a_budget_for_hardly_a_run_is_survived(void **state)
{
    (void)state;
    rig_surface("slow", "setup_seconds = 3.0;", rig_peak_bps);
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "slow.conf", "--budget", "1s", NULL);
    run();
    assert_int_equal(tune.chosen, TUNE_NONE);
    assert_non_null(answer.reason);
    assert_int_equal(session->n_runs, 0);
    done();
}

static void latency_wants_one_size_and_one_number_of_threads(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--objective", "latency",
                 NULL);
    assert_int_equal(init(), -EINVAL);
    assert_non_null(strstr(err.text, "--request-size"));
    done();
}

/* In the table latency is depth x size / throughput: without noise depth 1 has the lowest. */
static void the_latency_objective_takes_the_lowest_latency(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--objective", "latency",
                 "--request-size", "64k", "--seed", "1", NULL);
    run();
    assert_int_equal(chosen()->queue_depth, 1);
    assert_int_equal(chosen()->direct, 1);
    assert_int_equal(chosen()->api, API_IO_URING);
    /* 65536 / (2e9 * exp(-0.4)) s */
    assert_close(answer.chosen.latency_ns.mean, 65536 / (2e9 * exp(-0.4)) * 1e9, 2000);
    check_bounds();
    done();
}

static void a_p99_that_no_point_meets_leaves_no_recommendation(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--max-latency-p99", "1us",
                 "--seed", "1", NULL);
    run();
    assert_int_equal(tune.chosen, TUNE_NONE);
    assert_false(answer.has_rows);
    assert_non_null(strstr(answer.reason, "--max-latency-p99"));
    assert_true(isfinite(tune.lowest_p99_ns) && tune.lowest_p99_ns > 1000);
    done();
}

static void a_p99_bound_excludes_faster_points(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--max-latency-p99", "100us",
                 "--seed", "1", NULL);
    run();
    /* The hill itself has 4 x 64k / 2 GB/s = 131 us. */
    assert_true(answer.has_rows);
    assert_false(factors_equal(chosen(), &hill));
    assert_true(answer.chosen.latency_ns.p99 <= 100000);
    done();
}

static void the_default_is_the_baseline(void **state)
{
    (void)state;
    const struct point standard = {65536, 1, 0, API_PSYNC, 1, SYNC_END};
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "1", NULL);
    assert_int_equal(init(), 0);
    assert_true(tune.baseline_is_default);
    assert_true(factors_equal(&tune.records[tune.baseline].point, &standard));
    assert_int_equal(tune.standard, TUNE_NONE);
    assert_int_equal(tune.n_records, tune.space.n_points);
    done();
}

static void a_current_setting_is_measured_beside_the_default(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "1", "--current",
                 "request_size=8k,queue_depth=2,api=io_uring", NULL);
    run();
    assert_false(tune.baseline_is_default);
    assert_true(tune.standard != TUNE_NONE && answer.has_standard && answer.has_standard_speedup);
    /* Outside the space: measured, never recommended. */
    assert_true(tune.baseline >= tune.space.n_points);
    assert_true(answer.baseline.replays >= TUNE_FRESH_LEAST);
    assert_int_equal(answer.baseline.point.request_size_bytes, 8192);
    done();
}

static void a_current_setting_outside_the_table_is_refused(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--current", "threads=2",
                 NULL);
    assert_int_equal(init(), -EINVAL);
    assert_non_null(strstr(err.text, "--current"));
    done();
}

static void a_table_without_the_default_takes_its_cheapest_point(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--api", "io_uring",
                 "--seed", "1", NULL);
    rig_write("few.csv", "pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n"
                         "randwrite,4k,2,1,io_uring,1,1e8\nrandwrite,4k,4,1,io_uring,1,1.5e8\n"
                         "randwrite,1m,1,1,io_uring,1,4e8\n");
    rig_write("few.conf", "points = \"few.csv\"; noise = { run_cv = 0.01; setup_seconds = 0.05; };");
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "few.conf", "--seed", "1", NULL);
    run();
    assert_false(tune.baseline_is_default);
    assert_int_equal(tune.records[tune.baseline].point.queue_depth, 2);
    assert_int_equal(chosen()->request_size_bytes, 1 << 20);
    done();
}

static void a_space_of_one_point_is_answered(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "1",
                 "--request-size", "4k", "--queue-depth", "1", "--direct", "0", "--api", "psync", NULL);
    run();
    assert_int_equal(tune.space.n_points, 1);
    assert_int_equal(tune.chosen, 0);
    assert_true(answer.has_speedup);
    assert_close(answer.speedup_mean, 1, 0);
    check_bounds();
    done();
}

static int fail_on_the_hill(void *context, const struct pattern *pattern, const struct point *point,
                            double *ret_bps, struct err *why)
{
    if (factors_equal(point, &hill))
        return err_set(why, -EIO, "a broken sector");
    return surface_truth_bps(context, pattern, point, ret_bps, why);
}

static int fail_everywhere(void *context, const struct pattern *pattern, const struct point *point,
                           double *ret_bps, struct err *why)
{
    (void)context, (void)pattern, (void)point, (void)ret_bps;
    return err_set(why, -EIO, "a broken disk");
}

static void a_failing_point_is_left_out_and_the_search_goes_on(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "1", NULL);
    assert_int_equal(init(), 0);
    session->env.truth_bps = fail_on_the_hill;
    assert_int_equal(tune_run(&tune, &err), 0);
    answer_prepare(&answer, &tune);
    assert_true(answer.has_rows);
    assert_false(factors_equal(chosen(), &hill));
    assert_int_equal(tune.failure.code, -EIO);
    bool noted = false;
    for (size_t i = 0; i < session->dropped.n; i++)
        noted |= strcmp(session->dropped.note[i].code, "64k x 4, direct, io_uring") == 0 &&
                 strstr(session->dropped.note[i].text, "a broken sector") != NULL;
    assert_true(noted);
    done();
}

static void where_every_run_fails_the_reason_is_told(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "calm.conf", "--seed", "1", NULL);
    assert_int_equal(init(), 0);
    session->env.truth_bps = fail_everywhere;
    assert_int_equal(tune_run(&tune, &err), 0);
    answer_prepare(&answer, &tune);
    assert_false(answer.has_rows);
    assert_non_null(strstr(answer.reason, "a broken disk"));
    done();
}

static int interrupt_after_the_tenth(void *context, const struct pattern *pattern, const struct point *point,
                                     double *ret_bps, struct err *why)
{
    if (session->n_runs == 10)
        atomic_store(&interrupt_signal, 2);
    return surface_truth_bps(context, pattern, point, ret_bps, why);
}

static void an_interrupted_search_answers_with_what_it_has(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "1", NULL);
    assert_int_equal(init(), 0);
    session->env.truth_bps = interrupt_after_the_tenth;
    assert_int_equal(tune_run(&tune, &err), 0);
    answer_prepare(&answer, &tune);
    atomic_store(&interrupt_signal, 0);
    assert_int_equal(tune.stop, TUNE_STOP_INTERRUPTED);
    assert_true(answer.interrupted);
    assert_true(answer.has_rows);
    assert_false(answer.fresh || tune.conclusive);
    assert_int_equal(session->n_runs, 10);
    done();
}

static void an_interruption_before_the_first_run_is_told(void **state)
{
    (void)state;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "1", NULL);
    assert_int_equal(init(), 0);
    atomic_store(&interrupt_signal, 2);
    assert_int_equal(tune_run(&tune, &err), 0);
    answer_prepare(&answer, &tune);
    atomic_store(&interrupt_signal, 0);
    assert_true(answer.interrupted);
    assert_non_null(strstr(answer.reason, "interrupted"));
    done();
}

static void done_accepts_a_zeroed_tune(void **state)
{
    (void)state;
    struct tune zero = {0};
    tune_done(&zero);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clear_peak_is_found_and_proved_with_any_seed),
        cmocka_unit_test(figures_come_from_replays_after_the_choice),
        cmocka_unit_test(without_noise_the_figures_are_the_table),
        cmocka_unit_test(on_a_flat_surface_the_cheapest_is_recommended),
        cmocka_unit_test(a_noisy_flat_surface_is_answered_within_the_tolerance),
        cmocka_unit_test(heavy_noise_is_not_called_conclusive),
        cmocka_unit_test(the_cheaper_of_two_equivalents_is_recommended),
        cmocka_unit_test(one_seed_gives_one_answer),
        cmocka_unit_test(every_method_ends_within_the_budget),
        cmocka_unit_test(a_grid_measures_every_point_three_times),
        cmocka_unit_test(a_grid_beyond_the_budget_is_refused),
        cmocka_unit_test(the_write_budget_is_never_crossed),
        cmocka_unit_test(a_write_budget_for_no_run_leaves_no_recommendation),
        cmocka_unit_test(a_budget_for_hardly_a_run_is_survived),
        cmocka_unit_test(latency_wants_one_size_and_one_number_of_threads),
        cmocka_unit_test(the_latency_objective_takes_the_lowest_latency),
        cmocka_unit_test(a_p99_that_no_point_meets_leaves_no_recommendation),
        cmocka_unit_test(a_p99_bound_excludes_faster_points),
        cmocka_unit_test(the_default_is_the_baseline),
        cmocka_unit_test(a_current_setting_is_measured_beside_the_default),
        cmocka_unit_test(a_current_setting_outside_the_table_is_refused),
        cmocka_unit_test(a_table_without_the_default_takes_its_cheapest_point),
        cmocka_unit_test(a_space_of_one_point_is_answered),
        cmocka_unit_test(a_failing_point_is_left_out_and_the_search_goes_on),
        cmocka_unit_test(where_every_run_fails_the_reason_is_told),
        cmocka_unit_test(an_interrupted_search_answers_with_what_it_has),
        cmocka_unit_test(an_interruption_before_the_first_run_is_told),
        cmocka_unit_test(done_accepts_a_zeroed_tune),
    };
    return cmocka_run_group_tests_name("tuner/tune", tests, enter, rig_leave);
}
