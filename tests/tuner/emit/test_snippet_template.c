/* What a template can say, that a mistake in one is an error and no snippet, and that paths of users become
 * values of a format or are refused. */
#include "tests/tuner/emit/snippet_rig.h"
#include "tuner/emit/snippet_template.h"

GROUP(NULL, leave);

static int two_lists(struct snippet_template *run)
{
    snippet_value(run, "list", "%s", "a,b");
    snippet_value(run, "n", "%d", 2);
    return 0;
}

static int no_memory(struct snippet_template *run)
{
    (void)run;
    return -ENOMEM;
}

static int run_text(const char *template, int (*own)(struct snippet_template *run), const char *given)
{
    const struct snippet_ops ops = {.name = "x", .text = template, .own = own};
    give(given);
    return emit(&ops);
}

TEST(lines_say_what_the_header_promises)
{
    static const struct {
        const char *template, *expected;
    } rows[] = {
        {"a ${threads} $x {b}\n\nc", "a 1 $x {b}\n\nc\n"},
        {"# ${api}\n// unseen\n", "# libaio\n"},
        {"=name  blank\n${name}.\n=name\n[${name}]\n", " blank.\n[]\n"},
        {"?direct: yes\n?!direct: no\n", "yes\n"},
        {"=x\n?api=psync,libaio queue_depth>7 queue_depth<9: =x 1\n?x: all\n", "all\n"},
        {"?api=lib: equal\n?api^lib: prefix\n?api~xyzo: some\n?!api~xyz: none\n", "prefix\nsome\nnone\n"},
        {"${direct?on|off} ${split?two}\n", "on \n"},
        {"@own\n*n ${i}-${next}\n", "0-1\n1-2\n"},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        assert_int_equal(run_text(rows[i].template, two_lists, ""), 0);
        assert_string_equal(text, rows[i].expected);
    }
}

TEST(a_refusal_is_the_text_of_the_error)
{
    assert_int_equal(run_text("a\n?direct: ! no ${api}; leave it\nb\n", NULL, ""), -EINVAL);
    assert_string_equal(err.text, "no libaio; leave it");
    assert_int_equal(run_text("@path ;,\n", NULL, "image=/a,b"), -EINVAL);
    assert_int_equal(run_text("@own\n", no_memory, ""), -ENOMEM);
    assert_null(text);
    assert_null(remarks);
}

TEST(a_mistake_in_a_template_is_an_error)
{
    static const char *const wrong[] = {"${nothing}\n",  "?nothing: a\n", "?api+b: a\n",
                                        "${api:html}\n", "@nothing\n",    "${api:1-2}\n"};
    for (size_t i = 0; i < N_OF(wrong); i++) {
        assert_int_equal(run_text(wrong[i], NULL, ""), -EINVAL);
        assert_non_null(strstr(err.text, "the template is damaged"));
        assert_null(text);
    }
}

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
        FILE *out = memory_stream(&written);
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
