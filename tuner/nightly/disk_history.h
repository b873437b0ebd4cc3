/* tuner/nightly/disk_history: what was found for each kind of load, in a file for the next session. */
#pragma once

#include "tuner/nightly/disk.h"

#include <jansson.h>

#define DISK_HISTORY_FORMAT "fstune/disk-history/1"

struct disk_history_kind {
    bool is_known;
    struct image_way way;
    double gain; /* the way's rate over that of the first one */
};

/* What a document says of each kind of load. 0, or -EINVAL: it is no history, or a damaged one. */
int disk_history_parse(const json_t *document, struct disk_history_kind ret_kinds[static KIND_N]);

/* A file that is missing is the first session's. A link, a file of another user and one that is no history
 * are left as they are, which is said, and nothing is kept. */
void disk_history_load(struct disk *disk);
/* What is known, as the file's text, which the caller frees; NULL: no memory. */
char *disk_history_text(const struct disk *disk);
/* Replaces the file as a whole; what could not be written is said. text may be NULL. */
void disk_history_save(const struct disk *disk, const char *text);
