/* An answer is read as it was reported, or refused with the reason. */
#include "tests/test.h"
#include "tuner/store/recommendation.h"

#include <errno.h>

#define POINT                                                                                                \
    "{\"request_size\": 65536, \"queue_depth\": 8, \"direct\": 1, \"api\": \"io_uring\", \"threads\": 1, "   \
    "\"sync\": \"end\"}"
#define ANSWER(point, rest)                                                                                  \
    "{\"schema\": \"fstune/recommendation/1\", \"version\": \"0.1.0\", \"pattern\": {\"name\": "             \
    "\"randrw:70\"},"                                                                                        \
    "\"recommendation\": " point rest "}"

static struct recommendation recommendation;
static struct err err;
static json_t *document;

/* Of the text, which takes the place of the one before. */
static int read_text(const char *text)
{
    json_decref(document);
    document = json_loads(text, 0, NULL);
    assert_non_null(document);
    err = (struct err){0};
    return recommendation_read(&recommendation, document, &err);
}

TEST(setting_evidence_and_origin_are_read)
{
    assert_int_equal(
        read_text(ANSWER(
            POINT, ", \"throughput\": {\"mean\": 5e8, \"ci_low\": 4e8, \"ci_high\": 6e8, \"replays\": 7,"
                   " \"confidence\": 0.95}, \"conclusive\": true, \"system\": {\"simulated\": false, "
                   "\"hostname\": \"h\", \"path\": \"/data\", \"nr_requests\": 64}")),
        0);
    assert_int_equal(recommendation.point.request_size_bytes, 65536);
    assert_int_equal(recommendation.point.api, API_IO_URING);
    assert_string_equal(recommendation.pattern.name, "randrw:70");
    assert_true(recommendation.conclusive);
    assert_int_equal(recommendation.replays, 7);
    assert_close(recommendation.ci_high_bps, 6e8, 1e-12);
    assert_true(isnan(recommendation.probability));
    assert_string_equal(recommendation.path, "/data");
    assert_close(recommendation_fact_number(&recommendation, "nr_requests"), 64, 1e-12);
    assert_null(recommendation_fact_text(&recommendation, "nr_requests"));
}

TEST(an_answer_without_recommendation_is_enodata_with_its_reason)
{
    assert_int_equal(read_text(ANSWER("null", ", \"reasons\": [\"nothing was trustworthy\"]")), -ENODATA);
    assert_non_null(strstr(err.text, "nothing was trustworthy"));
}

TEST(other_documents_and_damaged_points_are_refused)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "{\"schema\": \"fstune/measurement/1\"}",
        "{\"schema\": \"fstune/recommendation/1\", \"recommendation\": " POINT "}",
        ANSWER("[]", ""),
        ANSWER("{\"request_size\": 65536}", ""),
        ANSWER(
            "{\"request_size\": 1000, \"queue_depth\": 8, \"direct\": 1, \"api\": \"pool\", \"threads\": 1, "
            "\"sync\": \"end\"}",
            ""),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(read_text(texts[i]), -EINVAL);
        assert_true(err.text[0] != '\0');
    }
}

TEST(a_probability_that_is_no_share_is_refused)
{
    static const struct {
        const char *text;
        int result;
    } rows[] = {{ANSWER(POINT, ", \"probability_within_tolerance\": 7"), -EINVAL},
                {ANSWER(POINT, ", \"probability_within_tolerance\": -0.1"), -EINVAL},
                {ANSWER(POINT, ", \"throughput\": {\"confidence\": 95}"), -EINVAL},
                {ANSWER(POINT, ", \"probability_within_tolerance\": 1"), 0},
                {ANSWER(POINT, ", \"probability_within_tolerance\": null"), 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(read_text(rows[i].text), rows[i].result);
    }
}
