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
