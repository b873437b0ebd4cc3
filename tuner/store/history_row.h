/* tuner/store/history_row: points and replays as rows of a history. */
#pragma once

#include "tuner/store/history.h"
#include "tuner/store/sql.h"

/* Columns of a point, as history_row_point reads them. */
#define HISTORY_ROW_POINT(table)                                                                             \
    table ".request_size, " table ".write_request_size, " table ".queue_depth, " table ".direct, " table     \
          ".api, " table ".threads, " table ".sync"
#define HISTORY_ROW_POINT_COLUMNS 7

/* The id of a point, which is added where it is missing. Inside a transaction. */
int history_row_point_id(struct sql *db, const struct point *point, int64_t *ret_id, struct err *err);

/* The point in the columns from `first` on; false: all of them are NULL, or they are no legal point. */
bool history_row_point(struct sql_rows *rows, int first, struct point *ret_point);

/* Adds one replay. Inside a transaction. */
int history_row_add_replay(struct sql *db, int64_t run_id, const struct history_replay *replay,
                           struct err *err);

/* Columns of a replay beside its run and its point, whose columns have other names. */
#define HISTORY_ROW_REPLAY                                                                                   \
    "number, at_seconds, throughput_bps, iops, latency_mean_ns, latency_p99_ns, achieved_depth, seconds, "   \
    "warmup_seconds, bytes, moved_bytes, warmup, sampled, fresh, cut, aside, doubts, requests, "             \
    "quantiles_ns, n_windows, window_seconds, window_mean_bps, window_std_bps, window_least_bps, "           \
    "window_most_bps, conditions, n_replays, std_bps"

/* From HISTORY_ROW_REPLAY and the columns of the point. */
int history_row_read_replay(struct sql_rows *rows, struct history_replay *ret_replay, struct err *err);

/* The number of a name in a list; n where it is not in it. */
size_t history_row_name(const char *text, const char *const *names, size_t n);
