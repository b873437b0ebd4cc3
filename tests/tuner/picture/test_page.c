/* What stands in a page, and that no text of a document becomes anything but text. */
#include "tests/test.h"
#include "tuner/picture/page.h"

#include <errno.h>

#define POINT(size, depth, mean)                                                                             \
    "{\"request_size\": " size ", \"queue_depth\": " depth                                                   \
    ", \"direct\": 1, \"api\": \"io_uring\", \"threads\": 1, \"sync\": \"end\", \"mean\": " mean             \
    ", \"ci_low\": null, \"ci_high\": null, \"replays\": 2, \"latency_ns\": {\"mean\": 1000}}"
#define ANSWER(rest)                                                                                         \
    "{\"schema\": \"fstune/recommendation/1\", \"version\": \"0.1.0\", \"pattern\": {\"name\": "             \
    "\"randwrite\"}" rest "}"
#define SYSTEM ", \"system\": {\"simulated\": false, \"path\": \"/data\", \"test_file_bytes\": 1048576}"
#define WORST  POINT("4096", "8", "1e9")
#define CHOSEN POINT("65536", "8", "2e9")
#define BEST   POINT("65536", "16", "3e9")
#define EQUAL  POINT("65536", "32", "2.5e9")
#define JUDGED ", \"recommendation\": " CHOSEN ", \"best\": " BEST ", \"equivalent\": [" EQUAL "]"
#define POINTS ", \"points\": [" WORST ", " CHOSEN ", " BEST ", " EQUAL "]"
#define FULL   ANSWER(SYSTEM JUDGED POINTS ", \"search\": {\"seed\": 7, \"seconds\": 9.5}")

/* Of the same document twice, as if of two nights, or once. The caller frees it; NULL where it is refused. */
static char *page_of_nights(const char *text, size_t n)
{
    static struct settings settings;
    struct err err = {0};
    char *page = NULL;
    size_t size = 0;
    json_t *document = json_loads(text, 0, NULL);
    const json_t *const documents[] = {document, document};
    const struct page_request request = {
        .documents = documents, .n_documents = n, .settings = &settings.snippet};
    settings_init(&settings);
    assert_non_null(document);
    FILE *out = open_memstream(&page, &size);
    assert_non_null(out);
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
    return page_of_nights(text, 1);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        n++;
    }
    return n;
}

/* Markup of the page itself, which a text of the document must not add to. */
static void check_harmless(const char *page)
{
    static const char turning[] = {(char)0xe2, (char)0x80, (char)0xae, '\0'}; /* U+202E */
    assert_int_equal(count(page, "<script"), 2);
    assert_int_equal(count(page, "</script>"), 2);
    assert_int_equal(count(page, "<!--"), 0);
    assert_int_equal(count(page, "<img"), 0);
    assert_int_equal(count(page, turning), 0);
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
        AUTO(auto_free) char *page = page_of_nights(texts[i], 2);
        assert_non_null(page);
        check_harmless(page);
        assert_true(count(page, "\\u003c/script>\\u003cscript>alert(1)") > 0);
        assert_true(count(page, "&#60;/script&#62;&#60;script&#62;alert(1)") > 0);
    }
}

/* The text between two marks, of which the first begins what is looked for. */
static char *between(const char *page, const char *begin, const char *end)
{
    const char *from = strstr(page, begin);
    assert_non_null(from);
    from += strlen(begin);
    const char *to = strstr(from, end);
    assert_non_null(to);
    char *text = strndup(from, (size_t)(to - from));
    assert_non_null(text);
    return text;
}

/* What the page's script reads; the caller releases it. */
static json_t *data_of(const char *text)
{
    char *page = page_of(text);
    assert_non_null(page);
    char *inside = between(page, "<script type=\"application/json\" id=\"data\">", "</script>");
    json_t *data = json_loads(inside, 0, NULL);
    assert_non_null(data);
    free(inside);
    free(page);
    return data;
}

static double number_at(const json_t *data, const char *key, size_t row, size_t member)
{
    return json_number_value(json_array_get(json_array_get(json_object_get(data, key), row), member));
}

TEST(the_data_of_the_scripts_are_the_document_and_its_rows)
{
    json_auto_t *data = data_of(FULL);
    const json_t *document = json_object_get(data, "document");
    const json_t *best = json_array_get(json_object_get(data, "points"), 2);
    assert_string_equal(json_string_value(json_object_get(json_object_get(document, "system"), "path")),
                        "/data");
    assert_null(json_object_get(document, "points"));
    assert_int_equal(json_array_size(json_object_get(data, "points")), 4);
    assert_int_equal(json_array_size(best), 16);
    assert_close(number_at(data, "points", 2, 0), 65536, 0);
    assert_close(number_at(data, "points", 2, 1), 16, 0);
    assert_close(number_at(data, "points", 2, 7), 3e9, 1);
    assert_true(json_is_null(json_array_get(best, 8)));
    assert_close(number_at(data, "points", 2, 11), 1000, 0);
    assert_close(number_at(data, "points", 2, 14), 2, 0);
    assert_close(number_at(data, "equivalent", 0, 1), 32, 0);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(data, "recommendation"), 1)), 8);
    assert_true(json_is_null(json_object_get(data, "baseline")));
}

TEST(a_recommendation_has_every_snippet)
{
    json_t *data = data_of(FULL);
    const json_t *snippets = json_object_get(data, "snippets"), *snippet;
    size_t i, n_texts = 0;
    json_array_foreach(snippets, i, snippet)
    {
        bool has_text = json_is_string(json_object_get(snippet, "text"));
        assert_true(has_text || json_string_length(json_object_get(snippet, "why")) > 0);
        n_texts += has_text;
    }
    assert_true(n_texts > 10);
    json_decref(data);
    data = data_of(ANSWER(", \"recommendation\": null, \"reasons\": [\"too noisy\"]"));
    assert_true(json_is_null(json_object_get(data, "snippets")));
    assert_non_null(strstr(json_string_value(json_object_get(data, "why_not")), "too noisy"));
    json_decref(data);
}

TEST(without_scripts_the_page_says_the_setting_and_the_rate)
{
    AUTO(auto_free)
    char *page = page_of(ANSWER(SYSTEM JUDGED POINTS ", \"throughput\": {\"mean\": 2e9}, \"warnings\": "
                                                     "[{\"text\": \"a warm-up of its own\"}]"));
    assert_non_null(page);
    AUTO(auto_free) char *text = between(page, "<noscript>", "</noscript>");
    assert_non_null(strstr(text, "recommended: 64k x 8, direct, io_uring"));
    assert_non_null(strstr(text, "throughput 2.00 GB/s"));
    assert_non_null(strstr(text, "a warm-up of its own"));
}

TEST(damaged_rows_are_left_out_and_counted)
{
    json_t *data =
        data_of(ANSWER(", \"points\": [" POINT("4096", "8", "1e9") ", 7, {}, " POINT("5", "8", "1") "]"));
    assert_int_equal(json_integer_value(json_object_get(data, "n_damaged")), 3);
    assert_int_equal(json_array_size(json_object_get(data, "points")), 1);
    json_decref(data);
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
