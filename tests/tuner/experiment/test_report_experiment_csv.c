/* Tests of an experiment as tables. */
#include "tests/tuner/experiment/report_experiment_rig.h"

#include <errno.h>

#define LONG_HEADER                                                                                          \
    "\"run\",\"point\",\"request_size\",\"queue_depth\",\"pattern\",\"direct\",\"api\",\"threads\","         \
    "\"sync\","                                                                                              \
    "\"throughput_bps\",\"iops\",\"latency_mean_ns\",\"latency_p99_ns\",\"seconds\",\"bytes\","              \
    "\"batches\"\r\n"

static char *table_of(json_t *document, enum settings_format format)
{
    int result;
    char *text = printed(document, format, &result);
    if (result != 0)
        fail_msg("%s", err.text);
    /* Every line feed has its carriage return. */
    assert_int_equal(count_of(text, "\n"), count_of(text, "\r\n"));
    return text;
}

TEST(a_run_has_a_line_in_the_order_of_execution)
{
    json_t *document = shape_document(2);
    json_t *runs = json_object_get(shape_point(document, 8), "runs");
    json_object_set_new(json_array_get(runs, 1), "number", json_integer(-1));
    AUTO(auto_free) char *text = table_of(document, FORMAT_CSV);
    assert_int_equal(count_of(text, "\r\n"), 1 + 18);
    assert_int_equal(strncmp(text, LONG_HEADER, strlen(LONG_HEADER)), 0);
    assert_contains(text,
                    LONG_HEADER "-1,8,4096,16,\"randwrite\",1,\"io_uring\",1,\"end\",201300600,49145.65");
    assert_contains(text, "\r\n0,0,65536,1,\"randwrite\",1,\"io_uring\",1,\"end\",891000000,");
}

TEST(a_point_has_a_line_with_its_replays)
{
    json_t *document = shape_document(3);
    json_array_remove(json_object_get(shape_point(document, 8), "runs"), 2);
    json_object_set_new(shape_point(document, 6), "failed", json_string("no \"space\", none"));
    AUTO(auto_free) char *text = table_of(document, FORMAT_CSV_WIDE);
    assert_int_equal(count_of(text, "\r\n"), 1 + 9);
    CHECK_HAS(text, ",\"failed\",\"replay_1_bps\",\"replay_2_bps\",\"replay_3_bps\"\r\n6,4096,1,",
              ",\"no \"\"space\"\", none\",99000000,100600000,101000000\r\n", ",,198099000,201300600,\r\n");
}

TEST(two_factors_make_a_matrix)
{
    json_t *document = shape_document(1);
    json_array_remove(json_object_get(document, "points"), 4);
    AUTO(auto_free) char *text = table_of(document, FORMAT_CSV_MATRIX);
    assert_string_equal(text, "\"request_size \\ queue_depth\",1,4,16\r\n"
                              "4096,99000000,198000000,198099000\r\n"
                              "16384,297000000,,594297000\r\n"
                              "65536,891000000,1782000000,1782891000\r\n");
}

TEST(a_factor_that_another_one_decides_does_not_count_in_a_matrix)
{
    json_t *document = shape_document(1);
    json_array_insert_new(json_object_get(document, "factors"), 0,
                          json_pack("{s:s, s:s, s:b, s:[ss], s:[ss]}", "name", "api", "unit", "", "ordered",
                                    0, "levels", "psync", "pvec", "texts", "psync", "pvec"));
    for (size_t i = 0; i < 9; i++)
        json_object_set_new(json_object_get(shape_point(document, i), "levels"), "api",
                            json_string(i % 3 == 0 ? "psync" : "pvec"));
    AUTO(auto_free) char *text = table_of(document, FORMAT_CSV_MATRIX);
    assert_contains(text, "\r\n16384,297000000,594000000,594297000\r\n");
}

TEST(other_than_two_factors_make_none)
{
    json_t *document = shape_document(1);
    int result;
    json_array_remove(json_object_get(document, "factors"), 1);
    AUTO(auto_free) char *text = printed(document, FORMAT_CSV_MATRIX, &result);
    assert_int_equal(result, -EINVAL);
    assert_string_equal(text, "");
    assert_contains(err.text, "csv-wide");
}

TEST(points_without_runs_have_no_long_table)
{
    json_t *document = shape_document(1);
    int result;
    for (size_t i = 0; i < 9; i++)
        json_array_clear(json_object_get(shape_point(document, i), "runs"));
    char *text = printed(json_incref(document), FORMAT_CSV, &result);
    assert_int_equal(result, -ENODATA);
    assert_string_equal(text, "");
    assert_contains(err.text, "csv-wide");
    free(text);
    text = table_of(document, FORMAT_CSV_WIDE);
    assert_lacks(text, "replay_1_bps");
    free(text);
}

TEST(a_formula_stays_a_text)
{
    json_t *document = shape_document(1);
    json_object_set_new(json_object_get(document, "fixed"), "pattern", json_string("=cmd|' /C calc'!A0"));
    json_object_set_new(shape_point(document, 0), "failed", json_string("+1"));
    AUTO(auto_free) char *text = table_of(document, FORMAT_CSV_WIDE);
    CHECK_HAS(text, ",\"'=cmd|' /C calc'!A0\",", ",\"'+1\",");
}
