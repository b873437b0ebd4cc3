/* models/statistics/line: from where on are the cumulative bytes of a run a line?
 *
 * A queue that fills, a warm-up, a credit that is used up, pauses of a limit and a late drop have one thing
 * in common: the sum of the windows' bytes leaves its chord, the straight line from its first to its last
 * value. Where the distance is largest beside what noise makes of it (cumulative sums: Page 1954; for the
 * start of simulations Schruben 1982, Operations Research 30), the rate changes. What lies before that moment
 * is cut off, and the rest is looked at again, until noise explains the distance. docs/compare.md compares
 * this with MSER-5 and PELT. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The end of a start drowns in the noise: so many times what can be seen of it is left out. */
#define LINE_MARGIN 2
#define LINE_LEAST  20 /* values; fewer show no change */

struct line {
    bool held;     /* no change lies in the second half */
    size_t change; /* values before the last one of the first half; 0 where there is none */
    size_t start;  /* values before the line: LINE_MARGIN x change, at most half of them */
    /* How far the sum of all values leaves its chord at most, as a share of it: what a rate over so long a
     * time may be wrong by because of where it begins. */
    double off;
};

/* values: bytes or rates of windows of equal length, >= 0. Of flat series of 50 to 400 values, 1.3 %
 * show a change in the first half where they are independent, 20 % where their lag-1 correlation is 0.9. */
struct line line_of(const double *values, size_t n);
