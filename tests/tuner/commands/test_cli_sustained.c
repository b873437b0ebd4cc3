/* Tests of the whole program on surfaces whose rate changes: bursts, declines and steady states. */
#include "tests/tuner/commands/cli_rig.h"

/* Behind it stand the surface's file and further options. */
#define MEASURE                                                                                              \
    "measure --seed 1 --pattern randwrite --request-size 64k --queue-depth 4 --direct 1 --api io_uring "     \
    "--json --simulate "

/* peak.csv with the factors of a trace. */
static void simulator_with_trace(const char *name, const char *noise, const char *trace)
{
    char file[64];
    snprintf(file, sizeof file, "%s.conf", name);
    rig_write(file, "points = \"peak.csv\";\ntrace = \"%s-trace.csv\";\nnoise = { %s };\n", name, noise);
    snprintf(file, sizeof file, "%s-trace.csv", name);
    rig_write(file, "seconds,factor\n%s", trace);
}

/* After SSD arrays that users measured: what 30 s show is 36 % above what lasts. */
static void write_slow_decline(void)
{
    char text[16384];
    size_t length = 0;
    for (int second = 0; second < 900; second += 3)
        length += (size_t)snprintf(text + length, sizeof text - length, "%d,%.4f\n", second,
                                   0.64 + 0.36 * exp(-second / 90.0));
    simulator_with_trace("declining", "run_cv = 0.01; op_cv = 0;", text);
}

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    simulator_with_trace("burst", "run_cv = 0.01; op_cv = 0.1;", "0,1\n12,0.4\n");
    simulator_with_trace("early", "run_cv = 0.02; setup_seconds = 0.05;", "0,1\n3,0.4\n");
    simulator_with_trace("endless", "run_cv = 0.01; op_cv = 0.1; drift_per_hour = -30;", "0,1\n");
    simulator_with_trace("scattered", "op_cv = 1.0;", "0,1\n");
    write_slow_decline();
    return 0;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

static bool has_warning(const json_t *json, const char *code)
{
    return json_find(json_object_get(json, "warnings"), "code", code) != NULL;
}

static double peak_bps(void)
{
    struct point point = {65536, 4, 1, API_IO_URING, 1, SYNC_END, 0, 0};
    return rig_peak_bps(&point);
}

TEST(a_burst_is_reported_beside_the_rate_after_it)
{
    json_t *json = cli_json(0, MEASURE "burst.conf --replays 4 --duration 10s");
    assert_true(json_is_object(json_at(json, "sustained.burst")));
    assert_close(cli_number(json, "sustained.burst.mean") / peak_bps(), 1, 0.05);
    assert_close(cli_number(json, "sustained.burst.mean_after") / peak_bps(), 0.4, 0.02);
    assert_close(cli_number(json, "sustained.burst.seconds"), 12, 1);
    assert_true(has_warning(json, "burst_ended"));
}

TEST(a_flat_rate_is_steady_and_carries_no_warning)
{
    json_t *json = cli_json(0, MEASURE "peak.conf --replays 5 --duration 5s");
    CHECK_JSON(json, "sustained.steady=true", "warnings#=0");
}

#define UNTIL_STEADY MEASURE "declining.conf --until-steady --duration 5s --max-duration 40m "

TEST(the_steady_state_of_a_slow_decline_is_what_lasts)
{
    json_t *json = cli_json(0, UNTIL_STEADY);
    assert_true(json_is_true(json_at(json, "steady_state.met")));
    assert_close(cli_number(json, "throughput.mean") / peak_bps() / 0.64, 1, 0.05);
    json = cli_json(0, MEASURE "declining.conf --replays 6 --duration 5s");
    assert_true(cli_number(json, "throughput.mean") / peak_bps() / 0.64 > 1.3);
    assert_false(json_is_true(json_at(json, "sustained.steady")));
    assert_true(has_warning(json, "not_steady"));
}

TEST(what_never_gets_steady_ends_at_the_cap_with_exit_code_3)
{
    json_t *json = cli_json(3, MEASURE "endless.conf --until-steady --duration 1s --max-duration 40s");
    assert_false(json_is_true(json_at(json, "steady_state.met")));
    assert_true(has_warning(json, "not_steady"));
    assert_true(cli_number(json, "seconds") <= 40);
    cli_prints(
        3,
        "measure --quiet --simulate endless.conf --seed 1 --until-steady --duration 1s --max-duration 40s "
        "--pattern randwrite --request-size 64k --queue-depth 4 --direct 1 --api io_uring",
        "Steady       NOT after", NULL);
}

TEST(the_rule_of_the_snia_is_content_with_less)
{
    json_auto_t *snia = json_incref(cli_json(0, UNTIL_STEADY "--steady-rule snia"));
    json_t *own = cli_json(0, UNTIL_STEADY);
    assert_true(cli_number(snia, "steady_state.rounds") < cli_number(own, "steady_state.rounds"));
    assert_true(cli_number(snia, "throughput.mean") > cli_number(own, "throughput.mean"));
}

/* Its batches never agree to a thousandth, so that only the limits end a warm-up. */
TEST(no_warm_up_passes_the_cap)
{
    json_t *json = cli_json(3, MEASURE "scattered.conf --until-steady --duration 1s --max-duration 3s "
                                       "--warmup-limit 1m --warmup-coef 0.001");
    const json_t *runs = json_object_get(json, "runs");
    assert_int_equal(json_array_size(runs), 1);
    assert_close(cli_number(json_array_get(runs, 0), "warmup_seconds"), 2, 0.05);
    assert_true(cli_number(json, "seconds") <= 3.1);
}

TEST(a_cap_shorter_than_a_round_is_refused)
{
    cli_fails(2, "--max-duration",
              MEASURE "peak.conf --quiet --until-steady --duration 2s --max-duration 1s");
}

TEST(a_change_of_the_device_during_a_search_is_said)
{
    json_t *json =
        cli_json(CLI_ANY, "recommend --json --simulate early.conf --seed 1 --budget 40s --pattern randwrite");
    assert_true(has_warning(json, "rate_changed"));
    json =
        cli_json(CLI_ANY, "recommend --json --simulate peak.conf --seed 1 --budget 40s --pattern randwrite");
    assert_false(has_warning(json, "rate_changed"));
}
