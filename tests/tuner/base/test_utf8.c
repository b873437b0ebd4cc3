/* Characters are told from bytes that are none, and from those that end lines. */
#include "tests/test.h"
#include "tuner/base/utf8.h"

TEST(characters_have_their_length_and_other_bytes_none)
{
    static const struct {
        const char *text;
        size_t length;
    } rows[] = {
        {"a", 1},
        {"", 1},
        {"\x7f", 1},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\x80", 0},
        {"\xff", 0},
        {"\xc3", 0},
        {"\xc3(", 0},
        {"\xe2\x82", 0},
        {"\xf0\x9f\x98", 0},
        {"\xc0\xaf", 0}, /* overlong, as the next two */
        {"\xe0\x9f\xbf", 0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xed\xa0\x80", 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 0}, /* above U+10FFFF */
        {"\xf5\x80\x80\x80", 0},
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
