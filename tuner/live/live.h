/* tuner/live/live: what a program does to its files, told each second while it is recorded. */
#pragma once

#include "tuner/profile/record.h"

#include <stdbool.h>

struct live;

/* Where the figures go. A program that writes to a terminal of its own accord shares it with us: then a line
 * each second goes to standard error, between its lines. If it writes to none, as with >LOG 2>&1, they are
 * drawn in place on /dev/tty; of a process that runs already, on standard error where that is a terminal.
 * Where neither is, it is lines, too.
 *
 * output_to_stderr: what the program prints goes there. 0 or -ENOMEM. */
int live_open(struct live **ret_live, const char *const *command, bool output_to_stderr);

/* Called often, with what is recorded; looks once a second. Nobody is stopped for it. data: struct live. */
void live_look(void *data, const struct recording *recording);

/* The recording has ended: what was drawn goes away, or a last line has the sums. Its memory is still there;
 * NULL where it never was. */
void live_end(struct live *live, const struct recording *recording);

/* NULL is let be. */
void live_close(struct live *live);
