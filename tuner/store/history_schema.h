/* tuner/store/history_schema: the tables of a history, and the way to them from older ones. */
#pragma once

#include "bench/base/err.h"

#include <sqlite3.h>
#include <stdint.h>

/* "FSTu", in the header of the file: tells a history from other databases. */
#define HISTORY_SCHEMA_APPLICATION 0x46535475

/* Makes the tables of an empty database, or brings older ones up to date, in one transaction. 0, also when
 * there is nothing to do; -EINVAL for a newer schema. */
int history_schema_update(sqlite3 *db, struct err *err);

/* The error of a version that this fstune does not know. */
int history_schema_refuse_newer(int64_t version, struct err *err);
