/* tuner/store/history_schema: one script for each version. A script that was released never changes. */
#include "tuner/store/history_schema.h"

#include "tuner/store/history.h"
#include "tuner/store/history_sql.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Ids of runs are never used again, so that a number in somebody's notes means the same run for ever. */
static const char first[] =
    "CREATE TABLE hosts(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE targets(id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, identity TEXT NOT NULL);"
    "CREATE TABLE points(id INTEGER PRIMARY KEY, request_size INTEGER NOT NULL,"
    " write_request_size INTEGER NOT NULL, queue_depth INTEGER NOT NULL, direct INTEGER NOT NULL,"
    " api TEXT NOT NULL, threads INTEGER NOT NULL, sync TEXT NOT NULL,"
    " UNIQUE(request_size, write_request_size, queue_depth, direct, api, threads, sync));"
    "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE,"
    " host_id INTEGER NOT NULL REFERENCES hosts(id), target_id INTEGER NOT NULL REFERENCES targets(id),"
    " name TEXT NOT NULL, command TEXT NOT NULL, pattern TEXT NOT NULL, version TEXT NOT NULL, seed INTEGER,"
    " settings TEXT, system TEXT, started_s REAL NOT NULL, finished_s REAL,"
    " status TEXT NOT NULL DEFAULT 'unfinished', exit_code INTEGER, n_replays INTEGER);"
    "CREATE INDEX runs_by_time ON runs(started_s);"
    "CREATE INDEX runs_by_target ON runs(target_id, pattern);"
    "CREATE TABLE replays(run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
    " number INTEGER NOT NULL, point_id INTEGER NOT NULL REFERENCES points(id), at_seconds REAL NOT NULL,"
    " throughput_bps REAL NOT NULL, iops REAL NOT NULL, latency_mean_ns REAL, latency_p99_ns REAL,"
    " achieved_depth REAL, seconds REAL NOT NULL, warmup_seconds REAL NOT NULL, bytes INTEGER NOT NULL,"
    " moved_bytes INTEGER NOT NULL, warmup TEXT NOT NULL, sampled INTEGER NOT NULL, fresh INTEGER NOT NULL,"
    " cut INTEGER NOT NULL, aside INTEGER NOT NULL DEFAULT 0, doubts TEXT NOT NULL,"
    " requests INTEGER NOT NULL, quantiles_ns TEXT NOT NULL, PRIMARY KEY(run_id, number)) WITHOUT ROWID;"
    "CREATE TABLE recommendations(run_id INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,"
    " point_id INTEGER NOT NULL REFERENCES points(id), mean_bps REAL, ci_low_bps REAL, ci_high_bps REAL,"
    " conclusive INTEGER NOT NULL);"
    "CREATE TABLE documents(run_id INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,"
    " document TEXT NOT NULL);"
    "CREATE TABLE changes(id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE,"
    " host_id INTEGER NOT NULL REFERENCES hosts(id), target TEXT NOT NULL, kind TEXT NOT NULL,"
    " at_s REAL NOT NULL, from_point_id INTEGER REFERENCES points(id),"
    " to_point_id INTEGER REFERENCES points(id), run_id INTEGER REFERENCES runs(id),"
    " other_run_id INTEGER REFERENCES runs(id), text TEXT NOT NULL);"
    "CREATE INDEX changes_by_target ON changes(target, at_s);";

/* How even a run was. */
static const char windows[] = "ALTER TABLE replays ADD COLUMN n_windows INTEGER NOT NULL DEFAULT 0;"
                              "ALTER TABLE replays ADD COLUMN window_seconds REAL;"
                              "ALTER TABLE replays ADD COLUMN window_mean_bps REAL;"
                              "ALTER TABLE replays ADD COLUMN window_std_bps REAL;"
                              "ALTER TABLE replays ADD COLUMN window_least_bps REAL;"
                              "ALTER TABLE replays ADD COLUMN window_most_bps REAL;";

/* Experiments of several patterns, cache states, layouts of the file. */
static const char conditions[] = "ALTER TABLE replays ADD COLUMN conditions TEXT NOT NULL DEFAULT '';";

static const char *const steps[HISTORY_SCHEMA_VERSION] = {first, windows, conditions};

int history_schema_refuse_newer(int64_t version, struct err *err)
{
    return err_set(err, -EINVAL,
                   "it was written by a newer fstune (schema %" PRId64
                   ", this one knows %d); update fstune or name another file",
                   version, HISTORY_SCHEMA_VERSION);
}

static int take_steps(sqlite3 *db, int64_t version, struct err *err)
{
    char mark[96];
    int result = 0;
    for (int64_t i = version; i < HISTORY_SCHEMA_VERSION && result == 0; i++)
        result = history_sql_script(db, steps[i], err);
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             HISTORY_SCHEMA_APPLICATION, HISTORY_SCHEMA_VERSION);
    return result < 0 ? result : history_sql_script(db, mark, err);
}

int history_schema_update(sqlite3 *db, struct err *err)
{
    int64_t version = 0;
    int result = history_sql_number(db, &version, err, "PRAGMA user_version", "");
    if (result < 0 || version == HISTORY_SCHEMA_VERSION)
        return result;
    if (version > HISTORY_SCHEMA_VERSION || version < 0)
        return history_schema_refuse_newer(version, err);
    result = history_sql_begin(db, true, err);
    if (result < 0)
        return result;
    /* Another process may have made the tables meanwhile. */
    result = history_sql_number(db, &version, err, "PRAGMA user_version", "");
    if (result == 0 && version < HISTORY_SCHEMA_VERSION)
        result = take_steps(db, version, err);
    return history_sql_end(db, result, err);
}
