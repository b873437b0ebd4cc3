/* What the options of snippets take and what they refuse. */
#include "tests/test.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"

#include <errno.h>
#include <string.h>

static struct settings settings;
static struct err err;

static int parse(const char *const *words, size_t n)
{
    char *arguments[8] = {NULL};
    for (size_t i = 0; i < n; i++)
        arguments[i] = (char *)(uintptr_t)words[i];
    settings_init(&settings);
    return options_parse(&settings, OPTIONS_EMIT, (int)n, arguments, 0, &err);
}

#define EMIT(...)                                                                                            \
    parse((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

TEST(answers_to_emit_from_are_up_to_four_in_their_order)
{
    assert_int_equal(EMIT("--list"), 0);
    assert_int_equal(settings.answers.n, 0);
    assert_string_equal(settings.answers.path[0], "-");
    assert_int_equal(EMIT("--from=a", "--from", "b", "--from=c", "--from=d"), 0);
    assert_int_equal(settings.answers.n, 4);
    assert_string_equal(settings.answers.path[0], "a");
    assert_string_equal(settings.answers.path[3], "d");
    assert_int_equal(EMIT("--from=a", "--from=b", "--from=c", "--from=d", "--from=e"), -EINVAL);
    assert_non_null(strstr(err.text, "at most 4"));
    assert_int_equal(EMIT("--from="), -EINVAL);
}

TEST(a_version_is_major_and_minor)
{
    assert_int_equal(EMIT("--target-version=18"), 0);
    assert_true(settings.snippet.target_version[0] == 18 && settings.snippet.target_version[1] == 0);
    assert_int_equal(EMIT("--target-version=10.11.6"), 0);
    assert_true(settings.snippet.target_version[0] == 10 && settings.snippet.target_version[1] == 11);
    static const char *const wrong[] = {"", "0", "9.", "9..2", "v9", "9.2-rc1", "99999", "1.2.3.4", "-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(EMIT("--target-version", wrong[i]), -EINVAL);
}
