/* tuner/store/history_snapshot: a copy of somebody else's history, to be read and brought up to date at will.
 *
 * SQLite makes files beside a database by opening it, even for reading only (the index of its log), and an
 * older schema could be read in no other way than by changing it. */
#pragma once

#include "bench/base/err.h"

#define HISTORY_SNAPSHOT_PATH_SIZE 4160

struct history_snapshot {
    char folder[HISTORY_SNAPSHOT_PATH_SIZE]; /* in TMPDIR, or /var/tmp; its owner's alone */
    char path[HISTORY_SNAPSHOT_PATH_SIZE];   /* of the copy */
};

/* Copies the history and its log as they are at one time. 0; what history_look says of the file; -EBUSY where
 * it was written each time that it was copied; or the errno of reading or writing, -ENOSPC among them.
 * history_snapshot_done removes the copy. */
int history_snapshot_make(struct history_snapshot *snapshot, const char *path, struct err *err);
void history_snapshot_done(struct history_snapshot *snapshot);
