/* Characters are told from bytes that are none, and from those that end lines. */
#include "tests/test.h"
#include "tuner/base/utf8.h"

#include <string.h>

TEST(characters_have_their_length_and_other_bytes_none)
{
    static const struct {
        const char *text;
        size_t length;
    } rows[] = {
        {"a", 1},    {"", 1},         {"\xc3\xbc", 2},     {"\xe2\x82\xac", 3},     {"\xf0\x9f\x98\x80", 4},
        {"\x80", 0}, {"\xc0\x80", 0}, {"\xed\xa0\x80", 0}, {"\xf4\x90\x80\x80", 0}, {"\xe2\x82", 0},
        {"\xc3", 0}, {"\xff", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(utf8_length(rows[i].text), rows[i].length);
}

TEST(whatever_ends_a_line_somewhere_is_not_plain)
{
    static const char *const plain[] = {
        "a", " ", "~", "\xc3\xbc", "\xc2\xa0", "\xe2\x80\xa7", "\xef\xbf\xbd", "\xf0\x9f\x98\x80"};
    static const char *const others[] = {"\n",           "\r",           "\t",           "\x7f", "\xc2\x85",
                                         "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbf\xbe", "\xff"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        assert_true(utf8_is_plain(plain[i], utf8_length(plain[i])));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(utf8_is_plain(others[i], utf8_length(others[i])));
}
