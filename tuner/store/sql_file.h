/* tuner/store/sql_file: a file of SQLite's behind tuner/store/sql. */
#pragma once

#include "tuner/store/sql.h"

#include <sqlite3.h>

/* Opens a file that database_check allowed; a writer waits for another's for busy_ms at most. sql_close
 * closes it. */
int sql_file_open(struct sql *ret_sql, const char *path, int busy_ms, struct err *err);

/* The errno of a result code of SQLite, with the reason in the text. */
int sql_file_fail(sqlite3 *db, int code, struct err *err);
