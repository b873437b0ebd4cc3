/* tuner/nightly/disk_history: what was found for each kind of load, in a file for the next session. */
#pragma once

#include "tuner/nightly/disk.h"

/* A file that is missing is the first session's. A link, a file of another user and one that is no history
 * are left as they are, which is said, and nothing is kept. */
void disk_history_load(struct disk *disk);
/* What is known, as the file's text, which the caller frees; NULL: no memory. */
char *disk_history_text(const struct disk *disk);
/* Replaces the file as a whole; what could not be written is said. text may be NULL. */
void disk_history_save(const struct disk *disk, const char *text);
