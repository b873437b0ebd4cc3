/* Lines of text that several commands print. */
#include "tuner/base/text.h"

#include "bench/base/units.h"
#include "tuner/base/utf8.h"

#include <errno.h>
#include <math.h>

/* Some 570 years: what 64 bits of nanoseconds hold. */
#define MOST_NS 1.8e19

const char *text_printable(const char *text, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", text);
    for (char *c = buffer; *c != '\0';) {
        size_t length = utf8_length(c);
        if (!utf8_is_plain(c, length)) {
            *c = '?';
            length = 1;
        }
        c += length;
    }
    return buffer;
}

int text_line(FILE *in, char *line, size_t size)
{
    size_t length = 0;
    int c;
    while ((c = getc(in)) != EOF && c != '\n') {
        if (c == '\0' || length + 1 == size)
            return -EMSGSIZE;
        line[length++] = (char)c;
    }
    line[length] = '\0';
    if (c == EOF && ferror(in))
        return -EIO;
    return c == EOF && length == 0 ? -ENODATA : 0;
}

const char *text_short_rate(double bps, char *buffer)
{
    if (isfinite(bps))
        return units_format_rate(bps, buffer);
    snprintf(buffer, UNITS_TEXT_SIZE, "-");
    return buffer;
}

const char *text_short_duration(double ns, char *buffer)
{
    char text[UNITS_TEXT_SIZE] = "";
    if (isfinite(ns))
        units_format_duration((uint64_t)(fmin(fabs(ns), MOST_NS) + 0.5), text);
    snprintf(buffer, UNITS_TEXT_SIZE, "%s%.*s", isfinite(ns) && ns >= 0 ? "" : "-", UNITS_TEXT_SIZE - 2,
             text);
    return buffer;
}

void text_notes(FILE *out, const char *title, const struct notes *notes, bool with_code)
{
    if (notes->n == 0)
        return;
    fprintf(out, "\n%s\n", title);
    for (size_t i = 0; i < notes->n; i++) {
        if (notes->note[i].disqualifying)
            fprintf(out, "  - NOT TRUSTWORTHY (%s): %s\n", notes->note[i].code, notes->note[i].text);
        else if (with_code)
            fprintf(out, "  - %s: %s\n", notes->note[i].code, notes->note[i].text);
        else
            fprintf(out, "  - %s\n", notes->note[i].text);
    }
}

int text_finish(FILE *out, struct err *err)
{
    if (fflush(out) != 0 || ferror(out))
        return err_sys(err, errno != 0 ? -errno : -EIO, "cannot write the result to standard output");
    return 0;
}
