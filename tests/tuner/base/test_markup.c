/* Tests of tuner/base/markup: texts stay texts, and words stay words of a shell. */
#include "tests/test.h"
#include "tuner/base/markup.h"

static void check_print(void (*print)(FILE *out, const char *text), const char *text, const char *expected)
{
    char *printed = NULL;
    FILE *out = memory_stream(&printed);
    print(out, text);
    fclose(out);
    assert_string_equal(printed, expected);
    free(printed);
}

TEST(what_means_something_is_escaped)
{
    check_print(markup_put, "a <b> & \"c\"", "a &#60;b&#62; &#38; &#34;c&#34;");
    check_print(markup_put, "\x1b[1m\n\x7f", "?[1m?\?");
    check_print(markup_put, "", "");
}

TEST(other_scripts_pass_and_what_turns_the_direction_does_not)
{
    /* The last two bytes of the first and the last ones. */
    static const unsigned char turning[][2] = {{0x80, 0xaa}, {0x80, 0xae}, {0x81, 0xa6}, {0x81, 0xa9}};
    check_print(markup_put, "\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80",
                "\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80");
    check_print(markup_word, "\xc3\xa9", "'\xc3\xa9'");
    check_print(markup_put, "a\xc3 \xa9 \xff", "a? ? ?");
    check_print(markup_put, "\xc2\x85\xe2\x80\xa8", "?\?");
    for (size_t i = 0; i < N_OF(turning); i++) {
        const char text[] = {(char)0xe2, (char)turning[i][0], (char)turning[i][1], '\0'};
        check_print(markup_put, text, "?");
    }
    check_print(markup_put, "\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
                "?\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa");
}

TEST(a_word_is_quoted_where_a_shell_would_not_take_it_as_it_is)
{
    check_print(markup_word, "--pattern=randrw:75,x/y.z", "--pattern=randrw:75,x/y.z");
    check_print(markup_word, "a b", "'a b'");
    check_print(markup_word, "", "''");
    check_print(markup_word, "$(c)'<", "'$(c)'\\''&#60;'");
}

static void print_page(FILE *out, const char *title)
{
    static const struct markup_link links[] = {{"one", "One"}, {NULL, NULL}};
    markup_begin_page(out, "<head><title>other</title><style></style></head><body>not this</body>", title);
    markup_begin_main(out, links);
    markup_begin_table(out, "A & b", "Name|<Text");
    markup_end_table(out);
    markup_end_page(out);
}

TEST(a_page_has_the_head_of_another_one_and_a_title_of_its_own)
{
    char *page = NULL;
    FILE *out = memory_stream(&page);
    print_page(out, "Mine");
    fclose(out);
    assert_non_null(strstr(page, "<head><title>Mine</title><style></style></head>\n<body>"));
    assert_null(strstr(page, "not this"));
    assert_non_null(strstr(page, "<h1>Mine</h1>"));
    assert_non_null(strstr(page, "<a href=\"#one\">One</a>"));
    assert_non_null(strstr(page, "<caption>A &#38; b</caption>"));
    assert_non_null(strstr(page, "<th scope=\"col\">Name</th><th scope=\"col\" class=\"words\">Text</th>"));
    free(page);
}
