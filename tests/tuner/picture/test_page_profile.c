/* Tests of the page of a recording: what it says, and that texts of the document stay texts. A whole page is
 * compared in tests/golden (html-profile). */
#include "tests/test.h"
#include "tuner/picture/page_profile.h"

#include <errno.h>

#define BEGIN "{\"schema\": \"fstune/profile/1\", \"source\": \"preload\", \"seconds\": 4, \"paused_s\": 0"
#define SIZES                                                                                                \
    ", \"request_size\": {\"read\": {\"n\": 300, \"p50\": 4096, \"p99\": 8192, \"modes\": [{\"bytes\": "     \
    "4096, \"share\": 0.75}], \"histogram\": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 200, 100]}, "              \
    "\"write\": {\"n\": 0, \"p50\": 0, \"p99\": 0, \"modes\": [], \"histogram\": []}}"
#define TIME                                                                                                 \
    ", \"over_time\": {\"interval_s\": 2, \"bytes\": [2000000, 4000000], \"seq_read\": [100, 0], "           \
    "\"seq_write\": [0, 0], \"rand_read\": [0, 200], \"rand_write\": [0, 0], \"flushes\": [0, 0]}"
#define CACHES ", \"caches\": [{\"bytes\": 1048576, \"served_share\": 0.25}]"
#define SHARES                                                                                               \
    ", \"shares\": {\"seq_read\": 0.333, \"rand_read\": 0.667, \"seq_write\": 0, \"rand_write\": 0, "        \
    "\"margin\": 0.056}"
#define PATTERN ", \"events\": 300, \"events_lost\": 0, \"pattern\": {\"name\": \"randread\"}" SHARES
#define PHASES                                                                                               \
    ", \"phases\": [{\"start_s\": 0, \"end_s\": 2, \"requests\": 100, \"bytes\": 4000000, \"pattern\": "     \
    "\"read\", \"shares\": [1, 0, 0, 0]}, {\"start_s\": 2, \"end_s\": 4, \"requests\": 200, \"bytes\": "     \
    "8000000, \"pattern\": null, \"shares\": [null, null, null, null]}]"
#define WHOLE BEGIN SIZES TIME CACHES PATTERN PHASES

static struct err err;

/* What print returned is compared; the caller frees the page. */
static char *print(const char *text, int expected)
{
    char *page = NULL;
    FILE *out = memory_stream(&page);
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    err = (struct err){0};
    assert_true(page_profile_is(document));
    assert_int_equal(page_profile_print(out, document, &err), expected);
    fclose(out);
    json_decref(document);
    return page;
}

static void check_says(const char *page, const char *text)
{
    if (strstr(page, text) == NULL)
        fail_msg("the page lacks: %s", text);
}

static void check_never_says(const char *page, const char *text)
{
    if (strstr(page, text) != NULL)
        fail_msg("the page has: %s", text);
}

TEST(pattern_shares_and_margin_come_first)
{
    char *page = print(WHOLE "}", 0);
    check_says(page, "Pattern <strong>randread</strong>");
    check_says(page,
               "Of 300 requests <strong>33.3 %</strong> read in sequence, <strong>66.7 %</strong> read at "
               "random");
    check_says(page, "&#177; 5.6 points");
    check_says(page, "4k (75 %); half are at most 4k, 99 % at most 8k");
    check_says(page, "fstune recommend --for profile.json");
    check_never_says(page, "Sizes of writes");
    free(page);
}

TEST(charts_have_what_was_recorded)
{
    char *page = print(WHOLE "}", 0);
    check_says(page, "<title>0 s to 2 s: 1.00 MB/s</title>");
    check_says(page, "<title>2 s to 4 s: 100 reads at random a second, of 100</title>");
    check_says(page, "<title>reads of 4k up to twice that: 66.7 % of the requests</title>");
    check_says(page, "<th scope=\"row\">1.05 MB</th><td>25 %</td>");
    /* The second phase begins in the middle, and the third does not. */
    check_says(page, "<text class=\"title\" x=\"274.0\" y=\"16\">2</text>");
    check_never_says(page, "y=\"16\">3</text>");
    check_says(page, ">flushes alone</td>");
    check_never_says(page, "nan");
    free(page);
}

TEST(the_page_runs_nothing_and_loads_nothing)
{
    char *page = print(WHOLE "}", 0);
    check_never_says(page, "<script");
    check_never_says(page, "http://");
    check_never_says(page, "https://");
    check_says(page, "default-src 'none'");
    check_says(page, "<title>What a program does with its files</title>");
    free(page);
}

TEST(texts_of_the_document_stay_texts)
{
    static const char turning[] = {(char)0xe2, (char)0x80, (char)0xae, '\0'}; /* U+202E */
#define EVIL "<script>alert(1)</script>\\u001b\\u202e"
    char *page = print(
        "{\"schema\": \"fstune/profile/1\"" SHARES ", \"source\": \"" EVIL
        "\", \"seconds\": 4, \"command\": [\"" EVIL "\"]" SIZES TIME CACHES
        ", \"events\": 300, \"pattern\": {\"name\": \"" EVIL "\"}, \"streams\": [{\"file\": \"" EVIL
        "\", \"direction\": \"" EVIL "\", \"requests\": 3}], \"phases\": [{\"pattern\": \"" EVIL
        "\"}, {\"pattern\": \"" EVIL "\"}], \"marks\": [{\"name\": \"" EVIL
        "\"}], \"hardware\": [{\"event\": \"" EVIL "\", \"count\": 7}], \"fixed\": {\"" EVIL "\": \"" EVIL
        "\"}, \"free\": [\"" EVIL "\", 7], \"current\": 7, \"options\": [\"" EVIL "\", 7]}",
        0);
    check_never_says(page, "<script");
    check_never_says(page, "\x1b");
    check_never_says(page, turning);
    check_says(page, "&#60;script&#62;alert(1)&#60;/script&#62;");
    free(page);
}

TEST(too_little_is_told_and_nothing_is_recommended)
{
    char *page = print(BEGIN TIME ", \"caches\": [], \"request_size\": {\"read\": {\"histogram\": []}, "
                                  "\"write\": {\"histogram\": []}}, \"events\": 3, \"pattern\": {\"name\": "
                                  "null}, \"streams\": [], \"phases\": []}",
                       0);
    check_says(page, "Too little seen: 3 reads and writes of files, 64 are needed");
    check_says(page, "Nothing was read or written.");
    check_never_says(page, "recommend --for");
    check_never_says(page, "<svg");
    free(page);
}

TEST(what_was_not_seen_is_told)
{
    char *page = print(WHOLE ", \"unseen\": {\"seen_share\": 0.75, \"maps\": 2, \"mapped_bytes\": 4096, "
                             "\"rings\": 1, \"refused_lines\": 5}}",
                       0);
    check_says(page, "Not in these figures:");
    check_says(page, "25 % of the bytes");
    check_says(page, "mapped files: 2 (4.10 kB)");
    check_says(page, "rings: 1<");
    check_says(page, "lines that could not be understood: 5");
    free(page);
    page = print(WHOLE ", \"unseen\": {\"seen_share\": 1, \"maps\": 0, \"rings\": 0}}", 0);
    check_says(page, "nothing that the system counted");
    check_never_says(page, "Not in these figures:");
    free(page);
}

TEST(marks_and_counts_have_tables_where_there_are_any)
{
    char *page = print(WHOLE "}", 0);
    check_never_says(page, "id=\"marks\"");
    check_never_says(page, "id=\"processor\"");
    free(page);
    page = print(WHOLE ", \"marks\": [{\"name\": \"load\", \"count\": 2, \"first_s\": 1, \"last_s\": 3, "
                       "\"seconds\": 1.5, \"requests\": {\"read\": 5, \"write\": 0}, \"bytes\": {\"read\": "
                       "5000, \"write\": 0}}], \"marks_lost\": 4, \"hardware\": [{\"event\": \"A\", "
                       "\"count\": 600, \"per_request\": 2, \"per_second\": 150, \"kernel\": false, "
                       "\"running_share\": 0.5}, {\"event\": \"B\", \"count\": null}]}",
                 0);
    check_says(page, ">load</th><td>2</td><td>1 s</td><td>3 s</td><td>1.5 s</td><td>5</td><td>5.00 kB</td>");
    check_says(page, "4 more found no place");
    check_says(page, ">A</th><td>600</td><td>2</td><td>150</td>");
    check_says(page, "outside the kernel; an estimate: counted in 50 % of the time");
    check_says(page, "it never had a counter");
    check_says(page, "Events that the processor and the kernel counted");
    free(page);
    page = print(WHOLE ", \"hardware\": []}", 0);
    check_says(page, "href=\"#processor\"");
    check_says(page, "This machine counts no events of its processor");
    free(page);
    page = print(WHOLE ", \"hardware\": null}", 0);
    check_never_says(page, "id=\"processor\"");
    free(page);
}

TEST(documents_of_an_earlier_state_are_refused_in_one_line)
{
    static const char *const texts[] = {
        BEGIN "}",
        BEGIN SIZES CACHES "}",
        BEGIN SIZES TIME "}",
        BEGIN TIME CACHES "}",
        BEGIN TIME CACHES ", \"request_size\": {\"read\": {\"n\": 1}, \"write\": {\"n\": 2}}}",
        BEGIN SIZES TIME CACHES ", \"pattern\": {\"name\": \"read\"}}",
        BEGIN SIZES TIME CACHES ", \"pattern\": {\"name\": \"read\"}, \"shares\": {\"seq_read\": 1}}",
    };
    for (size_t i = 0; i < N_OF(texts); i++) {
        char *page = print(texts[i], -ENODATA);
        assert_non_null(strstr(err.text, "record it again"));
        assert_null(strchr(err.text, '\n'));
        assert_string_equal(page, "");
        free(page);
    }
}

TEST(damaged_members_do_no_harm)
{
    static const char *const rests[] = {
        ", \"streams\": [7, null, {}], \"phases\": [7, {}, []], \"marks\": [7, {}], \"hardware\": [{}, []]}",
        ", \"streams\": 7, \"phases\": {}, \"marks\": \"x\", \"hardware\": 7, \"shares\": [], \"skew\": "
        "{\"share_of_hottest\": [1]}}",
        ", \"footprint_bytes\": -1e300, \"alignment_bytes\": 1e300, \"queue_depth\": {\"mean\": 1e300}, "
        "\"sync\": {\"kind\": \"x\"}, \"rate\": {\"mean_bps\": -1}, \"command\": [7], \"options\": {}}",
    };
    for (size_t i = 0; i < N_OF(rests); i++) {
        char text[4096];
        snprintf(text, sizeof text, "%s%s", BEGIN SIZES TIME CACHES, rests[i]);
        char *page = print(text, 0);
        check_says(page, "</html>");
        free(page);
    }
    char *page = print(BEGIN SIZES TIME ", \"caches\": [{\"bytes\": 1e18, \"served_share\": 1}, {\"bytes\": "
                                        "1, \"served_share\": 0.1}, {\"bytes\": 1e-9, \"served_share\": "
                                        "0.1}]}",
                       0);
    check_says(page, "What a cache would serve");
    /* The last mark of the axis is at 2^64. */
    check_says(page, ">18.4 EB</text>");
    free(page);
}
