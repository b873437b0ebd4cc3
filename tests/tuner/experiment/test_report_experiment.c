/* Tests of the text and the analysis of an experiment. */
#include "tests/tuner/experiment/report_experiment_rig.h"
#include "tuner/experiment/erofeev.h"

#include <errno.h>

static json_t *analysis_of(json_t *document)
{
    json_t *analysis = report_experiment_analysis_json(document);
    assert_non_null(analysis);
    json_decref(document);
    return analysis;
}

TEST(the_table_stands_in_order_of_the_levels)
{
    AUTO(auto_free) char *text = text_of_document(shape_document(5));
    const char *rows[] = {"\n  4k            1 ", "\n  4k            4 ", "\n  16k           1 ",
                          "\n  64k           16 "};
    const char *before = text;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *row = strstr(before, rows[i]);
        if (row == NULL)
            fail_msg("no row%s after\n%s", rows[i], before);
        before = row;
    }
    CHECK_HAS(text, "Experiment   made up: full design, 9 settings, 5 replays asked, 45 runs made\n",
              "Measured on  simulated surface \"none\"", "direct 1");
}

TEST(the_cheapest_equivalent_has_fewer_bytes_in_flight)
{
    CHECK_TEXT(shape_document(5), "best      request_size 64k, queue_depth 16: 1.80 GB/s\n",
               "cheapest  request_size 64k, queue_depth 4: 1.80 GB/s, as good within 3 %, with 256k instead "
               "of 1m in flight\n",
               "cheapest as good as the best\n");
    json_auto_t *analysis = analysis_of(shape_document(5));
    CHECK_JSON(analysis, "answers#=1", "answers.0.best=2", "answers.0.cheapest=1", "answers.0.equivalent#=1");
}

TEST(a_tighter_tolerance_keeps_the_best)
{
    json_t *document = shape_document(5);
    json_object_set_new(document, "tolerance", json_real(0.0001));
    json_auto_t *analysis = analysis_of(document);
    CHECK_JSON(analysis, "answers.0.cheapest=2", "answers.0.undecided#=1");
}

TEST(levels_that_do_the_same_cannot_be_told_apart)
{
    CHECK_TEXT(shape_document(5), "queue_depth: 1 (0.63), 4 (1.26), 16 (1.26)\n",
               "queue_depth: 4 and 16 cannot be told apart\n", "request_size: all differ\n");
}

/* In a balanced design the squares are sums over means of levels. */
TEST(shares_are_those_of_the_textbook)
{
    double mean_of_size[3] = {0}, mean_of_depth[3] = {0}, mean = 0, total = 0, expected[2] = {0};
    for (size_t i = 0; i < 45; i++) {
        double y = log(shape_bps(i / 15, i / 5 % 3) * (1 + scatter[i % 5] / 100));
        mean_of_size[i / 15] += y / 15;
        mean_of_depth[i / 5 % 3] += y / 15;
        mean += y / 45;
    }
    for (size_t i = 0; i < 45; i++)
        total += pow(log(shape_bps(i / 15, i / 5 % 3) * (1 + scatter[i % 5] / 100)) - mean, 2);
    for (size_t k = 0; k < 3; k++) {
        expected[0] += 15 * pow(mean_of_size[k] - mean, 2);
        expected[1] += 15 * pow(mean_of_depth[k] - mean, 2);
    }
    json_auto_t *analysis = analysis_of(shape_document(5));
    CHECK_JSON(analysis, "anova.terms#=3", "anova.terms.0.df=2", "anova.terms.1.df=2", "anova.error.df=36");
    for (size_t i = 0; i < 2; i++) {
        const json_t *term = json_at(analysis, i == 0 ? "anova.terms.0" : "anova.terms.1");
        assert_close(json_number_at(term, "squares"), expected[i], 1e-9);
        assert_close(json_number_at(term, "share"), expected[i] / total, 1e-9);
        assert_true(json_number_at(term, "p") < 1e-6);
    }
    /* The shape is a product: nothing is left for the interaction. */
    assert_true(json_number_at(analysis, "anova.terms.2.p") > 0.99);
    assert_close(json_number_at(analysis, "anova.error.cv"), 0.00825, 0.0001);
}

/* Fast at depth 1 with small requests, at depth 16 with large ones: neither matters by itself. */
static json_t *crossed_document(double strength)
{
    json_t *document = shape_document(5), *points = json_array();
    size_t number = 0;
    for (size_t i = 0; i < 9; i++) {
        json_t *levels = json_deep_copy(json_object_get(shape_point(document, i), "levels"));
        double sign = ((double)(i / 3) - 1) * ((double)(i % 3) - 1);
        json_array_append_new(points, point_json(levels, 1e9 * exp(strength * sign), 5, 1e5, &number));
    }
    json_object_set_new(document, "points", points);
    return document;
}

TEST(an_effect_that_depends_on_another_factor_is_told)
{
    CHECK_TEXT(crossed_document(1), "queue_depth: what it does depends on request_size (",
               "request_size: what it does depends on queue_depth (");
}

TEST(one_that_may_be_scatter_is_not_told)
{
    CHECK_TEXT(crossed_document(0.003), "-depends on");
    CHECK_TEXT(shape_document(5), "-depends on");
}

TEST(one_replay_tests_nothing_and_says_so)
{
    CHECK_TEXT(shape_document(1), "not tested", "no setting has two runs", "a setting needs 3 replays",
               "-told apart\n", "-cheapest  ");
    json_auto_t *analysis = analysis_of(shape_document(1));
    CHECK_JSON(analysis, "answers.0.cheapest=null", "answers.0.undecided=[]", "anova.terms.0.p=null",
               "levels=[]");
}

TEST(failed_and_distrusted_points_are_no_answers)
{
    json_t *document = shape_document(5), *best = shape_point(document, 2),
           *second = shape_point(document, 1);
    json_object_set_new(best, "failed", json_string("write: \x1b[31mno space"));
    json_object_set_new(second, "disqualified_by", json_pack("[s]", "cached"));
    CHECK_TEXT(document, "no figures: write: ?[31mno space\n", "not trustworthy\n",
               "best      request_size 64k, queue_depth 1: 900 MB/s\n", "1 of 9 settings have no figures",
               "1 of 9 settings are not trustworthy");
}

TEST(without_any_figures_there_is_no_answer)
{
    json_t *document = shape_document(3);
    for (size_t i = 0; i < 9; i++)
        json_object_set_new(shape_point(document, i), "failed", json_string("no"));
    CHECK_TEXT(document, "-Answer", "-analysis of variance");
    document = shape_document(3);
    json_array_clear(json_object_get(document, "points"));
    CHECK_TEXT(document, "0 settings");
}

/* A second pattern whose points are twice as fast, and a factor `api` that the depth decides. */
static json_t *with_two_more_factors(void)
{
    json_t *document = shape_document(5), *points = json_object_get(document, "points");
    size_t n = json_array_size(points), number = 1000;
    json_array_append_new(json_object_get(document, "factors"),
                          json_pack("{s:s, s:s, s:b, s:[ss], s:[ss]}", "name", "pattern", "unit", "",
                                    "ordered", 0, "levels", "randread", "randwrite", "texts", "randread",
                                    "randwrite"));
    json_array_append_new(json_object_get(document, "factors"),
                          json_pack("{s:s, s:s, s:b, s:[ss], s:[ss]}", "name", "api", "unit", "", "ordered",
                                    0, "levels", "psync", "pvec", "texts", "psync", "pvec"));
    for (size_t i = 0; i < n; i++) {
        json_t *point = json_array_get(points, i), *levels = json_object_get(point, "levels");
        bool one = json_integer_value(json_object_get(levels, "queue_depth")) == 1;
        json_object_set_new(levels, "pattern", json_string("randwrite"));
        json_object_set_new(levels, "api", json_string(one ? "psync" : "pvec"));
        json_t *twin = json_deep_copy(levels);
        json_object_set_new(twin, "pattern", json_string("randread"));
        json_array_append_new(
            points, point_json(twin, 2 * json_number_value(json_object_get(point, "mean")), 5, 1e5, &number));
    }
    return document;
}

TEST(each_pattern_has_an_answer_of_its_own)
{
    json_auto_t *analysis = analysis_of(with_two_more_factors());
    CHECK_JSON(analysis, "answers#=2", "answers.0.conditions={\"pattern\":\"randwrite\"}", "answers.0.best=2",
               "answers.1.best=11");
    CHECK_TEXT(with_two_more_factors(), "Answers, for each kind of work\n  pattern randwrite\n    best  ");
}

TEST(a_factor_that_follows_takes_no_share_from_the_other)
{
    json_auto_t *analysis = analysis_of(with_two_more_factors());
    CHECK_JSON(analysis, "anova.follows=[{\"factor\":\"api\",\"from\":\"queue_depth\"}]", "anova.terms#=6",
               "anova.terms.1.df=2");
}

TEST(json_carries_the_analysis)
{
    int result;
    json_auto_t *document = shape_document(3);
    AUTO(auto_free) char *text = printed(json_incref(document), FORMAT_JSON, &result);
    assert_int_equal(result, 0);
    assert_null(json_object_get(document, "analysis"));
    json_auto_t *read = json_loads(text, 0, NULL);
    assert_non_null(read);
    assert_true(json_is_object(json_object_get(read, "analysis")));
    json_object_del(read, "analysis");
    assert_int_equal(json_object_size(read), json_object_size(document));
}

TEST(confidence_of_the_document_is_told)
{
    json_t *document = shape_document(5);
    json_object_set_new(document, "confidence", json_real(0.9));
    CHECK_TEXT(document, "(90 % intervals of the mean)");
}

TEST(warnings_and_left_out_points_are_listed)
{
    json_t *document = shape_document(3);
    json_array_append_new(json_at(document, "warnings"),
                          json_pack("{s:s, s:s}", "code", "noisy", "text", "the disk was busy"));
    json_array_append_new(json_object_get(document, "dropped"),
                          json_pack("{s:s, s:s}", "what", "psync x 4", "why", "psync has depth 1"));
    json_object_set_new(document, "interrupted", json_true());
    json_object_set_new(document, "name", json_string("a\nb"));
    CHECK_TEXT(document, "  - noisy: the disk was busy\n", "  - psync x 4: psync has depth 1\n",
               "(interrupted)\n", "Experiment   a?b: ");
}

TEST(many_levels_keep_the_table_and_lose_the_analysis)
{
    size_t number = 0;
    char label[16];
    json_t *levels = json_array(), *texts = json_array(), *points = json_array();
    for (int i = 1; i <= 130; i++) {
        snprintf(label, sizeof label, "%d", i);
        json_array_append_new(levels, json_integer(i));
        json_array_append_new(texts, json_string(label));
        json_array_append_new(points,
                              point_json(json_pack("{s:i}", "queue_depth", i), 1e6 * i, 2, 1e5, &number));
    }
    json_t *factor = json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", "queue_depth", "unit", "", "ordered", 1,
                               "levels", levels, "texts", texts);
    CHECK_TEXT(document_of(json_pack("[o]", factor), points), "\n  130          130 MB/s",
               "more than 128 levels of a factor: no analysis of variance",
               "-What the differences come from");
}

/* Releases the document. */
static void check_damaged(json_t *document, const char *part)
{
    int result;
    assert_null(report_experiment_analysis_json(document));
    AUTO(auto_free) char *text = printed(document, FORMAT_TEXT, &result);
    assert_int_equal(result, -EINVAL);
    assert_contains(err.text, part);
    assert_string_equal(text, "");
}

TEST(a_damaged_document_is_refused_with_its_part)
{
    static const struct {
        const char *path, *key, *value, *part;
    } cases[] = {
        {"", "schema", "\"fstune/recommendation/1\"", "schema fstune/experiment/1"},
        {"", "points", "\"none\"", "schema fstune/experiment/1"},
        {"points.4.levels", "queue_depth", "5", "no level of queue_depth"},
        {"factors.0", "texts", "[\"4k\", \"16k\"]", "factors are damaged"},
        {"factors.0", "name", "\"a\\u001b[0m\"", "factors are damaged"},
        {"", "factors", "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]", "varies 14 factors"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *document = shape_document(2);
        json_object_set_new(json_at(document, cases[i].path), cases[i].key,
                            json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
        check_damaged(document, cases[i].part);
    }
    json_t *document = shape_document(2);
    for (int i = 0; i < 300; i++) {
        json_array_append_new(json_at(document, "factors.0.levels"), json_integer(i));
        json_array_append_new(json_at(document, "factors.0.texts"), json_string("x"));
    }
    check_damaged(document, "request_size has 303 levels");
}

/* Shares of the published table, from sums over its rows and columns by other means. */
TEST(the_published_results_are_analysed)
{
    json_t *document = NULL;
    assert_int_equal(erofeev_import("tests/data/erofeev-2021-appendix-a.txt", &document, &err), 0);
    json_auto_t *analysis = analysis_of(document);
    assert_close(json_number_at(analysis, "anova.total_squares"), 11.254691541, 1e-8);
    assert_close(json_number_at(analysis, "anova.terms.0.squares"), 7.533257050, 1e-8);
    assert_close(json_number_at(analysis, "anova.terms.1.squares"), 1.812784945, 1e-8);
    CHECK_JSON(analysis, "answers.0.best=19");
}
