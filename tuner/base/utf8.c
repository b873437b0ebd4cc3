/* tuner/base/utf8: see the header. */
#include "tuner/base/utf8.h"

#include <string.h>

size_t utf8_length(const char *characters)
{
    static const struct {
        unsigned char low, high;   /* of the first byte */
        unsigned char least, most; /* of the second */
        size_t length;
    } forms[] = {
        {0x00, 0x7f, 0x00, 0xff, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const unsigned char *text = (const unsigned char *)characters;
    size_t row = 0, length = 1;
    while (row < sizeof forms / sizeof forms[0] && (text[0] < forms[row].low || text[0] > forms[row].high))
        row++;
    if (row == sizeof forms / sizeof forms[0])
        return 0;
    if (forms[row].length > 1 && (text[1] < forms[row].least || text[1] > forms[row].most))
        return 0;
    /* The terminating zero is no continuation byte, so this does not run past it. */
    while (length < forms[row].length && (length == 1 || (text[length] & 0xc0) == 0x80))
        length++;
    return length == forms[row].length ? length : 0;
}

bool utf8_is_plain(const char *text, size_t length)
{
    /* DEL and C1; the line and paragraph separators; U+FFFE and U+FFFF. */
    if (length == 1)
        return text[0] >= ' ' && text[0] != 127;
    if (length == 2)
        return !(text[0] == '\xc2' && (unsigned char)text[1] < 0xa0);
    if (length == 3)
        return memcmp(text, "\xe2\x80\xa8", 3) != 0 && memcmp(text, "\xe2\x80\xa9", 3) != 0 &&
               memcmp(text, "\xef\xbf\xbe", 3) != 0 && memcmp(text, "\xef\xbf\xbf", 3) != 0;
    return length == 4;
}
