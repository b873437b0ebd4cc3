/* tuner/store/database: an SQLite file that is fstune's own, told from others before SQLite touches it. */
#pragma once

#include "bench/base/err.h"
#include "tuner/store/sql.h"

#include <stdbool.h>
#include <stdint.h>

/* What stands in its header. */
struct database_kind {
    const char *what;     /* "history of fstune" */
    uint32_t application; /* tells it from other databases */
    int version;          /* the newest that this fstune knows */
};

/* Whether the file may be opened; write: it is made, empty and for its owner alone, where it is missing. 0;
 * -EINVAL: it is another's, or of a newer version; -ENOENT, or the errno of looking or making. */
int database_check(const struct database_kind *kind, const char *path, bool write, struct err *err);

/* Whether the file begins as SQLite's do; false also where it cannot be read. */
bool database_is_one(const char *path);

/* -EINVAL: a version that this fstune does not know. */
int database_refuse_newer(const struct database_kind *kind, int64_t version, struct err *err);

/* "PRAGMA journal_mode = ..." for this file system (f_type of statfs). */
const char *database_journal_mode(uint32_t file_system);

/* Sets it. Where another process is in the way, that one changes the mode, and the older one is as safe. */
int database_set_journal(struct sql *db, const char *path, struct err *err);
