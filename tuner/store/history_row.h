/* tuner/store/history_row: points and replays as rows of a history, and back. */
#pragma once

#include "tuner/store/history.h"

#include <sqlite3.h>

/* Columns of a point, as history_row_point reads them. */
#define HISTORY_ROW_POINT(table)                                                                             \
    table ".request_size, " table ".write_request_size, " table ".queue_depth, " table ".direct, " table     \
          ".api, " table ".threads, " table ".sync"
#define HISTORY_ROW_POINT_COLUMNS 7

/* The id of a point, which is added where it is missing. Inside a transaction. */
int history_row_point_id(sqlite3 *db, const struct point *point, int64_t *ret_id, struct err *err);

/* The point in the columns from `first` on; false: all of them are NULL, or they are no legal point. */
bool history_row_point(sqlite3_stmt *statement, int first, struct point *ret_point);

/* Adds one replay. Inside a transaction. */
int history_row_add_replay(sqlite3 *db, int64_t run_id, const struct history_replay *replay, struct err *err);

/* Columns of a replay, the point's among them, from tables replays r and points p. */
extern const char history_row_replay[];
int history_row_read_replay(sqlite3_stmt *statement, struct history_replay *ret_replay, struct err *err);

/* The number of a name in a list; n where it is not in it. */
size_t history_row_name(const char *text, const char *const *names, size_t n);
