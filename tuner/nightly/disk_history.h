/* tuner/nightly/disk_history: what was found for each kind of load, in a file for the next session. */
#pragma once

#include "tuner/nightly/disk.h"

/* A file that is missing is the first session's; one that cannot be used is said, and left as it is: nothing
 * is kept then. */
void disk_history_load(struct disk *disk);
/* What is known, as the file's text, which the caller frees; NULL: no memory. */
char *disk_history_text(const struct disk *disk);
/* Writes it beside the file and puts it in its place in one step. durable: waits until it is on the disk. */
void disk_history_save(const struct disk *disk, const char *text, bool durable);
