/* A comment stays a comment, whatever stands in it. */
#include "tests/tuner/emit/snippet_rig.h"

/* One comment as it is printed, into `text` and `remarks`. */
static void print_comment(enum snippet_comments comments, const char *words)
{
    size_t n_text, n_remarks;
    free(text);
    free(remarks);
    struct snippet_writer writer = {.out = open_memstream(&text, &n_text),
                                    .remarks = open_memstream(&remarks, &n_remarks),
                                    .comments = comments};
    assert_non_null(writer.out);
    assert_non_null(writer.remarks);
    snippet_comment(&writer, "%s", words);
    fclose(writer.out);
    fclose(writer.remarks);
}

static void check(enum snippet_comments comments, const char *words, const char *expected)
{
    bool beside = comments == SNIPPET_COMMENTS_NONE;
    print_comment(comments, words);
    assert_string_equal(beside ? remarks : text, expected);
    assert_string_equal(beside ? text : remarks, "");
}

GROUP(NULL, leave);

TEST(each_format_has_its_mark)
{
    check(SNIPPET_COMMENTS_NONE, "words", "words\n");
    check(SNIPPET_COMMENTS_HASH, "words", "# words\n");
    check(SNIPPET_COMMENTS_SEMICOLON, "words", "; words\n");
    check(SNIPPET_COMMENTS_XML, "words", "<!-- words -->\n");
}

TEST(nothing_in_a_comment_ends_it)
{
    check(SNIPPET_COMMENTS_HASH, "a\nrm -rf\r\x1b[x\x7f", "# a?rm -rf??[x?\n");
    check(SNIPPET_COMMENTS_XML, "a --> <b> --- c-", "<!-- a -~> <b> -~- c- -->\n");
    /* NEL and the line separator end lines of YAML. */
    check(SNIPPET_COMMENTS_HASH,
          "a\xc2\x85"
          "b\xe2\x80\xa8"
          "c",
          "# a??b???c\n");
    check(SNIPPET_COMMENTS_XML,
          "a\xff"
          "b\xc3\xbc",
          "<!-- a?b\xc3\xbc -->\n");
    check(SNIPPET_COMMENTS_HASH, "a path\\", "# a path\\ .\n");
}

/* Words of 6 characters and a blank: every line is full, and none is longer than its width and mark. */
TEST(long_comments_are_wrapped_at_blanks)
{
    char words[7 * 200 + 1] = "";
    size_t n_words = 0;
    for (int i = 0; i < 200; i++)
        memcpy(words + strlen(words), "word-- ", 8);
    print_comment(SNIPPET_COMMENTS_XML, words);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        assert_true(strlen(line) <= 110 + strlen("<!-- -->"));
        assert_int_equal(strncmp(line, "<!-- word", 9), 0);
        assert_string_equal(line + strlen(line) - 4, " -->");
        assert_null(strstr(line + 4, "--w"));
        for (const char *c = line; (c = strstr(c, "word")) != NULL; c++)
            n_words++;
    }
    assert_int_equal(n_words, 200);
}

TEST(a_word_longer_than_the_line_stays_whole)
{
    char word[301], expected[310];
    memset(word, 'x', 300);
    word[300] = '\0';
    snprintf(expected, sizeof expected, "# %s\n", word);
    check(SNIPPET_COMMENTS_HASH, word, expected);
}
