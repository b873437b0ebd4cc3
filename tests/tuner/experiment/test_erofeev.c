/* Tests of the text format of Erofeev's benchmark. */
#include "tests/tuner/experiment/report_experiment_rig.h"
#include "tuner/experiment/erofeev.h"

#include <errno.h>

#define PUBLISHED "tests/data/erofeev-2021-appendix-a.txt"

static int read_text(const char *text, json_t **ret_document)
{
    err = (struct err){0};
    FILE *in = fmemopen((char *)text, strlen(text), "r");
    assert_non_null(in);
    int result = erofeev_read(in, "results/old.txt", ret_document, &err);
    fclose(in);
    return result;
}

static char *whole_file(const char *path)
{
    char *text = calloc(1, 65536);
    FILE *in = fopen(path, "re");
    assert_non_null(text);
    assert_non_null(in);
    assert_true(fread(text, 1, 65535, in) > 0);
    fclose(in);
    return text;
}

TEST(the_published_results_come_back_byte_for_byte)
{
    json_t *document = NULL;
    int result;
    if (erofeev_import(PUBLISHED, &document, &err) != 0)
        fail_msg("%s", err.text);
    CHECK_JSON(document, "points#=32");
    char *written = printed(document, FORMAT_EROFEEV, &result), *original = whole_file(PUBLISHED);
    assert_int_equal(result, 0);
    assert_string_equal(written, original);
    free(written);
    free(original);
}

TEST(what_the_file_does_not_say_is_the_originals_default)
{
    json_auto_t *document = NULL;
    assert_int_equal(read_text("1\n1\n2\n1\nDIO\n0\n2e9\n1.5e7\nDIO\n1\n1000000000.5\n0\n", &document), 0);
    CHECK_JSON(document, "name=old.txt", "fixed.pattern=read", "fixed.request_size=65536",
               "fixed.queue_depth=8", "fixed.direct=absent", "points.0.mean=2000000000",
               "points.0.std=15000000", "points.0.replays=null");
}

TEST(levels_ascend_and_names_may_change_places)
{
    json_auto_t *document = NULL;
    assert_int_equal(
        read_text("0\r\n1\r\n2\r\n2\r\nQD\r\n16\r\nRS\r\n4096\r\n10\r\n1\r\nRS\r\n512\r\nQD\r\n2\r\n20\r\n"
                  "1\r\n\r\n",
                  &document),
        0);
    CHECK_JSON(document, "factors.0.name=queue_depth", "factors.0.levels=[2,16]",
               "factors.1.texts=[\"512\",\"4k\"]", "design.name=imported");
}

TEST(a_wrong_line_is_named)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "results/old.txt:1: the file ends where a flag of sequential access should stand"},
        {"2\n", "old.txt:1: '2' is no flag"},
        {"0\n-1\n", "old.txt:2: '-1' is no flag"},
        {"0\n0\n0\n", "old.txt:3: '0' is no number of settings; 1..16384"},
        {"0\n0\n99999\n", "old.txt:3: '99999' is no number of settings"},
        {"0\n0\n1\n4\n", "old.txt:4: '4' is no number of factors; 1..3"},
        {"0\n0\n1\n1\nXX\n", "old.txt:5: 'XX' is no name of a factor"},
        {"0\n0\n1\n2\nRS\n512\nRS\n", "old.txt:7: 'RS' is no second factor"},
        {"0\n0\n1\n1\nRS\n4k\n", "old.txt:6: '4k' is no level"},
        {"0\n0\n1\n1\nRS\n536870913\n", "old.txt:6: '536870913' is no level"},
        {"0\n0\n1\n1\nDIO\n2\n", "old.txt:6: '2' is no level; 0..1"},
        {"0\n0\n1\n1\nRS\n512\nnan\n", "old.txt:7: 'nan' is no mean"},
        {"0\n0\n1\n1\nRS\n512\n0x10\n", "old.txt:7: '0x10' is no mean"},
        {"0\n0\n1\n1\nRS\n512\n0\n", "old.txt:7: '0' is no mean throughput of 1 byte"},
        {"0\n0\n1\n1\nRS\n512\n1e16\n", "old.txt:7: '1e16' is no mean"},
        {"0\n0\n1\n1\nRS\n512\n1e\n", "old.txt:7: '1e' is no mean"},
        {"0\n0\n1\n1\nRS\n512\n10\n-2\n", "old.txt:8: '-2' is no standard deviation"},
        {"0\n0\n1\n1\nRS\n512\n10\n", "old.txt:8: the file ends where a standard deviation"},
        {"0\n0\n1\n1\nRS\n512\n10\n1\nRS\n", "old.txt:9: more follows after the 1 settings"},
        {"0\n0\n2\n1\nRS\n512\n10\n1\nQD\n", "old.txt:9: 'QD' is no factor of the settings before"},
        {"0\n0\n2\n1\nRS\n512\n10\n1\nRS\n512\n10\n1\n", "old.txt: a setting stands there twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *document = NULL;
        assert_int_equal(read_text(cases[i].text, &document), -EINVAL);
        assert_null(document);
        assert_contains(err.text, cases[i].part);
    }
}

TEST(a_long_line_and_too_many_levels_are_refused)
{
    char text[8192] = "0\n0\n100\n1\n";
    json_t *document = NULL;
    for (int i = 1; i <= 100; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "QD\n%d\n10\n1\n", i);
    assert_int_equal(read_text(text, &document), -EINVAL);
    assert_contains(err.text, "old.txt:262: more than 64 levels of QD");
    memset(text, '0', 4000);
    text[4000] = '\0';
    assert_int_equal(read_text(text, &document), -EINVAL);
    assert_contains(err.text, "old.txt:1: too long");
}

TEST(a_file_that_is_not_there_is_an_error_of_the_system)
{
    json_t *document = NULL;
    assert_int_equal(erofeev_import("/nonexistent/old.txt", &document, &err), -ENOENT);
    assert_contains(err.text, "/nonexistent/old.txt");
}

/* ---- writing ---- */

static void refused(json_t *document, int code, const char *part)
{
    int result;
    AUTO(auto_free) char *text = printed(document, FORMAT_EROFEEV, &result);
    assert_int_equal(result, code);
    assert_contains(err.text, part);
    assert_string_equal(text, "");
}

TEST(a_factor_without_a_name_is_refused)
{
    json_t *document = shape_document(3);
    json_object_set_new(json_array_get(json_object_get(document, "factors"), 1), "name",
                        json_string("threads"));
    for (size_t i = 0; i < 9; i++) {
        json_t *levels = json_object_get(shape_point(document, i), "levels");
        json_object_set(levels, "threads", json_object_get(levels, "queue_depth"));
    }
    refused(document, -EINVAL, "threads: Erofeev's format has no name for this factor");
}

TEST(only_its_own_patterns_can_be_written)
{
    json_t *document = shape_document(3);
    json_object_set_new(json_object_get(document, "fixed"), "pattern", json_string("randrw:70"));
    refused(json_incref(document), -EINVAL, "randrw:70: Erofeev's format knows");
    json_object_del(json_object_get(document, "fixed"), "pattern");
    refused(document, -EINVAL, "wants one pattern");
}

TEST(flags_tell_the_four_patterns)
{
    static const char *const patterns[][2] = {
        {"randwrite", "0\n0\n"}, {"randread", "0\n1\n"}, {"write", "1\n0\n"}, {"read", "1\n1\n"}};
    for (size_t i = 0; i < 4; i++) {
        json_t *document = shape_document(2);
        json_auto_t *again = NULL;
        int result;
        json_object_set_new(json_object_get(document, "fixed"), "pattern", json_string(patterns[i][0]));
        AUTO(auto_free) char *text = printed(document, FORMAT_EROFEEV, &result);
        assert_int_equal(result, 0);
        assert_int_equal(strncmp(text, patterns[i][1], 4), 0);
        assert_int_equal(read_text(text, &again), 0);
        assert_string_equal(json_string_value(json_at(again, "fixed.pattern")), patterns[i][0]);
    }
}

TEST(a_single_replay_has_no_deviation_to_write)
{
    json_t *document = shape_document(1);
    refused(json_incref(document), -ENODATA, "no setting has a mean and a standard deviation");
    /* Known before anything is measured. */
    json_object_set_new(document, "replays_asked", json_integer(1));
    refused(document, -EINVAL, "use --replays 2 or more");
}

TEST(failed_points_are_left_out)
{
    json_t *document = shape_document(3);
    int result;
    for (size_t i = 1; i < 9; i++)
        json_object_set_new(shape_point(document, i), "failed", json_string("no"));
    char *text = printed(json_incref(document), FORMAT_EROFEEV, &result);
    assert_int_equal(result, 0);
    assert_string_equal(text, "0\n0\n1\n2\nRS\n65536\nQD\n1\n901800000\n9524705\n");
    free(text);
    json_object_set_new(shape_point(document, 0), "failed", json_string("no"));
    refused(document, -ENODATA, "no setting has a mean");
}

/* psync at depth 1, pvec above: the original's own queue depth, so the API needs no name. */
TEST(the_originals_own_api_needs_no_name)
{
    json_t *document = shape_document(3), *factors = json_object_get(document, "factors");
    int result;
    json_array_append_new(factors,
                          json_pack("{s:s, s:s, s:b, s:[ss], s:[ss]}", "name", "api", "unit", "", "ordered",
                                    0, "levels", "psync", "pvec", "texts", "psync", "pvec"));
    for (size_t i = 0; i < 9; i++) {
        json_t *levels = json_object_get(shape_point(document, i), "levels");
        bool one = json_integer_value(json_object_get(levels, "queue_depth")) == 1;
        json_object_set_new(levels, "api", json_string(one ? "psync" : "pvec"));
    }
    char *text = printed(json_incref(document), FORMAT_EROFEEV, &result);
    assert_int_equal(result, 0);
    assert_int_equal(strncmp(text, "0\n0\n9\n2\nRS\n65536\nQD\n1\n", 22), 0);
    assert_lacks(text, "p");
    free(text);
    json_object_set_new(json_object_get(shape_point(document, 0), "levels"), "api", json_string("pvec"));
    refused(document, -EINVAL, "api: Erofeev's format has no name");
}
