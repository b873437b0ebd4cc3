/* tuner/base/csv: fields of a table. */
#include "tuner/base/csv.h"

#include "tuner/base/utf8.h"

#include <math.h>
#include <string.h>

void csv_text(FILE *out, const char *text)
{
    fputs(text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL ? "\"'" : "\"", out);
    while (*text != '\0') {
        size_t length = utf8_length(text);
        if (*text == '"')
            fputc('"', out);
        if (*text != '\n' && !utf8_is_plain(text, length)) {
            fputc('?', out);
            length = 1;
        } else {
            fwrite(text, 1, length, out);
        }
        text += length;
    }
    fputc('"', out);
}

void csv_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.10g", value);
}
