/* What a template can say, and that a mistake in one is an error and no snippet. */
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
