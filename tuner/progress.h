/* tuner/progress: one line on a terminal that says what is going on; nothing where stderr is not a terminal.
 */
#ifndef FSTUNE_TUNER_PROGRESS_H
#define FSTUNE_TUNER_PROGRESS_H

#include <stdbool.h>

struct progress {
    bool on;
    bool drawn; /* a line stands there */
};

void progress_init(struct progress *progress, bool quiet);

/* Replaces the line; cut at the terminal's width. */
void progress_show(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Removes the line, before anything else is printed. */
void progress_clear(struct progress *progress);

#endif
