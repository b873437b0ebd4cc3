/* tuner/store/history_sql: SQLite as the parts of tuner/store/history use it; points and replays as rows. */
#pragma once

#include "tuner/store/history.h"

#include <sqlite3.h>

/* The errno of a result code of SQLite, with the reason in the text. */
int history_sql_fail(sqlite3 *db, int code, struct err *err);

/* Statements without values and without rows. */
int history_sql_script(sqlite3 *db, const char *sql, struct err *err);

/* Prepares one statement and binds its values; types has a letter for each: i int64_t, d double (NULL where
 * it is not finite), t const char * (NULL stays NULL). The caller finalizes *ret_statement, NULL on failure.
 */
int history_sql_prepare(sqlite3 *db, sqlite3_stmt **ret_statement, struct err *err, const char *sql,
                        const char *types, ...);

/* 1: a row is there; 0: the end; or a negative errno. */
int history_sql_step(sqlite3_stmt *statement, struct err *err);

/* One statement that gives no row, from preparing to finalizing. */
int history_sql_do(sqlite3 *db, struct err *err, const char *sql, const char *types, ...);

/* The same for one that gives a whole number; -ENOENT without a row. */
int history_sql_number(sqlite3 *db, int64_t *ret_number, struct err *err, const char *sql, const char *types,
                       ...);

/* Reads all rows of a statement, and finalizes it; result: of preparing it. read: one row into an element of
 * `size` bytes, 0 or a negative errno. The caller frees *ret_rows, which stays as it is after a failure. */
int history_sql_list(sqlite3_stmt *statement, int result, size_t size,
                     int (*read)(void *context, sqlite3_stmt *statement, void *row, struct err *err),
                     void *context, void **ret_rows, size_t *ret_n, struct err *err);

/* A transaction that writes. durable: its end waits for the disk. */
int history_sql_begin(sqlite3 *db, bool durable, struct err *err);
/* Commits where result is 0, else rolls back; returns result, or why the commit failed. */
int history_sql_end(sqlite3 *db, int result, struct err *err);

/* Columns: NaN, or 0, for NULL. Text is cut to size. */
double history_sql_double(sqlite3_stmt *statement, int column);
void history_sql_text(sqlite3_stmt *statement, int column, char *text, size_t size);

/* --- points and replays --- */

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

/* Columns of a replay beside its run and its point, whose columns have other names. */
#define HISTORY_ROW_REPLAY                                                                                   \
    "number, at_seconds, throughput_bps, iops, latency_mean_ns, latency_p99_ns, achieved_depth, seconds, "   \
    "warmup_seconds, bytes, moved_bytes, warmup, sampled, fresh, cut, aside, doubts, requests, "             \
    "quantiles_ns, n_windows, window_seconds, window_mean_bps, window_std_bps, window_least_bps, "           \
    "window_most_bps, conditions"

/* From HISTORY_ROW_REPLAY and the columns of the point. */
int history_row_read_replay(sqlite3_stmt *statement, struct history_replay *ret_replay, struct err *err);

/* The number of a name in a list; n where it is not in it. */
size_t history_row_name(const char *text, const char *const *names, size_t n);
