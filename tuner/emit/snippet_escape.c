/* tuner/emit/snippet: texts of others inside a format. */
#include "tuner/base/utf8.h"
#include "tuner/emit/snippet.h"

#include <errno.h>
#include <string.h>

const char *snippet_image_path(const struct snippet_request *request)
{
    return request->image[0] != '\0' ? request->image : SNIPPET_NO_IMAGE;
}

/* Bytes that are no text are the format's to judge: file names may hold any. */
static bool ends_or_hides(const char *character)
{
    size_t length = utf8_length(character);
    return (unsigned char)*character < ' ' || *character == 127 ||
           (length > 1 && !utf8_is_plain(character, length));
}

int snippet_check_path(const char *path, const char *refused, struct err *err)
{
    for (const char *c = path; *c != '\0'; c++) {
        if (ends_or_hides(c))
            return err_set(err, -EINVAL,
                           "the path holds a control character, which this format cannot express; rename or "
                           "link the file");
        if (strchr(refused, *c) != NULL)
            return err_set(err, -EINVAL,
                           "the path %.200s holds '%c', which this format cannot express; rename or link the "
                           "file",
                           path, *c);
    }
    return 0;
}

int snippet_check_utf8(const char *path, struct err *err)
{
    for (const char *c = path; *c != '\0';) {
        size_t length = utf8_length(c);
        if (!utf8_is_plain(c, length))
            return err_set(err, -EINVAL,
                           "the path holds bytes that are no text (UTF-8), which this format cannot express; "
                           "rename or link the file");
        c += length;
    }
    return 0;
}

void snippet_escape(FILE *out, const char *text, const char *special, char escape)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr(special, *c) != NULL)
            fputc(escape, out);
        fputc(*c, out);
    }
}

void snippet_escape_xml(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&apos;", out);
            break;
        default:
            fputc(*c, out);
        }
    }
}

void snippet_escape_shell(FILE *out, const char *text)
{
    fputc('\'', out);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    }
    fputc('\'', out);
}
