/* tuner/base/notes: short lists of things a user should know: warnings, and what left the space and why. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define NOTES_MAX 48

struct note {
    char code[96];      /* a warning's code, or what was dropped */
    char text[400];     /* what it means, or why */
    bool disqualifying; /* points are not recommended because of it */
};

struct notes {
    size_t n;
    struct note note[NOTES_MAX]; /* beyond that further notes are left out */
};

bool notes_has(const struct notes *notes, const char *code);

/* A note of a code that is there already is not added again. */
void notes_add(struct notes *notes, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a warning that disqualifies; it replaces an earlier note of that code, which only informed. */
void notes_disqualify(struct notes *notes, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
