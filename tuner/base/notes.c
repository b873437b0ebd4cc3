/* Short lists of things a user should know. */
#include "tuner/base/notes.h"

#include <stdio.h>
#include <string.h>

bool notes_has(const struct notes *notes, const char *code)
{
    for (size_t i = 0; i < notes->n; i++) {
        if (strcmp(notes->note[i].code, code) == 0)
            return true;
    }
    return false;
}

/* The stored code may have been cut. */
static void put_note(struct notes *notes, const char *code, bool disqualifying, const char *format,
                     va_list arguments)
{
    size_t i = 0;
    while (i < notes->n && strncmp(notes->note[i].code, code, sizeof notes->note[i].code - 1) != 0)
        i++;
    if (i == NOTES_MAX || (i < notes->n && (notes->note[i].disqualifying || !disqualifying)))
        return;
    struct note *note = &notes->note[i];
    notes->n += i == notes->n;
    note->disqualifying = disqualifying;
    snprintf(note->code, sizeof note->code, "%s", code);
    vsnprintf(note->text, sizeof note->text, format, arguments);
}

void notes_add(struct notes *notes, const char *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_note(notes, code, false, format, arguments);
    va_end(arguments);
}

void notes_disqualify(struct notes *notes, const char *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_note(notes, code, true, format, arguments);
    va_end(arguments);
}
