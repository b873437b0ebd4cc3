/* Tests of the page of a fleet. */
#include "tests/test.h"
#include "tuner/picture/page_fleet.h"

static struct err err;

static char *page_of(json_t *document)
{
    char *text = NULL;
    FILE *out = memory_stream(&text);
    assert_non_null(document);
    assert_int_equal(page_fleet_print(out, document, &err), 0);
    fclose(out);
    json_decref(document);
    return text;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part))
        n++;
    return n;
}

/* A list of n hosts of this name. */
static json_t *hosts_named(const char *name, size_t n)
{
    json_t *hosts = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(hosts, json_pack("{s:s, s:i, s:i, s:f, s:s, s:s, s:s}", "host", name, "runs", 2,
                                               "failed", 1, "last_s", 86400.0 * 10, "file_system", name,
                                               "device", "vd", "kernel", "6.1"));
    return hosts;
}

static json_t *document_of(json_t *hosts)
{
    return json_pack(
        "{s:f, s:o, s:[], s:{s:f, s:[{s:s, s:i, s:i, s:[{s:s, s:s, s:{s:i, s:i, s:i, s:s, s:i, s:s}, s:i, "
        "s:f, s:f, s:f}], s:{s:i}, s:{s:i}}]}, s:{s:[]}}",
        "made_s", 86400.0 * 12, "hosts", hosts, "answers", "rules", "tolerance", 0.1, "patterns", "pattern",
        "randread", "hosts", 9, "settings", 5, "rules", "feature", "file_system", "value", "xfs", "setting",
        "request_size", 4096, "queue_depth", 8, "direct", 1, "api", "libaio", "threads", 1, "sync", "end",
        "hosts", 9, "share", 0.5, "ci_low", 0.25, "ci_high", 0.75, "left_out", "hosts", 0,
        "left_out_one_setting", "hosts", 0, "drift", "groups");
}

TEST(texts_of_hosts_stay_texts)
{
    static const char turning[] = {(char)0xe2, (char)0x80, (char)0xae, '\0'}; /* U+202E */
    char name[64];
    snprintf(name, sizeof name, "</td><script>alert(1)</script>\xc3\xa9%s", turning);
    char *page = page_of(document_of(hosts_named(name, 1)));
    assert_null(strstr(page, "<script>alert"));
    assert_non_null(strstr(page, "&#60;script&#62;alert(1)"));
    assert_non_null(strstr(page, "\xc3\xa9?"));
    assert_null(strstr(page, turning));
    free(page);
}

TEST(the_page_runs_nothing_and_loads_nothing)
{
    char *page = page_of(document_of(hosts_named("h", 1)));
    assert_int_equal(count(page, "<script"), 0);
    assert_int_equal(count(page, "http://") + count(page, "https://"), 0);
    assert_non_null(strstr(page, "default-src 'none'"));
    free(page);
}

TEST(a_rule_has_its_setting_and_its_interval)
{
    char *page = page_of(document_of(hosts_named("h", 1)));
    assert_non_null(
        strstr(page, "file_system xfs</th><td>4k x 8, direct, libaio</td><td>50 % (25 to 75) of 9</td>"));
    assert_non_null(strstr(page, "<rect class=\"band\" x=\"42.0\" y=\"2\" width=\"76.0\""));
    assert_int_equal(count(page, "<td>not asked</td>"), 2);
    free(page);
}

TEST(silent_hosts_are_counted_and_the_page_stays_short)
{
    char *page = page_of(document_of(hosts_named("h", 250)));
    assert_non_null(strstr(page, "Silent for more than a day</dt><dd>250</dd>"));
    assert_non_null(strstr(page, "than a week</dt><dd>0</dd>"));
    assert_non_null(strstr(page, "500, of which 250 failed"));
    assert_int_equal(count(page, "2.0 days"), 200);
    assert_non_null(strstr(page, "50 more hosts were heard of later"));
    free(page);
}
