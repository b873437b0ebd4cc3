/* Tests of tuner/commands/completion: what an argument offers, and the scripts of two invented commands. The
 * shells' own view of the scripts is in tests/packaging/check_completion. */
#include "tests/test.h"
#include "tuner/commands/completion.h"
#include "tuner/options/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command one = {.name = "one", .summary = "the user's: first", .options = OPTIONS_DOCTOR};
static const struct command two = {
    .name = "two", .summary = "second", .operands = "FORMAT", .options = OPTIONS_MEASURE};
static const struct command *const commands[] = {&one, &two};

static char words[64];

TEST(an_argument_says_what_it_offers)
{
    static const struct {
        const char *argument, *range, *words;
        enum completion_kind kind;
    } rows[] = {
        {"", "", "", COMPLETION_NOTHING},
        {"cold|warm", "", "cold warm", COMPLETION_WORDS},
        {"fio", "", "fio", COMPLETION_WORDS},
        {"SYNC", "none, end, each", "none end each", COMPLETION_WORDS},
        {"0|1", "0, 1", "0 1", COMPLETION_WORDS},
        {"SIZE", "512..512m, a multiple of 512", "", COMPLETION_NOTHING},
        {"N", "1..64", "", COMPLETION_NOTHING},
        {"DIR", "", "", COMPLETION_DIRECTORIES},
        {"FILE", "", "", COMPLETION_FILES},
        {"RESULT.json", "", "", COMPLETION_FILES},
        {"KEY=VALUE,...", "", "", COMPLETION_NOTHING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(completion_of(rows[i].argument, rows[i].range, words, sizeof words), rows[i].kind);
        assert_string_equal(words, rows[i].words);
    }
}

TEST(words_are_cut_at_the_size)
{
    assert_int_equal(completion_of("abc|def", "", words, 6), COMPLETION_WORDS);
    assert_string_equal(words, "abc d");
}

TEST(another_shell_is_einval_and_prints_nothing)
{
    AUTO(auto_free) char *script;
    size_t size;
    FILE *out = open_memstream(&script, &size);
    assert_non_null(out);
    assert_int_equal(completion_print(out, "fish", commands, 2), -EINVAL);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(size, 0);
}
