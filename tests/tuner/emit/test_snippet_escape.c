/* Paths of users become values of a format, or are refused. */
#include "tests/tuner/emit/snippet_rig.h"
#include "tuner/emit/snippet_template.h"

TEST(special_characters_are_escaped)
{
    static const struct {
        const char *filter, *text, *expected;
    } rows[] = {
        {"xml", "a<b>&'\"", "a&lt;b&gt;&amp;&apos;&quot;"},
        {"sh", "plain", "plain"},
        {"sh", "it's $x `y`", "it'\\''s $x `y`"},
        {"sh", "", ""},
        {"qemu", "a,b,,c'", "a,,b,,,,c'\\''"},
        {"quoted-sh", "a\"b\\'", "a\\\"b\\\\'\\''"},
        {"json", "a\"b\\", "\"a\\\"b\\\\\""},
        {"2", "abc", "ab"},
        {"8..128", "7", "8"},
        {"8..128", "129", "128"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        AUTO(auto_free) char *written = NULL;
        size_t n;
        FILE *out = open_memstream(&written, &n);
        assert_non_null(out);
        assert_true(snippet_values_filter(out, rows[i].text, rows[i].filter));
        fclose(out);
        assert_string_equal(written, rows[i].expected);
    }
    assert_false(snippet_values_filter(stderr, "a", "html"));
    assert_false(snippet_values_filter(stderr, "1", "1-2"));
}

TEST(versions_are_compared_part_by_part)
{
    assert_true(snippet_values_number("50.1") < snippet_values_number("50.10"));
    assert_true(snippet_values_number("9") < snippet_values_number("10"));
    assert_true(snippet_values_number("50") < snippet_values_number("50.1"));
    assert_int_equal(snippet_values_number(""), 0);
    assert_true(snippet_values_number("18446744073709551615") > snippet_values_number("4294967295.9"));
}

TEST(control_characters_and_refused_ones_are_named)
{
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
