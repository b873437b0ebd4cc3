/* Short lists of things a user should know. */
#include "tuner/base/notes.h"

#include <stdio.h>
#include <string.h>

/* The note of this code, which may be a new one; NULL when there is no place. The stored code may have been
 * cut. */
static struct note *note_of(struct notes *notes, const char *code, bool *ret_new)
{
    *ret_new = false;
    for (size_t i = 0; i < notes->n; i++) {
        if (strncmp(notes->note[i].code, code, sizeof notes->note[i].code - 1) == 0)
            return &notes->note[i];
    }
    if (notes->n == NOTES_MAX)
        return NULL;
    *ret_new = true;
    struct note *note = &notes->note[notes->n++];
    note->disqualifying = false;
    snprintf(note->code, sizeof note->code, "%s", code);
    return note;
}

void notes_add(struct notes *notes, const char *code, const char *format, ...)
{
    bool is_new;
    struct note *note = note_of(notes, code, &is_new);
    if (!is_new)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note->text, sizeof note->text, format, arguments);
    va_end(arguments);
}

void notes_disqualify(struct notes *notes, const char *code, const char *format, ...)
{
    bool is_new;
    struct note *note = note_of(notes, code, &is_new);
    if (note == NULL || note->disqualifying)
        return;
    note->disqualifying = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note->text, sizeof note->text, format, arguments);
    va_end(arguments);
}
