/* Tests of tuner/report/report_inside. */
#include "tests/tuner/rig.h"
#include "tuner/report/report_inside.h"

#include <errno.h>

/* 60 full windows of 10 ms around 1 MB and an open one that is nearly empty. */
static struct measure_result run_of(double seconds, double drift)
{
    struct measure_result result = {.seconds = seconds, .windows = {.width_ns = 10000000, .n = 61}};
    for (size_t i = 0; i < 60; i++)
        result.windows.bytes[i] = (uint64_t)(1e6 + 1e4 * (double)(i * 37 % 19) + drift * (double)i);
    result.windows.bytes[60] = 10;
    return result;
}

static struct report_inside inside_of(struct measure_result result)
{
    struct report_inside inside = {0};
    report_inside_note(&inside, &result);
    return inside;
}

static void text_of(const struct report_inside *inside, char *text, size_t size)
{
    AUTO(auto_fclose) FILE *out = fmemopen(text, size, "w");
    assert_non_null(out);
    report_inside_text(out, inside, 0.95);
}

TEST(the_longest_run_is_kept)
{
    struct measure_result brief = run_of(0.5, 0), longer = run_of(0.7, 0);
    struct report_inside inside = {0};
    brief.windows.n = 7;
    report_inside_note(&inside, &brief);
    report_inside_note(&inside, &longer);
    report_inside_note(&inside, &brief);
    assert_int_equal(inside.windows.n, 61);
}

TEST(rates_are_those_of_the_full_windows)
{
    struct report_inside inside = inside_of(run_of(0.6, 0));
    struct batch_means means;
    assert_int_equal(report_inside_of(&inside, 0.95, &means), 0);
    assert_close(means.mean, 1.09e8, 0.01e8);
    assert_true(means.interval.low < means.mean && means.interval.high > means.mean);
}

TEST(json_has_all_its_keys)
{
    static const char *const keys[] = {"mean", "ci_low",  "ci_high",   "windows",
                                       "cut",  "batches", "effective", "lag1"};
    struct report_inside inside = inside_of(run_of(0.6, 0));
    json_auto_t *object = report_inside_json(&inside, 0.95);
    assert_int_equal(json_object_size(object), N_OF(keys));
    for (size_t i = 0; i < N_OF(keys); i++)
        assert_true(json_is_number(json_object_get(object, keys[i])));
    assert_int_equal(json_integer_value(json_object_get(object, "windows")), 60);
}

TEST(a_run_that_still_changes_has_a_mean_but_no_interval)
{
    char text[400] = "";
    struct report_inside inside = inside_of(run_of(0.6, 1e5));
    json_t *object = report_inside_json(&inside, 0.95);
    CHECK_JSON(object, "ci_low=null", "ci_high=null");
    assert_true(json_is_number(json_object_get(object, "mean")));
    json_decref(object);
    text_of(&inside, text, sizeof text);
    assert_contains(text, "no interval");
}

TEST(what_windows_do_not_show_is_not_reported)
{
    char text[400] = "";
    struct measure_result flushed = run_of(0.6, 0);
    flushed.flush_seconds = 0.2;
    struct report_inside none = {0}, inside = inside_of(flushed);
    struct batch_means means;
    assert_int_equal(report_inside_of(&none, 0.95, &means), -ENODATA);
    assert_int_equal(report_inside_of(&inside, 0.95, &means), -ENODATA);
    json_t *object = report_inside_json(&inside, 0.95);
    assert_true(json_is_null(object));
    json_decref(object);
    text_of(&inside, text, sizeof text);
    assert_string_equal(text, "");
}

TEST(text_is_one_line_with_the_interval)
{
    char text[400] = "";
    struct report_inside inside = inside_of(run_of(0.6, 0));
    text_of(&inside, text, sizeof text);
    assert_ptr_equal(strstr(text, "Inside one run: 109 MB/s"), text);
    assert_contains(text, "95 % interval");
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}
