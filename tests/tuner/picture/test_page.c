/* What stands in a page, and that no text of a document becomes anything but text. */
#include "tests/test.h"
#include "tuner/picture/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    const struct page_request request = {.documents = documents, .n_documents = n, .settings = &settings};
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

/* The parts stand in the page in this order. */
static void check_order(const char *page, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *at = strstr(page, parts[i]);
        if (at == NULL)
            print_error("not there, or not behind the part before: %s\n", parts[i]);
        assert_non_null(at);
        page = at + strlen(parts[i]);
    }
}

TEST(summary_table_and_commands_are_in_the_page)
{
    static const char *const parts[] = {
        "<h1>randwrite on ",
        "queue depth 8, direct I/O, io_uring",
        "4 settings measured; as good as the best, but not as cheap: 1",
        "The same in all: direct 1, api io_uring, threads 1, sync end",
        "<td>64k<td>16<td>3.00 GB/s<td>-",
        "<td>best",
        "<td>64k<td>32<td>2.50 GB/s<td>-",
        "<td>as good as the best",
        "<tr class=chosen><td>64k<td>8<td>2.00 GB/s",
        "<td>recommended",
        "<td>4k<td>8<td>1.00 GB/s",
        "<td>worse",
        "fstune recommend --pattern randwrite --path /data --file-size 1m --budget 10s --seed 7",
        "fstune measure --pattern randwrite --path /data --file-size 1m",
        " --request-size 64k --queue-depth 8 --direct 1 --api io_uring --threads 1 --sync end",
        "rw=randwrite",
    };
    char *page = page_of(FULL);
    assert_non_null(page);
    check_order(page, parts, sizeof parts / sizeof parts[0]);
    assert_int_equal(count(page, "{{"), 0);
    free(page);
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
        char *page = page_of_nights(texts[i], 2);
        assert_non_null(page);
        check_harmless(page);
        assert_true(count(page, "&#60;/script&#62;&#60;script&#62;alert(1)") > 0);
        free(page);
    }
}

TEST(a_path_is_one_word_of_the_command)
{
    char *page = page_of(ANSWER(", \"system\": {\"path\": \"/a b'$(c)\"}, \"search\": {\"seed\": 1}"));
    assert_non_null(page);
    assert_non_null(strstr(page, " --path &#39;/a b&#39;\\&#39;&#39;$(c)&#39; --seed 1"));
    free(page);
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

/* SHA-256 in base64, as another program makes it. */
static void digest_of(const char *text, char digest[64])
{
    char path[] = "/tmp/fstune-digest-XXXXXX", command[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    snprintf(command, sizeof command,
             "/usr/bin/printf \"$(sha256sum %s | cut -c 1-64 | sed 's/../\\\\x&/g')\" | base64", path);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_non_null(fgets(digest, 64, output));
    digest[strcspn(digest, "\n")] = '\0';
    assert_int_equal(pclose(output), 0);
    unlink(path);
}

TEST(the_policy_knows_script_and_style_by_their_digests)
{
    static const struct {
        const char *policy, *begin, *end;
    } cases[] = {{"script-src 'sha256-", "<script>", "</script>"},
                 {"style-src 'sha256-", "<style>", "</style>"}};
    char *page = page_of(FULL);
    assert_non_null(page);
    assert_non_null(strstr(page, "content=\"default-src 'none'; "));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *stated = between(page, cases[i].policy, "'"),
             *text = between(page, cases[i].begin, cases[i].end);
        char digest[64];
        digest_of(text, digest);
        assert_string_equal(stated, digest);
        free(stated);
        free(text);
    }
    free(page);
}

TEST(the_data_of_the_scripts_are_the_rows)
{
    char *page = page_of(FULL);
    assert_non_null(page);
    char *text = between(page, "<script type=\"application/json\" id=\"data\">", "</script>");
    json_t *data = json_loads(text, 0, NULL);
    const json_t *first = json_array_get(json_object_get(data, "points"), 0);
    assert_int_equal(json_array_size(json_object_get(data, "points")), 4);
    assert_int_equal(json_integer_value(json_array_get(first, 1)), 16);
    assert_close(json_number_value(json_array_get(first, 7)), 3e9, 1);
    assert_true(json_is_null(json_array_get(first, 8)));
    assert_close(json_number_value(json_array_get(first, 10)), 3e9 / 65536, 1);
    json_decref(data);
    free(text);
    free(page);
}

TEST(another_objective_than_throughput_is_named)
{
    char *page =
        page_of(ANSWER(JUDGED POINTS ", \"objective\": {\"name\": \"latency\", \"unit\": \"ns\", "
                                     "\"better\": \"lower\", \"mean\": 151788, "
                                     "\"ratio_to_baseline\": {\"mean\": 0.5}}, \"search\": {\"seed\": 7}"));
    assert_non_null(page);
    assert_non_null(strstr(page, "latency: <b>152 us</b>, 0.50 times that of the baseline; less is better"));
    assert_non_null(strstr(page, " --objective latency"));
    free(page);
}

TEST(damaged_rows_are_left_out_and_counted)
{
    char *page =
        page_of(ANSWER(", \"points\": [" POINT("4096", "8", "1e9") ", 7, {}, " POINT("5", "8", "1") "]"));
    assert_non_null(page);
    assert_non_null(strstr(page, "3 damaged rows"));
    free(page);
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
        char *page = page_of(texts[i]);
        assert_non_null(page);
        assert_non_null(strstr(page, "</html>"));
        free(page);
    }
}

TEST(a_document_of_another_program_is_refused)
{
    assert_null(page_of("{}"));
    assert_null(page_of("[]"));
    assert_null(page_of("{\"schema\": \"fstune/plan/1\"}"));
}
