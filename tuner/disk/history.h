/* tuner/disk/history: what was found for each kind of load, in a file for the next session. */
#pragma once

#include "tuner/disk/served.h"

/* A file that is missing is the first session's; one that cannot be used is said, and left as it is: nothing
 * is kept then. */
void history_load(struct served *served);
/* What is known, as the file's text, which the caller frees; NULL: no memory. */
char *history_text(const struct served *served);
/* Writes it beside the file and puts it in its place in one step. durable: waits until it is on the disk. */
void history_save(const struct served *served, const char *text, bool durable);
