/* Paths of users become values of a format, or are refused. */
#include "tests/tuner/emit/snippet_rig.h"

static void check_xml(FILE *out, const char *text)
{
    snippet_escape_xml(out, text);
}

static void check_shell(FILE *out, const char *text)
{
    snippet_escape_shell(out, text);
}

static void check_commas(FILE *out, const char *text)
{
    snippet_escape(out, text, ",", ',');
}

static void check_quotes(FILE *out, const char *text)
{
    snippet_escape(out, text, "\"\\", '\\');
}

TEST(special_characters_are_escaped)
{
    static const struct {
        void (*escape)(FILE *out, const char *text);
        const char *text, *expected;
    } rows[] = {
        {check_xml, "a<b>&'\"", "a&lt;b&gt;&amp;&apos;&quot;"},
        {check_shell, "plain", "'plain'"},
        {check_shell, "it's $x `y`", "'it'\\''s $x `y`'"},
        {check_shell, "", "''"},
        {check_commas, "a,b,,c", "a,,b,,,,c"},
        {check_quotes, "a\"b\\", "a\\\"b\\\\"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = NULL;
        size_t n;
        FILE *out = open_memstream(&text, &n);
        assert_non_null(out);
        rows[i].escape(out, rows[i].text);
        fclose(out);
        assert_string_equal(text, rows[i].expected);
        free(text);
    }
}

TEST(control_characters_and_refused_ones_are_named)
{
    struct err err = {0};
    assert_int_equal(snippet_check_path("/a b,c:d", "", &err), 0);
    assert_int_equal(snippet_check_path("/a b,c:d", ",", &err), -EINVAL);
    assert_non_null(strstr(err.text, "','"));
    assert_int_equal(snippet_check_path("/a\nb", "", &err), -EINVAL);
    assert_int_equal(snippet_check_path("/a\x7f", "", &err), -EINVAL);
    assert_int_equal(snippet_check_path("/\xc3\xbc", ",", &err), 0);
    /* Next line, and the separators of lines and paragraphs; bytes that are no text may stand in a name. */
    assert_int_equal(snippet_check_path("/a\xc2\x85"
                                        "b",
                                        "", &err),
                     -EINVAL);
    assert_int_equal(snippet_check_path("/a\xe2\x80\xa8", "", &err), -EINVAL);
    assert_int_equal(snippet_check_path("/a\xe2\x80\xa9", "", &err), -EINVAL);
    assert_int_equal(snippet_check_path("/a\xff\x85", "", &err), 0);
}

TEST(bytes_that_are_no_text_are_refused_where_the_format_is_text)
{
    struct err err = {0};
    assert_int_equal(snippet_check_utf8("/\xc3\xbc.img", &err), 0);
    assert_int_equal(snippet_check_utf8("/\xff.img", &err), -EINVAL);
    assert_int_equal(snippet_check_utf8("/\xe2\x80\xa8.img", &err), -EINVAL);
}
