/* tuner/picture/live: what a program does to its files, told each second while it is recorded. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct live;
struct store;

/* Where the figures go. A program that writes to a terminal of its own accord shares it with us: then a line
 * each second goes to standard error, between its lines. If it writes to none, as with >LOG 2>&1, they are
 * drawn in place on /dev/tty; of a process that runs already, on standard error where that is a terminal.
 * Where neither is, it is lines, too.
 *
 * command: NULL for the process pid that runs already. store_bytes: the size of the store that is looked at.
 * output_to_stderr: what the program prints goes there. 0 or -ENOMEM. */
int live_open(struct live **ret_live, const char *const *command, pid_t pid, uint64_t store_bytes,
              bool output_to_stderr);

/* Called often, with the store that is recorded into and what was lost beside it; looks once a second, until
 * the recording is over, at a copy, because the program may write over the store. Nobody is stopped for it.
 * data: struct live. */
void live_look(void *data, const struct store *store, uint64_t n_lost);

/* The recording has ended: what was drawn goes away, or a last line has the sums. store: a sound one that
 * nobody changes; NULL: there is none. live: NULL is let be. */
void live_end(struct live *live, const struct store *store);

/* NULL is let be. */
void live_close(struct live *live);
