/* tuner/base/progress: a line on a terminal that says what is going on; nothing where stderr is no terminal,
 * and nothing while the program is in the background of its terminal. */
#pragma once

#include "bench/base/clock.h"

#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_PERIOD_NS 200000000ULL /* between drawings that ask whether they are due */

struct progress {
    bool on;
    bool drawn;                /* something stands there */
    uint64_t drawn_ns;         /* by the clock */
    int n_continued;           /* by tuner/base/interrupt, when it was drawn */
    const struct clock *clock; /* real time, also on a simulated surface: people read it */
};

void progress_init(struct progress *progress, bool quiet);

/* True when something would be seen, and what stands there is older than PROGRESS_PERIOD_NS. */
bool progress_is_due(const struct progress *progress);

/* Replaces what stands there by a line, cut at the terminal's width (80 columns where that is not known). */
void progress_show(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Removes what stands there, before anything else is printed. */
void progress_clear(struct progress *progress);
