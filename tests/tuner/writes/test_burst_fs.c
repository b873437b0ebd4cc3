/* recommend --burst on a real file system. */
#include "tests/tuner/rig.h"

GROUP(rig_enter, rig_leave);
GROUP_NEEDS(rig_find_program);

static struct rig_run run;

/* Whatever the run's time would allow. */
TEST(planned_bytes_are_a_limit_of_their_own)
{
    struct settings settings;
    struct err err = {0};
    rig_settings(&settings, "--pattern", "write", "--file-size", "128m", "--no-lock", "--quiet", NULL);
    struct session *session = rig_open_session(&settings);
    assert_int_equal(session_prepare(session, &err), 0);
    session->write_limit_bytes = settings.limits.max_write_bytes;
    struct histogram *latency = malloc(sizeof *latency);
    assert_non_null(latency);
    for (unsigned direct = 0; direct < 2; direct++) {
        struct measure_result result;
        struct measure_plan plan = {.pattern = settings.workload.pattern,
                                    .point = {65536, 1, direct, API_PSYNC, 1, SYNC_END, 0, 0},
                                    .duration_ns = 20000000000ULL,
                                    .whole = true,
                                    .warmup_coef = settings.runs.warmup_coef_share,
                                    .warmup_window = settings.runs.warmup_window,
                                    .batch_requests = settings.runs.batch_requests,
                                    .max_bytes = 8 << 20};
        histogram_init(latency);
        if (session_measure(session, &plan, &result, latency, &err) < 0)
            fail_msg("%s", err.text);
        assert_int_equal(result.total_bytes_written, 8 << 20);
        if (session->target.direct_write != TARGET_DIRECT_PROVED)
            break;
    }
    free(latency);
    rig_close_session(session);
}

static json_t *burst_of(json_t *document)
{
    json_t *burst = json_object_get(document, "burst");
    assert_true(json_is_object(burst));
    return burst;
}

static void check_setting(const json_t *setting, int direct)
{
    const json_t *accepted = json_object_get(setting, "accepted_seconds"),
                 *durable = json_object_get(setting, "durable_seconds");
    if (json_is_null(setting))
        return;
    assert_int_equal(json_integer_value(json_object_get(setting, "direct")), direct);
    double mean = json_number_value(json_object_get(accepted, "mean"));
    assert_true(mean > 0);
    assert_true(json_number_value(json_object_get(durable, "mean")) >= mean);
}

TEST(answer_has_a_setting_for_bursts)
{
    rig_run_line(&run, "recommend --pattern write --file-size 128m --request-size 64k,1m --queue-depth 1 "
                       "--api psync --burst 16m --burst-interval 50ms --budget 12s --max-write 8g --no-lock "
                       "--json --quiet --seed 1");
    if (run.code != 0 && run.code != 3)
        fail_msg("exit code %d: %s", run.code, run.err);
    json_t *document = rig_json(&run), *burst = burst_of(document);
    assert_int_equal(json_integer_value(json_object_get(burst, "bytes")), 16 << 20);
    assert_close(json_number_value(json_object_get(burst, "interval_seconds")), 0.05, 1e-9);
    assert_true(json_is_object(json_object_get(burst, "recommendation")));
    assert_true(json_is_null(json_object_get(burst, "reason")));
    const json_t *buffered = json_object_get(burst, "buffered");
    assert_true(json_integer_value(json_object_get(buffered, "bursts")) >= 3);
    check_setting(buffered, 0);
    check_setting(json_object_get(burst, "direct"), 1);
    const json_t *search = json_object_get(document, "search");
    assert_true(json_integer_value(json_object_get(search, "bytes_written")) <= 8LL << 30);
    json_decref(document);
    rig_free(&run);
}

TEST(durable_time_counts_when_it_was_asked_for)
{
    rig_run_line(&run,
                 "recommend --pattern randwrite --file-size 128m --request-size 64k --queue-depth 1 "
                 "--api psync --sync end --burst 8m --budget 8s --max-write 8g --no-lock --json --quiet");
    json_t *document = rig_json(&run), *burst = burst_of(document);
    CHECK_JSON(burst, "judged_by=durable");
    json_decref(document);
    rig_free(&run);
}

TEST(text_has_a_line_for_bursts)
{
    rig_run_line(&run,
                 "recommend --pattern write --file-size 128m --request-size 1m --queue-depth 1 --direct 0 "
                 "--api psync --burst 16m --budget 8s --max-write 8g --no-lock --quiet");
    CHECK_HAS(run.out, "Bursts       of 16m: use", "No direct setting could be measured beside it.");
    rig_free(&run);
}
