/* tuner/nightly/disk_history: what was found for each kind of load, in a file for the next session. */
#pragma once

#include "tuner/nightly/disk.h"

#include <jansson.h>

#define DISK_HISTORY_FORMAT       "fstune/disk-history/1"
#define DISK_HISTORY_SETTING_SIZE 1024 /* of a setting's words, the zero included */

/* How a history names what it is about, which need be no disk. */
struct disk_history_words {
    const char *format;                                     /* DISK_HISTORY_FORMAT is the disk's */
    unsigned (*find_kind)(void *context, const char *name); /* KIND_NONE: there is no such kind */
    const char *(*name_kind)(void *context, unsigned kind);
    /* 0, or -EINVAL: it is no setting that is possible here. */
    int (*read)(void *context, const char *words, struct online_setting *ret_setting);
    const char *(*write)(void *context, const struct online_setting *setting,
                         char buffer[static DISK_HISTORY_SETTING_SIZE]);
    void *context;
};

/* What the file knows is remembered; a missing one is the first session's. -EINVAL and all is forgotten: it
 * is no such history; or why the file cannot be taken (see replace_read). */
int disk_history_take(const struct disk_history_words *words, const char *path, struct online *online,
                      struct err *err);
/* As disk_history_text. */
char *disk_history_make(const struct disk_history_words *words, const struct online *online);
/* Replaces the file as a whole. text: what the above returned, NULL included. 0 or a negative errno. */
int disk_history_put(const char *path, const char *text, struct err *err);

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
