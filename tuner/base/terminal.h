/* tuner/base/terminal: what is known of a terminal, and lines in it that are drawn again in place. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct terminal_size {
    size_t rows, columns;
};

/* Asked anew each time, so that a resized window needs no signal; 24 x 80 where it is not known. */
struct terminal_size terminal_size(int fd);

/* False in the background (Ctrl-Z and bg), where another process uses the terminal. One that is not ours to
 * control has no foreground to ask for. */
bool terminal_is_in_front(int fd);

/* Whether the terminal can move its cursor. */
bool terminal_has_cursor(int fd);

/* Whether a line can be written at once: not to a terminal that Ctrl-S holds, or a pipe that is full. */
bool terminal_takes(int fd);

/* The last lines on a terminal that nobody else writes to. Nothing of the terminal is changed but these
 * lines, so whatever ends the program leaves it usable. */
struct terminal_area {
    FILE *out;
    size_t n_lines; /* that stand there, above the cursor */
    struct terminal_size size;
    int n_continued; /* by tuner/base/interrupt, when they were drawn */
};

/* Each line ends with a line feed and is no wider than the terminal; the first is bold. */
void terminal_draw(struct terminal_area *area, const char *text);

/* Removes what stands there, before anything else is printed. */
void terminal_clear(struct terminal_area *area);
