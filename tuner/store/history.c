/* tuner/store/history: where a history is, its tables, and opening it. */
#include "tuner/store/history.h"

#include "bench/base/clock.h"
#include "tuner/base/trust.h"
#include "tuner/store/database.h"
#include "tuner/store/privacy.h"
#include "tuner/store/sql_file.h"
#include "tuner/store/sql_server.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "FSTu": tells a history from other databases. */
#define APPLICATION 0x46535475

const char *const history_status_names[HISTORY_N_STATUSES] = {
    [HISTORY_UNFINISHED] = "unfinished",     [HISTORY_DONE] = "done",
    [HISTORY_INCONCLUSIVE] = "inconclusive", [HISTORY_NOTHING] = "nothing",
    [HISTORY_INTERRUPTED] = "interrupted",   [HISTORY_FAILED] = "failed",
    [HISTORY_SKIPPED] = "skipped",
};

const char *const history_kind_names[HISTORY_CHANGE_N] = {
    [HISTORY_CHANGE_FIRST] = "first",       [HISTORY_CHANGE_MADE] = "change",
    [HISTORY_CHANGE_ROLLBACK] = "rollback", [HISTORY_CHANGE_NONE] = "none",
    [HISTORY_CHANGE_SKIPPED] = "skipped",   [HISTORY_CHANGE_ALARM] = "alarm",
};

/* One script for each version of the tables. A script that was released never changes. */

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

/* Old runs with one row for each setting. */
static const char summaries[] = "ALTER TABLE replays ADD COLUMN n_replays INTEGER NOT NULL DEFAULT 1;"
                                "ALTER TABLE replays ADD COLUMN std_bps REAL;"
                                "ALTER TABLE runs ADD COLUMN summarised INTEGER NOT NULL DEFAULT 0;"
                                "CREATE INDEX runs_whole ON runs(started_s) WHERE summarised = 0;";

static const char *const steps[HISTORY_SCHEMA_VERSION] = {first, windows, conditions, summaries};

static const struct database_kind kind = {
    .what = "history of fstune", .application = APPLICATION, .version = HISTORY_SCHEMA_VERSION};

static int take_steps(struct sql *db, int64_t version, struct err *err)
{
    char mark[96];
    int result = 0;
    for (int64_t i = version; i < HISTORY_SCHEMA_VERSION && result == 0; i++)
        result = sql_script(db, steps[i], err);
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION,
             HISTORY_SCHEMA_VERSION);
    return result < 0 ? result : sql_script(db, mark, err);
}

/* Makes the tables of an empty database, or brings older ones up to date, in one transaction. */
static int update_schema(struct sql *db, struct err *err)
{
    int64_t version = 0;
    int result = sql_number(db, &version, err, "PRAGMA user_version", "");
    if (result < 0 || version == HISTORY_SCHEMA_VERSION)
        return result;
    if (version > HISTORY_SCHEMA_VERSION || version < 0)
        return database_refuse_newer(&kind, version, err);
    result = sql_begin(db, true, err);
    if (result < 0)
        return result;
    /* Another process may have made the tables meanwhile. */
    result = sql_number(db, &version, err, "PRAGMA user_version", "");
    if (result == 0 && version < HISTORY_SCHEMA_VERSION)
        result = take_steps(db, version, err);
    return sql_end(db, result, err);
}

int history_default_path(char *path, size_t size, struct err *err)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"STATE_DIRECTORY", "/history.db"},
                  {"XDG_STATE_HOME", "/fstune/history.db"},
                  {"HOME", "/.local/state/fstune/history.db"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *folder = getenv(places[i].variable);
        /* A relative one is to be ignored (XDG base directories); systemd may list several, with colons. */
        if (folder == NULL || folder[0] != '/')
            continue;
        int length =
            snprintf(path, size, "%.*s%s", (int)strcspn(folder, i == 0 ? ":" : ""), folder, places[i].below);
        return length > 0 && (size_t)length < size ? 0 : err_set(err, -ENAMETOOLONG, "a path is too long");
    }
    return err_set(err, -ENOENT, "neither XDG_STATE_HOME nor HOME says where the history is; give --db FILE");
}

int history_make_directories(const char *path, struct err *err)
{
    char folder[PATH_MAX];
    if ((size_t)snprintf(folder, sizeof folder, "%s", path) >= sizeof folder)
        return err_set(err, -ENAMETOOLONG, "the path is too long");
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) < 0 && errno != EEXIST)
            return err_sys(err, -errno, "cannot make the directory %s", folder);
        *slash = '/';
    }
    return 0;
}

static int blame_history_file(const char *name, struct err *err)
{
    return err_prefix(err, "history %.300s", name);
}

int history_look(const char *path, struct err *err)
{
    return database_check(&kind, path, false, err) < 0 ? blame_history_file(path, err) : 0;
}

static int set_up(struct sql *db, const struct history_place *place, struct err *err)
{
    static const char settings[] = "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;"
                                   "PRAGMA cell_size_check = ON";
    int result = sql_script(db, settings, err);
    if (result == 0)
        result = update_schema(db, err);
    if (result < 0 || !place->write)
        return result;
    /* Only now: the header must say whose file it is before anything stands in the log alone. */
    return database_set_journal(db, place->path, err);
}

static double machine_now_s(void *context)
{
    (void)context;
    return (double)clock_realtime_ns() / 1e9;
}

/* The tables are made by configs/fleet.sql, and not by whoever connects first. */
static int open_server(struct history *history, const struct history_place *place, struct err *err)
{
    int64_t version = 0, n_made;
    int result = sql_server_open(&history->db, place->path, err);
    if (result == 0)
        result = sql_number(&history->db, &version, err, "SELECT number FROM versions", "");
    if (result == 0 && version != HISTORY_SCHEMA_VERSION)
        result = err_set(err, -EINVAL,
                         "its tables are of version %" PRId64 ", this fstune knows %d; update the older",
                         version, HISTORY_SCHEMA_VERSION);
    if (result == 0 && place->write)
        result = sql_number(&history->db, &n_made, err, "SELECT make_months()", "");
    if (result == 0 && place->write && !place->identify) {
        history->privacy = calloc(1, sizeof *history->privacy);
        result = history->privacy != NULL ? privacy_open(history->privacy, NULL, err)
                                          : err_set(err, -ENOMEM, "no memory");
    }
    if (result < 0)
        history_close(history);
    /* Not the address: a refused one may hold a password. */
    return result < 0 ? err_prefix(err, "the fleet's history") : 0;
}

int history_open(struct history *history, const struct history_place *place, struct err *err)
{
    *history = (struct history){.now_s = place->now_s, .now_context = place->now_context};
    if (history->now_s == NULL)
        history->now_s = machine_now_s;
    if (sql_server_is_address(place->path))
        return open_server(history, place, err);
    /* SQLite plays back what lies beside a database, also for a reader. Below a home this may be the whole
     * group's business; root's is nobody's. */
    int result = geteuid() == 0 ? trust_check_file(place->path, true, err) : 0;
    if (result == 0)
        result = database_check(&kind, place->path, place->write, err);
    if (result == 0)
        result = sql_file_open(&history->db, place->path, HISTORY_BUSY_MS, err);
    if (result == 0)
        result = set_up(&history->db, place, err);
    if (result < 0) {
        history_close(history);
        blame_history_file(place->name != NULL ? place->name : place->path, err);
    }
    return result;
}

void history_close(struct history *history)
{
    sql_close(&history->db);
    free(history->privacy);
    history->privacy = NULL;
}
