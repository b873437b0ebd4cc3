/* tuner/csv: fields of a table. */
#include "tuner/csv.h"

#include <math.h>
#include <string.h>

void csv_text(FILE *out, const char *text)
{
    fputs(text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL ? "\"'" : "\"", out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void csv_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.10g", value);
}
