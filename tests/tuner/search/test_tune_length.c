/* Tests of tuner/search/tune_length: the pilot on simulated surfaces whose best length is known. */
#include "tests/tuner/search/tune_rig.h"

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

SEARCHES_ON({"steady_inside", "run_cv = 0.1; setup_seconds = 0.05;", rig_peak_bps},
            {"dear", "run_cv = 0.02; op_cv = 1.0; setup_seconds = 2.0;", tenth_bps},
            {"cheap", "run_cv = 0.02; op_cv = 1.0; setup_seconds = 0.0;", tenth_bps},
            {"rising", "run_cv = 0.02; setup_seconds = 0.05; warmup_seconds = 0.2; warmup_factor = 0.3;",
             rig_peak_bps},
            {"falling", "run_cv = 0.1; setup_seconds = 0.005; warmup_seconds = 0.1; warmup_factor = 3.0;",
             tenth_bps},
            {"wide", "run_cv = 0.3; setup_seconds = 0.05;", twentieth_bps},
            {"slow", "run_cv = 0.02; setup_seconds = 0.1;", slow_bps});

TEST(runs_that_are_steady_inside_stay_short)
{
    for (unsigned seed = 1; seed <= 6; seed++) {
        pilot(words("steady_inside.conf --budget 60s --seed %u", seed));
        assert_int_equal(tune.duration_ns, MEASURE_MIN_DURATION_NS);
        assert_int_equal(tune.length.warmup_least_ns, 0);
        assert_non_null(strstr(tune.length.why, "cost more than they teach"));
        assert_int_equal(tune.length.n_discarded, 0);
    }
}

/* The pilot's runs are then replays as any others. */
TEST(a_pilot_that_changes_nothing_wastes_nothing)
{
    size_t n = 0;
    pilot("steady_inside.conf --budget 60s --seed 1");
    for (size_t i = 0; i < tune.n_records; i++)
        n += tune.records[i].n;
    assert_int_equal(n, session->n_runs);
    assert_true(n >= 10);
    assert_true(tune.records[tune.engine.baseline].n > 0);
    assert_true(session_seconds(session) <= (TUNE_LENGTH_SHARE + 0.02) * 60);
}

TEST(where_set_up_is_dear_and_requests_scatter_runs_are_longer)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        pilot(words("cheap.conf --budget 60s --seed %u", seed));
        uint64_t cheap_ns = tune.duration_ns;
        pilot(words("dear.conf --budget 30m --seed %u", seed));
        assert_true(tune.duration_ns > cheap_ns);
        assert_true(tune.duration_ns >= 80000000);
    }
}

/* Replays of a point never mix lengths. */
TEST(runs_of_another_length_leave_the_records)
{
    size_t n_told = 0;
    pilot("dear.conf --budget 30m --seed 1");
    assert_true(tune.duration_ns > MEASURE_MIN_DURATION_NS);
    for (size_t i = 0; i < tune.n_records; i++) {
        for (size_t k = 0; k < tune.records[i].n; k++)
            assert_true(tune.records[i].samples[k].seconds >= (double)tune.duration_ns / 1e9);
        n_told += tune.records[i].n;
        if (i < tune.space.n_points)
            assert_int_equal(tune.engine.belief.moments[i].n, tune.records[i].n);
    }
    assert_true(n_told >= 4);
    assert_true(tune.length.n_discarded >= 10);
    assert_int_equal(n_told + tune.length.n_discarded, session->n_runs);
}

TEST(a_slow_start_is_waited_for)
{
    size_t n_seen = 0;
    for (unsigned seed = 1; seed <= 6; seed++) {
        pilot(words("rising.conf --budget 120s --seed %u", seed));
        if (tune.length.warmup_least_ns > 0) {
            n_seen++;
            assert_true(tune.length.warmup_least_ns >= 50000000 && tune.length.warmup_least_ns <= 400000000);
            assert_true(tune.length.warmup_limit_ns >= tune.length.warmup_least_ns);
        }
        /* Where it was not seen it was not denied either. */
        assert_true(tune.length.warmup_limit_ns >= tune.duration_ns);
    }
    assert_true(n_seen >= 3);
}

/* Buffered writes pass once and long queues take the whole run: small direct ones are asked, too. */
TEST(a_fast_start_is_found_whatever_the_design_met)
{
    for (unsigned seed = 1; seed <= 8; seed++) {
        pilot(words("falling.conf --budget 60s --seed %u", seed));
        assert_true(tune.length.warmup_least_ns >= 50000000);
    }
}

/* A queue that takes longer than the warm-up to turn over counts from its first turnover on: its warm-up
 * costs no more. */
TEST(a_warm_up_takes_no_longer_than_one_turnover_or_its_limit)
{
    size_t n_slower = 0, n_faster = 0;
    search("wide.conf --budget 60s --seed 1");
    assert_int_equal(tune.length.warmup_limit_ns, TUNE_LENGTH_WARMUP_NS);
    for (size_t i = 0; i < tune.space.n_points; i++) {
        const struct record *record = &tune.records[i];
        if (record->n < 2 || measure_writes_once(&settings.workload.pattern, &record->point))
            continue;
        const struct sample *last = &record->samples[record->n - 1];
        double turnover_s = (double)factors_bytes_in_flight(&record->point) / last->throughput_bps;
        double limit_s = (double)TUNE_LENGTH_WARMUP_NS / 1e9, pilot_s = (double)MEASURE_MIN_DURATION_NS / 1e9;
        assert_true(last->warmup_seconds <= 1.1 * fmax(turnover_s, pilot_s) + 0.005);
        assert_true(last->warmup_seconds >= 0.9 * fmin(turnover_s, limit_s));
        n_slower += turnover_s > limit_s;
        n_faster += turnover_s <= limit_s;
    }
    assert_true(n_slower > 0 && n_faster > 0);
}

TEST(a_given_duration_leaves_nothing_to_decide)
{
    pilot("peak.conf --duration 300ms --seed 1");
    assert_int_equal(session->n_runs, 0);
    assert_int_equal(tune.duration_ns, 300000000);
    assert_int_equal(tune.length.warmup_limit_ns, 300000000);
    assert_string_equal(tune.length.why, "given with --duration");
}

TEST(a_given_warm_up_limit_stays)
{
    pilot("rising.conf --warmup-limit 20ms --budget 120s --seed 1");
    assert_int_equal(tune.length.warmup_limit_ns, 20000000);
    assert_int_equal(tune.length.warmup_least_ns, 0);
}

TEST(a_pilot_of_hardly_a_run_decides_nothing)
{
    pilot("slow.conf --budget 2s --seed 1");
    assert_int_equal(tune.duration_ns, MEASURE_MIN_DURATION_NS);
    assert_non_null(strstr(tune.length.why, "too few"));
}

TEST(hopeless_runs_are_cut_and_compared_with_none)
{
    size_t n_cut_records = 0;
    search("peak.conf --duration 500ms --seed 1");
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
}

TEST(the_shortest_runs_are_not_cut)
{
    search("peak.conf --duration 50ms --seed 1");
    assert_int_equal(tune.n_cut, 0);
}

/* A device whose rate wanders by a third, for 0.3 s at a time. */
static void wandering_simulator(unsigned seed)
{
    static char steps[65536];
    const double keep = exp(-0.02 / 0.3), scatter = 0.3;
    struct rng random;
    size_t n = (size_t)snprintf(steps, sizeof steps, "seconds,factor\n");
    rng_init(&random, seed);
    double level = scatter * rng_normal(&random);
    for (size_t i = 0; i < 1500; i++) {
        n += (size_t)snprintf(steps + n, sizeof steps - n, "%.2f,%.6f\n", 0.02 * (double)i, exp(level));
        level = keep * level + scatter * sqrt(1 - keep * keep) * rng_normal(&random);
    }
    rig_write("wander.csv", "%s", steps);
    rig_write("wanders.conf", "name = \"wanders\"; points = \"steady_inside.csv\"; trace = \"wander.csv\"; "
                              "noise = { run_cv = 0.02; setup_seconds = 0.005; };\n");
}

/* Each run bends, and no two alike. Before the pilot asked for that, it waited in 17 of these 40 searches. */
TEST(a_rate_that_wanders_is_no_start)
{
    size_t n_waiting = 0, n_looked = 0;
    for (unsigned seed = 1; seed <= 40; seed++) {
        wandering_simulator(seed);
        pilot(words("wanders.conf --budget 60s --seed %u", seed));
        n_looked += tune.length.start.n_runs > 0;
        n_waiting += tune.length.warmup_least_ns > 0;
    }
    assert_true(n_looked >= 10);
    assert_true(n_waiting <= 4);
}
