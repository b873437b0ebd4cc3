/* Tests of tuner/search/tune_length: the pilot on simulated surfaces whose best length is known. */
#include "tests/test.h"
#include "tests/tuner/search/tune_rig.h"

#include <string.h>

/* 300 requests of 64k a second at one in flight. */
static double slow_bps(const struct point *point)
{
    return rig_peak_bps(point) / 100;
}

/* 3000 of them: the longest run is longer than any of these needs. */
static double tenth_bps(const struct point *point)
{
    return rig_peak_bps(point) / 10;
}

static double twentieth_bps(const struct point *point)
{
    return rig_peak_bps(point) / 20;
}

FIXTURE(enter_here)
{
    if (enter(test_state) != 0)
        return -1;
    rig_simulator("steady_inside", "run_cv = 0.1; setup_seconds = 0.05;", rig_peak_bps);
    rig_simulator("dear", "run_cv = 0.02; op_cv = 1.0; setup_seconds = 2.0;", tenth_bps);
    rig_simulator("cheap", "run_cv = 0.02; op_cv = 1.0; setup_seconds = 0.0;", tenth_bps);
    rig_simulator("rising", "run_cv = 0.02; setup_seconds = 0.05; warmup_seconds = 0.2; warmup_factor = 0.3;",
                  rig_peak_bps);
    rig_simulator("falling",
                  "run_cv = 0.1; setup_seconds = 0.005; warmup_seconds = 0.1; warmup_factor = 3.0;",
                  tenth_bps);
    rig_simulator("wide", "run_cv = 0.3; setup_seconds = 0.05;", twentieth_bps);
    rig_simulator("slow", "run_cv = 0.02; setup_seconds = 0.1;", slow_bps);
    return 0;
}

GROUP(enter_here, rig_leave);

/* The pilot and what it decided. */
static void pilot(const char *simulator, const char *budget, const char *seed)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", simulator, "--budget", budget, "--seed",
                 seed, NULL);
    assert_int_equal(init(), 0);
    assert_int_equal(tune_length(&tune, &err), 0);
}

TEST(runs_that_are_steady_inside_stay_short)
{
    static const char *const seeds[] = {"1", "2", "3", "4", "5", "6"};
    for (size_t i = 0; i < RIG_COUNT(seeds); i++) {
        pilot("steady_inside.conf", "60s", seeds[i]);
        assert_int_equal(tune.duration_ns, MEASURE_MIN_DURATION_NS);
        assert_int_equal(tune.length.warmup_least_ns, 0);
        assert_non_null(strstr(tune.length.why, "cost more than they teach"));
        assert_int_equal(tune.length.n_discarded, 0);
        done();
    }
}

/* The pilot's runs are then replays as any others. */
TEST(a_pilot_that_changes_nothing_wastes_nothing)
{
    size_t n = 0;
    pilot("steady_inside.conf", "60s", "1");
    for (size_t i = 0; i < tune.n_records; i++)
        n += tune.records[i].n;
    assert_int_equal(n, session->n_runs);
    assert_true(n >= 10);
    assert_true(tune.records[tune.baseline].n > 0);
    assert_true(session_seconds(session) <= (TUNE_LENGTH_SHARE + 0.02) * 60);
    done();
}

TEST(where_set_up_is_dear_and_requests_scatter_runs_are_longer)
{
    static const char *const seeds[] = {"1", "2", "3", "4"};
    for (size_t i = 0; i < RIG_COUNT(seeds); i++) {
        pilot("cheap.conf", "60s", seeds[i]);
        uint64_t cheap_ns = tune.duration_ns;
        done();
        pilot("dear.conf", "30m", seeds[i]);
        assert_true(tune.duration_ns > cheap_ns);
        assert_true(tune.duration_ns >= 80000000);
        done();
    }
}

/* Replays of a point never mix lengths. */
TEST(runs_of_another_length_leave_the_records)
{
    size_t n_told = 0;
    pilot("dear.conf", "30m", "1");
    assert_true(tune.duration_ns > MEASURE_MIN_DURATION_NS);
    for (size_t i = 0; i < tune.n_records; i++) {
        for (size_t k = 0; k < tune.records[i].n; k++)
            assert_true(tune.records[i].samples[k].seconds >= (double)tune.duration_ns / 1e9);
        n_told += tune.records[i].n;
        if (i < tune.space.n_points)
            assert_int_equal(tune.belief.moments[i].n, tune.records[i].n);
    }
    assert_true(n_told >= 4);
    assert_true(tune.length.n_discarded >= 10);
    assert_int_equal(n_told + tune.length.n_discarded, session->n_runs);
    done();
}

TEST(a_slow_start_is_waited_for)
{
    size_t n_seen = 0;
    static const char *const seeds[] = {"1", "2", "3", "4", "5", "6"};
    for (size_t i = 0; i < RIG_COUNT(seeds); i++) {
        pilot("rising.conf", "120s", seeds[i]);
        if (tune.length.warmup_least_ns > 0) {
            n_seen++;
            assert_true(tune.length.warmup_least_ns >= 50000000 && tune.length.warmup_least_ns <= 400000000);
            assert_true(tune.length.warmup_limit_ns >= tune.length.warmup_least_ns);
        }
        /* Where it was not seen it was not denied either. */
        assert_true(tune.length.warmup_limit_ns >= tune.duration_ns);
        done();
    }
    assert_true(n_seen >= 3);
}

/* Buffered writes pass once and long queues take the whole run: small direct ones are asked, too. */
TEST(a_fast_start_is_found_whatever_the_design_met)
{
    static const char *const seeds[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    for (size_t i = 0; i < RIG_COUNT(seeds); i++) {
        pilot("falling.conf", "60s", seeds[i]);
        assert_true(tune.length.warmup_least_ns >= 50000000);
        done();
    }
}

/* A wave of their queue would cost as much as the run. Unlike the others': there the queue fills. */
TEST(queues_that_outlast_the_warm_up_have_none)
{
    size_t n_without = 0, n_with = 0;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "wide.conf", "--budget", "60s", "--seed",
                 "1", NULL);
    run();
    assert_int_equal(tune.length.warmup_limit_ns, TUNE_LENGTH_WARMUP_NS);
    for (size_t i = 0; i < tune.space.n_points; i++) {
        const struct record *record = &tune.records[i];
        if (record->n < 2 || measure_writes_once(&settings.workload.pattern, &record->point))
            continue;
        const struct sample *before = &record->samples[record->n - 2], *last = before + 1;
        double wave_s = (double)factors_bytes_in_flight(&record->point) / before->throughput_bps;
        bool outlasts = wave_s * 1e9 > (double)TUNE_LENGTH_WARMUP_NS;
        assert_true(outlasts ? last->warmup_seconds == 0 : last->warmup_seconds > 0);
        n_without += outlasts;
        n_with += !outlasts;
    }
    assert_true(n_without >= 2 && n_with >= 3);
    done();
}

TEST(a_given_duration_leaves_nothing_to_decide)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--duration", "300ms",
                 "--seed", "1", NULL);
    assert_int_equal(init(), 0);
    assert_int_equal(tune_length(&tune, &err), 0);
    assert_int_equal(session->n_runs, 0);
    assert_int_equal(tune.duration_ns, 300000000);
    assert_int_equal(tune.length.warmup_limit_ns, 300000000);
    assert_string_equal(tune.length.why, "given with --duration");
    done();
}

TEST(a_given_warm_up_limit_stays)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "rising.conf", "--warmup-limit", "20ms",
                 "--budget", "120s", "--seed", "1", NULL);
    assert_int_equal(init(), 0);
    assert_int_equal(tune_length(&tune, &err), 0);
    assert_int_equal(tune.length.warmup_limit_ns, 20000000);
    assert_int_equal(tune.length.warmup_least_ns, 0);
    done();
}

TEST(a_pilot_of_hardly_a_run_decides_nothing)
{
    pilot("slow.conf", "2s", "1");
    assert_int_equal(tune.duration_ns, MEASURE_MIN_DURATION_NS);
    assert_non_null(strstr(tune.length.why, "too few"));
    done();
}

TEST(hopeless_runs_are_cut_and_compared_with_none)
{
    size_t n_cut_records = 0;
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--duration", "500ms",
                 "--seed", "1", NULL);
    run();
    check_bounds();
    assert_true(tune.n_cut > 0);
    assert_true(factors_equal(chosen(), &hill));
    for (size_t i = 0; i < tune.n_records; i++) {
        const struct record *record = &tune.records[i];
        for (size_t k = 0; k < record->n; k++) {
            bool cut = record->samples[k].cut;
            n_cut_records += cut;
            assert_true(cut ? record->n == 1 && record->samples[k].seconds < 0.45
                            : record->samples[k].seconds > 0.45);
            assert_true(!cut || rig_peak_bps(&record->point) < 0.6 * rig_peak_bps(&hill));
        }
    }
    assert_true(n_cut_records > 0 && n_cut_records <= tune.n_cut);
    done();
}

TEST(the_shortest_runs_are_not_cut)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--duration", "50ms",
                 "--seed", "1", NULL);
    run();
    assert_int_equal(tune.n_cut, 0);
    done();
}
