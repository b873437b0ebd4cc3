/* Short lists of things a user should know. */
#include "tuner/notes.h"

#include <stdio.h>
#include <string.h>

void notes_add(struct notes *notes, const char *code, const char *format, ...)
{
    for (size_t i = 0; i < notes->n; i++) {
        /* The stored code may have been cut. */
        if (strncmp(notes->note[i].code, code, sizeof notes->note[i].code - 1) == 0)
            return;
    }
    if (notes->n == NOTES_MAX)
        return;
    struct note *note = &notes->note[notes->n++];
    va_list arguments;
    va_start(arguments, format);
    snprintf(note->code, sizeof note->code, "%s", code);
    vsnprintf(note->text, sizeof note->text, format, arguments);
    va_end(arguments);
}
