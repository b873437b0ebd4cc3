/* Prometheus' text format. */
#include "tuner/base/metrics_text.h"

void metrics_text_head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_text_value(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}
