/* Tests of tuner/commands/manual: the page of two invented commands. */
#include "tests/test.h"
#include "tuner/commands/manual.h"
#include "tuner/emit/snippet.h"
#include "tuner/nightly/retune_config.h"
#include "tuner/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command plain = {.name = "plain", .summary = "does little"};
static const struct command rich = {.name = "rich",
                                    .summary = "does much",
                                    .operands = "list|show",
                                    .description = "It's all there.\nReally.",
                                    .example = "fstune rich 'a\\b'",
                                    .options = OPTIONS_MEASURE};
static const struct command *const commands[] = {&plain, &rich};

static char *page;

FIXTURE(print_page)
{
    size_t size;
    FILE *out = open_memstream(&page, &size);
    if (out == NULL)
        return -1;
    manual_print(out, commands, 2);
    return fclose(out);
}

FIXTURE(free_page)
{
    free(page);
    return 0;
}

GROUP(print_page, free_page);

static void check_escape(const char *text, const char *expected)
{
    AUTO(auto_free) char *escaped;
    size_t size;
    FILE *out = open_memstream(&escaped, &size);
    assert_non_null(out);
    manual_escape(out, text);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(escaped, expected);
}

static void assert_has(const char *text)
{
    if (strstr(page, text) == NULL)
        fail_msg("the page lacks: %s", text);
}

TEST(text_is_no_request)
{
    check_escape("plain text", "plain text");
    check_escape(".SH", "\\&.SH");
    check_escape("a.b", "a.b");
    check_escape("one\n.two\n'three", "one\n\\&.two\n\\&\\(aqthree");
    check_escape("", "");
}

TEST(text_keeps_its_characters)
{
    check_escape("--dry-run", "\\-\\-dry\\-run");
    check_escape("a\\b", "a\\eb");
    check_escape("`x` ~ ^ don't", "\\(gax\\(ga \\(ti \\(ha don\\(aqt");
}

TEST(every_option_stands_once)
{
    const struct option_row *row;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        char head[80], escaped[64] = "";
        for (const char *c = row->name; *c; c++)
            snprintf(escaped + strlen(escaped), sizeof escaped - strlen(escaped), "%s%c",
                     *c == '-' ? "\\" : "", *c);
        snprintf(head, sizeof head, "\n.TP\n.BR \\-\\-%s%s", escaped, row->argument ? " " : "\n");
        const char *first = strstr(page, head);
        if (first == NULL)
            fail_msg("--%s is absent", row->name);
        else
            assert_null(strstr(first + 1, head));
    }
}

TEST(an_option_names_only_the_commands_that_know_it)
{
    const char *replays = strstr(page, "\n.BR \\-\\-replays ");
    assert_non_null(replays);
    const char *knowers = strstr(replays, "\nOf: ");
    assert_non_null(knowers);
    assert_int_equal(strncmp(knowers, "\nOf: rich.\n", 11), 0);
}

TEST(every_key_of_retune_stands_in_it)
{
    const struct option_row *row;
    for (size_t i = 0; (row = retune_config_key(i)) != NULL; i++) {
        char head[80];
        snprintf(head, sizeof head, "\n.TP\n.B %s\n", row->name);
        for (char *c = head; *c != '\0'; c++)
            *c = *c == '-' ? '_' : *c;
        assert_has(head);
    }
    assert_has("\n.TP\n.B first_budget\n");
}
