/* What stands in a page, and that no text of a document becomes anything but text. The whole of pages of
 * answers is compared in tests/golden (html-*). */
#include "tests/tuner/json_check.h"
#include "tuner/picture/page.h"

#include <errno.h>

#define POINT(size, depth, mean)                                                                             \
    "{\"request_size\": " size ", \"queue_depth\": " depth                                                   \
    ", \"direct\": 1, \"api\": \"io_uring\", \"threads\": 1, \"sync\": \"end\", \"mean\": " mean             \
    ", \"ci_low\": null, \"ci_high\": null, \"replays\": 2, \"latency_ns\": {\"mean\": 1000}}"
#define ANSWER(rest)                                                                                         \
    "{\"schema\": \"fstune/recommendation/1\", \"version\": \"0.1.0\", \"pattern\": {\"name\": "             \
    "\"randwrite\"}" rest "}"
#define CHOSEN POINT("65536", "8", "2e9")
#define POINTS ", \"points\": [" CHOSEN ", " POINT("4096", "8", "1e9") "]"

/* Of the same document twice, as if of two nights, or once. The caller frees it; NULL where it is refused. */
static char *page_of_nights(const char *text, size_t n, const struct journal *journal)
{
    static struct settings settings;
    struct err err = {0};
    char *page = NULL;
    json_t *document = json_loads(text, 0, NULL);
    const json_t *const documents[] = {document, document};
    const struct page_request request = {
        .documents = documents, .n_documents = n, .settings = &settings.snippet, .journal = journal};
    settings_init(&settings);
    assert_non_null(document);
    FILE *out = memory_stream(&page);
    int result = page_print(out, &request, &err);
    assert_int_equal(fclose(out), 0);
    json_decref(document);
    if (result == 0)
        return page;
    assert_int_equal(result, -EINVAL);
    assert_true(err.text[0] != '\0');
    free(page);
    return NULL;
}

static char *page_of(const char *text)
{
    return page_of_nights(text, 1, NULL);
}

/* Markup of the page itself, which a text of the document must not add to. */
static void check_harmless(const char *page)
{
    static const char turning[] = {(char)0xe2, (char)0x80, (char)0xae, '\0'}; /* U+202E */
    assert_int_equal(count_of(page, "<script"), 2);
    assert_int_equal(count_of(page, "</script>"), 2);
    assert_int_equal(count_of(page, "<!--"), 0);
    assert_int_equal(count_of(page, "<img"), 0);
    assert_int_equal(count_of(page, turning), 0);
    assert_null(strchr(page, '\x1b'));
}

#define EVIL         "</script><script>alert(1)</script><img src=x onerror='alert(1)'><!--\\u202e\\u001b"
#define EVIL_AT(key) "\"" key "\": \"" EVIL "\""
#define EVIL_SYSTEM                                                                                          \
    ", \"system\": {" EVIL_AT("path") ", " EVIL_AT("hostname") ", " EVIL_AT("device") ", " EVIL_AT(          \
        "measured_at") ", " EVIL_AT(EVIL) "}"
#define EVIL_LISTS                                                                                           \
    ", \"warnings\": [{" EVIL_AT("code") ", " EVIL_AT("text") "}], \"dropped\": [{" EVIL_AT(                 \
        "what") ", " EVIL_AT("why") "}], \"importance\": {\"words\": [\"" EVIL                               \
                                    "\"]}, \"search\": {" EVIL_AT("method_asked") "}"

TEST(hostile_texts_stay_texts)
{
    static const char *const texts[] = {
        ANSWER(EVIL_SYSTEM EVIL_LISTS ", \"recommendation\": " CHOSEN POINTS ", \"fio_job\": \"" EVIL "\""),
        ANSWER(", \"recommendation\": null, \"reasons\": [\"" EVIL "\"]"),
        "{\"schema\": \"fstune/measurement/1\", \"pattern\": {\"name\": \"" EVIL
        "\"}, \"system\": {\"simulated\": true, \"surface\": \"" EVIL "\"}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        AUTO(auto_free) char *page = page_of_nights(texts[i], 2, NULL);
        assert_non_null(page);
        check_harmless(page);
        assert_true(count_of(page, "\\u003c/script>\\u003cscript>alert(1)") > 0);
        assert_true(count_of(page, "&#60;/script&#62;&#60;script&#62;alert(1)") > 0);
    }
}

/* What the page's script reads; the caller releases it. */
static json_t *data_of(const char *text, const struct journal *journal)
{
    static const char mark[] = "<script type=\"application/json\" id=\"data\">";
    AUTO(auto_free) char *page = page_of_nights(text, 1, journal);
    assert_non_null(page);
    const char *inside = strstr(page, mark);
    assert_non_null(inside);
    json_t *data = json_loads(inside + strlen(mark), JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(data);
    return data;
}

TEST(damaged_rows_are_left_out_and_counted)
{
    json_auto_t *data = data_of(
        ANSWER(", \"points\": [" POINT("4096", "8", "1e9") ", 7, {}, " POINT("5", "8", "1") "]"), NULL);
    CHECK_JSON(data, "n_damaged=3", "points#=1");
}

TEST(members_of_other_types_do_no_harm)
{
    static const char *const texts[] = {
        "{\"schema\": \"fstune/recommendation/1\"}",
        ANSWER(", \"system\": [], \"points\": {}, \"warnings\": 7, \"importance\": [], \"search\": \"\", "
               "\"throughput\": {\"mean\": \"x\"}, \"recommendation\": {}, \"best\": 1, \"runs\": [1, null, "
               "{}]"),
        ANSWER(", \"points\": [" POINT("4096", "8", "-1e300") "], \"search\": {\"seconds\": 1e300, "
                                                              "\"seed\": -1e300, \"space_points\": 1e300}"),
        "{\"schema\": \"fstune/measurement/1\", \"row\": [], \"seed\": {}, \"runs\": [[], {\"seconds\": "
        "-1}]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        AUTO(auto_free) char *page = page_of(texts[i]);
        assert_non_null(page);
        assert_non_null(strstr(page, "</html>"));
    }
}

TEST(a_document_of_another_program_is_refused)
{
    assert_null(page_of("{}"));
    assert_null(page_of("[]"));
    assert_null(page_of("{\"schema\": \"fstune/plan/1\"}"));
}

TEST(an_experiment_is_shown_alone)
{
    static const char text[] = "{\"schema\": \"fstune/experiment/1\"}";
    AUTO(auto_free) char *page = page_of(text);
    assert_non_null(page);
    assert_null(page_of_nights(text, 2, NULL));
}

/* ---- who led a search, as its journal tells it ---- */

/* Runs of points that differ in their queue depth. */
static struct journal_run run_of(uint32_t queue_depth, double at_seconds, double throughput_bps)
{
    struct journal_run run = {.at_seconds = at_seconds};
    run.point = (struct point){.request_size_bytes = 4096,
                               .queue_depth = queue_depth,
                               .direct = 1,
                               .api = API_IO_URING,
                               .threads = 1,
                               .sync = SYNC_END};
    run.sample.throughput_bps = throughput_bps;
    return run;
}

static json_t *course_of(struct journal_run *runs, size_t n, size_t first)
{
    const struct journal journal = {.runs = runs, .n_runs = n, .first = first};
    json_auto_t *data = data_of(ANSWER(""), &journal);
    return json_incref(json_object_get(data, "search"));
}

static double member(const json_t *course, size_t step, size_t i)
{
    return json_number_value(json_array_get(json_array_get(json_object_get(course, "steps"), step), i));
}

TEST(the_highest_mean_so_far_leads)
{
    struct journal_run runs[] = {run_of(1, 1, 100), run_of(2, 2, 300), run_of(2, 3, 100), run_of(1, 4, 260)};
    static const struct {
        double leader, n, mean;
    } expected[] = {{0, 1, 100}, {1, 1, 300}, {1, 2, 200}, {1, 2, 200}};
    json_auto_t *course = course_of(runs, 4, 0);
    CHECK_JSON(course, "steps#=4", "settings#=2");
    for (size_t i = 0; i < 4; i++) {
        assert_close(member(course, i, 3), expected[i].leader, 0);
        assert_close(member(course, i, 4), expected[i].n, 0);
        assert_close(member(course, i, 5), expected[i].mean, 1e-9);
    }
}

TEST(an_interval_needs_three_runs_of_the_leader)
{
    struct journal_run runs[] = {run_of(1, 1, 90), run_of(1, 2, 100), run_of(1, 3, 110)};
    json_auto_t *course = course_of(runs, 3, 0);
    CHECK_JSON(course, "steps.1.6=null");
    /* Student's t for 2 degrees of freedom at 97.5 % is 4.303; the standard error 10 / sqrt(3). */
    assert_close(member(course, 2, 6), 100 - 4.303 * 5.7735, 0.01);
    assert_close(member(course, 2, 7), 100 + 4.303 * 5.7735, 0.01);
}

TEST(runs_that_no_longer_held_do_not_count)
{
    struct journal_run runs[] = {run_of(1, 1, 900), run_of(2, 2, 100)};
    json_auto_t *course = course_of(runs, 2, 1), *none = course_of(runs, 2, 2);
    assert_int_equal(json_array_size(json_object_get(course, "steps")), 1);
    assert_close(member(course, 0, 5), 100, 1e-9);
    assert_int_equal(json_array_size(json_object_get(none, "steps")), 0);
}
