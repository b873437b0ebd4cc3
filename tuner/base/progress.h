/* tuner/base/progress: a line, or a few of them, on a terminal that say what is going on; nothing where
 * stderr is no terminal, and nothing while the program is in the background of its terminal.
 */
#ifndef FSTUNE_TUNER_BASE_PROGRESS_H
#define FSTUNE_TUNER_BASE_PROGRESS_H

#include "bench/base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRESS_PERIOD_NS 200000000ULL /* between drawings that ask whether they are due */

struct progress {
    bool on;
    bool drawn;                /* something stands there */
    size_t n_lines;            /* of it, the cursor below them; 0: one line, the cursor at its end */
    uint64_t drawn_ns;         /* by the clock */
    int n_continued;           /* by tuner/base/interrupt, when it was drawn */
    const struct clock *clock; /* real time, also on a simulated surface: people read it */
};

/* The terminal as it is now: the size is read anew, so that a resized window needs no signal. */
struct progress_form {
    size_t columns, rows; /* 80 and 24 where they are not known */
    bool moves;           /* the cursor can go up (TERM) */
    bool utf8;            /* by the environment: LC_ALL, LC_CTYPE, LANG */
    bool colours;         /* unless NO_COLOR is set and not empty */
};

void progress_init(struct progress *progress, bool quiet);

struct progress_form progress_form(void);

/* True when something would be seen, and what stands there is older than PROGRESS_PERIOD_NS. */
bool progress_is_due(const struct progress *progress);

/* Replaces what stands there by a line, cut at the terminal's width. */
void progress_show(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces what stands there by n_lines lines. Each ends in a line feed and is narrower than the terminal,
 * which has more rows than that. */
void progress_draw(struct progress *progress, const char *lines, size_t n_lines);

/* Removes what stands there, before anything else is printed. */
void progress_clear(struct progress *progress);

#endif
