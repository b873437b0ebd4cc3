/* tuner/options/options_set: setters of what belongs to snippets. */
#include "tuner/options/options_set.h"

#include "bench/base/units.h"
#include "tuner/base/snippet_formats.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define VERSION_DIGITS 4

int options_set_snippet(struct settings *settings, const struct option_row *row, const char *text,
                        struct err *err)
{
    for (size_t i = 0; i < SNIPPET_FORMATS_N; i++) {
        if (strcmp(text, snippet_formats[i]) == 0) {
            snprintf((char *)settings + row->place, SETTINGS_NAME_SIZE, "%s", text);
            return 0;
        }
    }
    return options_refuse(text, "no format", snippet_formats, SNIPPET_FORMATS_N,
                          "fstune emit --list shows them", err);
}

int options_set_version(struct settings *settings, const struct option_row *row, const char *text,
                        struct err *err)
{
    unsigned version[2] = {0, 0};
    const char *rest = text;
    size_t n = 0;
    while (n < 3) {
        char digits[VERSION_DIGITS + 1];
        uint64_t number;
        size_t length = strspn(rest, "0123456789");
        if (length == 0 || length > VERSION_DIGITS)
            break;
        snprintf(digits, sizeof digits, "%.*s", (int)length, rest);
        if (units_parse_count(digits, 9999, &number) < 0)
            break;
        if (n < 2)
            version[n] = (unsigned)number;
        n++;
        rest += length;
        if (*rest != '.')
            break;
        rest++;
    }
    if (n == 0 || *rest != '\0' || rest[-1] == '.' || (version[0] == 0 && version[1] == 0))
        return err_set(err, -EINVAL, "'%.60s' is no version; write it as 9.2", text);
    memcpy((char *)settings + row->place, version, sizeof version);
    return 0;
}
