/* Tests of tuner/session/sustained: runs made up window by window. */
#include "tests/test.h"
#include "tuner/report/report_sustained.h"
#include "tuner/session/sustained.h"

#include "bench/base/rng.h"

#include <errno.h>

#define WINDOW_NS 10000000ULL
#define REQUEST   65536

struct world {
    struct sustained sustained;
    struct rng rng;
    uint64_t load_bytes;
    double noise;
};

static void begin(struct world *world, double noise)
{
    *world = (struct world){.noise = noise};
    rng_init(&world->rng, 11);
}

/* What a device gives: one rate until a window of a run, then another one for ever; whole runs scatter by the
 * factors, in turn. */
struct course {
    double first_bps;
    size_t run, window;
    double then_bps;
    size_t n_factors;
    double factors[8];
};

static const struct course flat = {.then_bps = 1e9}, slow = {.then_bps = 3e8};

static struct course falling(double first_bps, size_t run, size_t window, double then_bps)
{
    return (struct course){.first_bps = first_bps, .run = run, .window = window, .then_bps = then_bps};
}

static double bps_at(const struct course *course, size_t run, size_t window)
{
    bool first = run < course->run || (run == course->run && window < course->window);
    double factor = course->n_factors > 0 ? course->factors[run % course->n_factors] : 1;
    return factor * (first ? course->first_bps : course->then_bps);
}

/* A run of n whole windows and a part of one. */
static void add_run(struct world *world, size_t point, size_t n, const struct course *course)
{
    struct measure_plan plan = {.point.request_size_bytes = REQUEST};
    struct measure_result result = {.windows = {.width_ns = WINDOW_NS, .n = n + 1}};
    for (size_t i = 0; i <= n; i++) {
        double bps = bps_at(course, world->sustained.n, i) * (1 + world->noise * rng_normal(&world->rng));
        result.windows.bytes[i] = (uint64_t)(bps * (i < n ? 1 : 0.5) * WINDOW_NS / 1e9);
        result.bytes_written += result.windows.bytes[i];
    }
    result.seconds = ((double)n + 0.5) * WINDOW_NS / 1e9;
    result.throughput_bps = (double)result.bytes_written / result.seconds;
    assert_int_equal(sustained_add(&world->sustained, point, world->load_bytes, &plan, &result), 0);
    world->load_bytes += result.bytes_written;
}

static struct sustained_verdict judged(struct world *world, size_t point)
{
    struct sustained_verdict verdict;
    assert_int_equal(sustained_judge(&world->sustained, point, true, &verdict), 0);
    sustained_done(&world->sustained);
    return verdict;
}

/* Of n runs of one point. */
static struct sustained_verdict judged_runs(double noise, size_t n, struct course course)
{
    struct world world;
    begin(&world, noise);
    for (size_t i = 0; i < n; i++)
        add_run(&world, 0, 60, &course);
    return judged(&world, 0);
}

TEST(flat_runs_are_steady_over_their_time_and_bytes)
{
    struct sustained_verdict verdict = judged_runs(0.03, 5, flat);
    assert_true(verdict.trace.steady);
    assert_false(verdict.burst);
    assert_false(verdict.levels.two);
    assert_int_equal(verdict.n_runs, 5);
    assert_close(verdict.seconds, 5 * 0.605, 1e-9);
    assert_close((double)verdict.bytes, 3.025e9, 0.03e9);
    assert_close(verdict.trace.mean, 1e9, 2e7);
}

TEST(a_burst_that_ends_inside_a_run_is_reported_with_its_length)
{
    struct world world;
    const struct course course = falling(1e9, 1, 30, 4e8);
    begin(&world, 0.03);
    world.load_bytes = 1000000;
    for (int i = 0; i < 4; i++)
        add_run(&world, 0, 60, &course);
    struct sustained_verdict verdict = judged(&world, 0);
    assert_true(verdict.burst);
    assert_true(verdict.trace.shape == TRACE_CLIFF || verdict.trace.shape == TRACE_THROTTLED);
    assert_close(verdict.burst_bps, 1e9, 2e7);
    assert_close(verdict.after_bps, 4e8, 2e7);
    assert_close(verdict.burst_seconds, 0.9, 0.05);
    assert_close((double)verdict.burst_load_bytes, 0.9e9, 0.05e9);
}

TEST(a_stall_in_the_last_moments_ends_no_burst)
{
    struct sustained_verdict verdict = judged_runs(0.03, 5, falling(1e9, 4, 50, 4e8));
    assert_true(verdict.trace.steady);
    assert_false(verdict.burst);
    assert_close(verdict.trace.mean, 1e9, 2e7);
    verdict = judged_runs(0.03, 5, falling(1e9, 4, 20, 4e8));
    assert_true(verdict.burst);
    assert_false(verdict.trace.steady);
}

TEST(a_fast_start_of_a_moment_is_a_warm_up_and_no_burst)
{
    struct sustained_verdict verdict = judged_runs(0.03, 5, falling(1.5e9, 0, 6, 1e9));
    assert_true(verdict.trace.steady);
    assert_int_equal(verdict.trace.shape, TRACE_RAMP);
    assert_false(verdict.burst);
    assert_close(verdict.trace.mean, 1e9, 2e7);
    verdict = judged_runs(0.03, 5, falling(1.5e9, 0, 35, 1e9));
    assert_true(verdict.burst);
    assert_close(verdict.burst_bps, 1.5e9, 3e7);
}

/* A tenth less for the last half second of three: nobody knows yet. */
TEST(a_small_fall_that_has_not_lasted_is_called_nothing)
{
    struct sustained_verdict verdict = judged_runs(0.01, 5, falling(1e9, 4, 10, 9e8));
    assert_true(verdict.trace.left);
    assert_false(verdict.burst);
    assert_true(verdict.hidden);
    char words[REPORT_SUSTAINED_SIZE];
    report_sustained_words(&verdict, words);
    assert_non_null(strstr(words, " % at the end of it"));
    assert_close(strtod(strstr(words, "; ") + 2, NULL), -10, 1);
}

/* As of two replays. */
TEST(a_drift_that_nobody_knows_is_not_printed)
{
    static const struct {
        struct sustained_verdict verdict;
        const char *words;
    } cases[] = {
        {{.trace = {.shape = TRACE_FLAT, .steady = true}, .drift_share = NAN, .drift_error_share = NAN},
         "steady (flat) over 0 ns and 0 B; longer bursts not excluded"},
        {{.trace = {.shape = TRACE_FLAT, .steady = true},
          .drift_share = NAN,
          .drift_error_share = NAN,
          .hidden = true},
         "seen over 0 ns and 0 B; no end of a burst, but the scatter could hide a drift"},
        {{.trace = {.shape = TRACE_FLAT, .steady = true},
          .drift_share = 0.01,
          .drift_error_share = 0.02,
          .hidden = true},
         "seen over 0 ns and 0 B; no end of a burst, but the scatter could hide a drift (+1.0 % +- 4.0 %)"},
        {{.trace = {.shape = TRACE_UNSTEADY}, .drift_share = NAN, .drift_error_share = NAN},
         "NOT STEADY (irregular) over 0 ns and 0 B"},
        {{.trace = {.shape = TRACE_UNSTEADY}, .drift_share = -0.1, .drift_error_share = 0.02},
         "NOT STEADY (irregular) over 0 ns and 0 B, drift -10.0 % +- 4.0 %"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[REPORT_SUSTAINED_SIZE];
        assert_string_equal(report_sustained_words(&cases[i].verdict, words), cases[i].words);
    }
}

/* Other settings were measured, too. */
TEST(two_levels_are_those_of_a_named_setting)
{
    const struct point point = {65536, 4, 1, API_LIBAIO, 1, SYNC_END, 0, 0};
    const struct sustained_verdict verdict = {
        .levels = {.two = true, .low = 1e9, .high = 2e9, .n_low = 3, .n_high = 4}, .n_runs = 7, .seconds = 1};
    struct notes warnings = {0};
    char words[REPORT_SUSTAINED_SIZE];
    report_sustained_note(&warnings, &verdict, &point);
    assert_true(notes_has(&warnings, "two_levels"));
    assert_non_null(
        strstr(warnings.note[0].text, "the runs of 64k x 4, direct, libaio fall into two levels: 3 at"));
    assert_non_null(strstr(report_sustained_words(&verdict, words), "1.00 s and 0 B (7 runs in all)"));
}

TEST(scatter_between_runs_is_not_called_unsteady)
{
    struct sustained_verdict verdict = judged_runs(
        0.02, 8,
        (struct course){
            .then_bps = 1e9, .n_factors = 8, .factors = {1.1, 0.8, 1.25, 0.95, 0.7, 1.05, 1.3, 0.85}});
    assert_true(verdict.trace.steady);
    assert_close(verdict.trace.mean, 1e9, 2e7);
}

TEST(runs_on_two_levels_are_found)
{
    struct sustained_verdict verdict =
        judged_runs(0.02, 12, (struct course){.then_bps = 1e9, .n_factors = 3, .factors = {1, 0.4, 1}});
    assert_true(verdict.levels.two);
    assert_int_equal(verdict.levels.n_low, 4);
    assert_close(verdict.levels.low, 4e8, 1e7);
    assert_close(verdict.levels.high, 1e9, 1e7);
}

TEST(a_burst_that_ends_between_runs_is_found_too)
{
    struct sustained_verdict verdict = judged_runs(0.02, 6, falling(1e9, 3, 0, 5e8));
    assert_true(verdict.burst);
    assert_close(verdict.after_bps, 5e8, 1e7);
    /* Of the first run alone. */
    verdict = judged_runs(0.02, 5, falling(1e9, 1, 0, 6e8));
    assert_true(verdict.burst);
    assert_close(verdict.after_bps, 6e8, 1e7);
    assert_close(verdict.burst_seconds, 0.6, 0.02);
}

TEST(few_windows_are_too_short_to_tell)
{
    struct world world;
    begin(&world, 0.02);
    add_run(&world, 0, 6, &flat);
    struct sustained_verdict verdict = judged(&world, 0);
    assert_int_equal(verdict.trace.shape, TRACE_SHORT);
}

TEST(scatter_that_could_hide_a_drift_is_not_called_steady)
{
    struct sustained_verdict verdict = judged_runs(0.25, 1, flat);
    assert_true(verdict.hidden);
    assert_close(verdict.drift_error_share, 0.25 * sqrt(12.0 / 60), 0.05);
    assert_false(judged_runs(0.02, 1, flat).hidden);
}

TEST(a_flushed_run_is_one_window)
{
    struct sustained sustained = {0};
    struct measure_plan plan = {.point.request_size_bytes = REQUEST};
    struct measure_result result = {
        .seconds = 1, .throughput_bps = 1e8, .flush_seconds = 0.9, .bytes_written = 100000000};
    result.windows = (struct pump_windows){.width_ns = WINDOW_NS, .n = 10};
    for (size_t i = 0; i < 10; i++)
        result.windows.bytes[i] = 10000000;
    for (int i = 0; i < 30; i++)
        assert_int_equal(sustained_add(&sustained, 0, 0, &plan, &result), 0);
    struct sustained_verdict verdict;
    assert_int_equal(sustained_judge(&sustained, 0, true, &verdict), 0);
    assert_close(verdict.trace.mean, 1e8, 1);
    assert_int_equal(verdict.trace.end, 30);
    sustained_done(&sustained);
}

TEST(a_point_without_runs_has_no_verdict)
{
    struct world world;
    struct sustained_verdict verdict;
    begin(&world, 0);
    assert_int_equal(sustained_judge(&world.sustained, 0, true, &verdict), -ENODATA);
    add_run(&world, 7, 30, &flat);
    assert_int_equal(sustained_judge(&world.sustained, 0, true, &verdict), -ENODATA);
    sustained_done(&world.sustained);
}

TEST(a_fall_of_all_points_is_seen_over_the_command)
{
    struct world world;
    struct sustained_change change;
    const struct course half_way = falling(1e9, 60, 0, 3e8);
    begin(&world, 0.05);
    for (size_t i = 0; i < 120; i++)
        add_run(&world, i % 10, 3, &half_way);
    assert_int_equal(sustained_judge_command(&world.sustained, &change), 0);
    assert_true(change.fell_or_rose);
    assert_close(change.ratio, 0.3, 0.02);
    sustained_done(&world.sustained);
}

TEST(points_of_different_speed_are_no_change_of_the_device)
{
    struct world world;
    struct sustained_change change;
    begin(&world, 0.05);
    for (size_t i = 0; i < 100; i++)
        add_run(&world, i < 50 ? i % 5 : 5 + i % 5, 3, i < 50 ? &flat : &slow);
    assert_int_equal(sustained_judge_command(&world.sustained, &change), 0);
    assert_false(change.fell_or_rose || change.drifted);
    sustained_done(&world.sustained);
}
