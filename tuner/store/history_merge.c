/* tuner/store/history: runs of other machines, known by their uuid. */
#include "tuner/store/history.h"

#include "bench/base/clock.h"
#include "tuner/store/history_row.h"
#include "tuner/store/sql_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- a copy of the other history, to be read and brought up to date at will ---
 *
 * SQLite makes files beside a database by opening it, even for reading only (the index of its log), and an
 * older schema could be read in no other way than by changing it. */

#define TRIES      10
#define PAUSE_NS   20000000ULL
#define CHUNK_SIZE (1U << 20)
#define NAME       "/history.db"

/* The database, its write-ahead log, and the log that undoes a change where that one is not in use. The index
 * of the former is made anew with the copy. */
static const char *const parts[] = {"", "-wal", "-journal", "-shm"};
#define N_COPIED 3
#define N_PARTS  (sizeof parts / sizeof parts[0])

/* Room for a longest path and the name of a part. */
#define PATH_SIZE (PATH_MAX + 32)

struct snapshot {
    char folder[PATH_MAX];             /* in TMPDIR, or /var/tmp; its owner's alone */
    char path[PATH_MAX + sizeof NAME]; /* of the copy */
};

/* Size and times that change when a part is written; zeros for a missing part. */
struct look {
    ino_t inode;
    off_t size;
    struct timespec modified;
};

static int look_at(const char *base, struct look looks[N_COPIED], struct err *err)
{
    char path[PATH_SIZE];
    struct stat status;
    memset(looks, 0, N_COPIED * sizeof *looks);
    for (size_t i = 0; i < N_COPIED; i++) {
        snprintf(path, sizeof path, "%s%s", base, parts[i]);
        if (stat(path, &status) == 0) {
            looks[i].inode = status.st_ino;
            looks[i].size = status.st_size;
            looks[i].modified = status.st_mtim;
        } else if (errno != ENOENT) {
            return err_sys(err, -errno, "cannot look at it");
        }
    }
    return 0;
}

/* 0 or a negative errno. */
static int pour(int from, int to)
{
    ssize_t n;
    while ((n = sendfile(to, from, NULL, CHUNK_SIZE)) != 0) {
        if (n < 0 && errno != EINTR)
            return -errno;
    }
    return 0;
}

/* A part that is not there has none in the copy either. */
static int copy_part(const char *from_path, const char *to_path, struct err *err)
{
    int from = open(from_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result;
    if (from < 0)
        return errno == ENOENT ? 0 : err_sys(err, -errno, "it cannot be read");
    int to = open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    result = to < 0 ? -errno : pour(from, to);
    if (to >= 0 && close(to) < 0 && result == 0)
        result = -errno;
    close(from);
    return result < 0
               ? err_sys(err, result, "it cannot be copied to %s (TMPDIR names another place)", to_path)
               : 0;
}

static void remove_parts(const char *base)
{
    char path[PATH_SIZE];
    for (size_t i = 0; i < N_PARTS; i++) {
        snprintf(path, sizeof path, "%s%s", base, parts[i]);
        unlink(path);
    }
}

static int copy_parts(const struct snapshot *snapshot, const char *base, struct err *err)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    int result = 0;
    remove_parts(snapshot->path);
    for (size_t i = 0; i < N_COPIED && result == 0; i++) {
        snprintf(from, sizeof from, "%s%s", base, parts[i]);
        snprintf(to, sizeof to, "%s%s", snapshot->path, parts[i]);
        result = copy_part(from, to, err);
    }
    return result;
}

/* Copies again while somebody writes: parts copied at different times do not fit together. */
static int copy_at_rest(const struct snapshot *snapshot, const char *base, struct err *err)
{
    struct look before[N_COPIED], after[N_COPIED] = {{0}};
    for (int i = 0; i < TRIES; i++) {
        int result = look_at(base, before, err);
        if (result == 0)
            result = copy_parts(snapshot, base, err);
        if (result == 0)
            result = look_at(base, after, err);
        if (result < 0 || memcmp(before, after, sizeof before) == 0)
            return result;
        clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + PAUSE_NS);
    }
    return err_set(err, -EBUSY, "it is being written all the time; try again when no fstune measures there");
}

static int make_folder(struct snapshot *snapshot, struct err *err)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/')
        base = "/var/tmp";
    if (strlen(base) + sizeof "/fstune-merge-XXXXXX" NAME > PATH_MAX)
        return err_set(err, -ENAMETOOLONG, "the path in TMPDIR is too long");
    snprintf(snapshot->folder, sizeof snapshot->folder, "%s/fstune-merge-XXXXXX", base);
    if (mkdtemp(snapshot->folder) == NULL)
        return err_sys(err, -errno, "no folder for a copy can be made in %s", base);
    snprintf(snapshot->path, sizeof snapshot->path, "%s" NAME, snapshot->folder);
    return 0;
}

static void drop_snapshot(struct snapshot *snapshot)
{
    remove_parts(snapshot->path);
    rmdir(snapshot->folder);
}

/* Copies the history and its log as they are at one time. -EBUSY where it was written each time that it was
 * copied. drop_snapshot removes the copy. */
static int make_snapshot(struct snapshot *snapshot, const char *path, struct err *err)
{
    char whole[PATH_MAX];
    int result = history_look(path, err);
    if (result < 0)
        return result;
    /* SQLite keeps the log beside the file, not beside a link to it. */
    if (realpath(path, whole) == NULL)
        return err_sys(err, -errno, "history %.300s", path);
    result = make_folder(snapshot, err);
    if (result == 0 && (result = copy_at_rest(snapshot, whole, err)) < 0)
        drop_snapshot(snapshot);
    return result < 0 ? err_prefix(err, "history %.300s", path) : 0;
}

/* --- what is taken over --- */

/* Runs that are new here, or finished there and not here: the latter come anew. */
static const char pick[] =
    "CREATE TEMP TABLE picked(other_id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, id INTEGER);"
    "INSERT INTO picked(other_id, uuid) SELECT o.id, o.uuid FROM other.runs o LEFT JOIN main.runs m ON "
    "m.uuid = o.uuid WHERE m.id IS NULL OR (m.finished_s IS NULL AND o.finished_s IS NOT NULL);";

#define COLUMNS_RUN                                                                                          \
    "name, command, pattern, version, seed, settings, system, started_s, finished_s, status, exit_code, "    \
    "n_replays, summarised"
#define COLUMNS_POINT "request_size, write_request_size, queue_depth, direct, api, threads, sync"
#define SAME_POINT                                                                                           \
    "a.request_size = b.request_size AND a.write_request_size = b.write_request_size AND a.queue_depth = "   \
    "b.queue_depth AND a.direct = b.direct AND a.api = b.api AND a.threads = b.threads AND a.sync = b.sync"

/* What runs refer to, by what it is and not by its number. */
static const char share[] =
    "INSERT OR IGNORE INTO main.hosts(name) SELECT name FROM other.hosts;"
    "INSERT OR IGNORE INTO main.targets(fingerprint, identity) SELECT fingerprint, identity FROM "
    "other.targets;"
    "INSERT OR IGNORE INTO main.points(" COLUMNS_POINT ") SELECT " COLUMNS_POINT " FROM other.points;"
    "CREATE TEMP TABLE points_here(other_id INTEGER PRIMARY KEY, id INTEGER NOT NULL);"
    "INSERT INTO points_here SELECT b.id, a.id FROM main.points a JOIN other.points b ON " SAME_POINT ";";

/* An unfinished run keeps its row and its id, on which a change may rest. */
static const char copy[] =
    "INSERT INTO main.runs(uuid, host_id, target_id, " COLUMNS_RUN
    ") SELECT o.uuid, h.id, t.id, o.name, o.command, o.pattern, o.version, o.seed, o.settings, o.system, "
    "o.started_s, o.finished_s, o.status, o.exit_code, o.n_replays, o.summarised FROM other.runs o "
    "JOIN temp.picked k ON k.other_id = o.id JOIN other.hosts oh ON oh.id = o.host_id JOIN main.hosts h ON "
    "h.name = oh.name JOIN other.targets ot ON ot.id = o.target_id JOIN main.targets t ON t.fingerprint = "
    "ot.fingerprint WHERE true ORDER BY o.id ON CONFLICT(uuid) DO UPDATE SET finished_s = "
    "excluded.finished_s, status = excluded.status, exit_code = excluded.exit_code, n_replays = "
    "excluded.n_replays, summarised = excluded.summarised;"
    "UPDATE temp.picked SET id = (SELECT id FROM main.runs WHERE runs.uuid = picked.uuid);"
    "DELETE FROM main.replays WHERE run_id IN (SELECT id FROM temp.picked);"
    "INSERT INTO main.replays(run_id, point_id, " HISTORY_ROW_REPLAY
    ") SELECT k.id, p.id, " HISTORY_ROW_REPLAY
    " FROM other.replays r JOIN temp.picked k ON k.other_id = r.run_id JOIN temp.points_here p ON p.other_id "
    "= r.point_id;"
    "INSERT INTO main.recommendations(run_id, point_id, mean_bps, ci_low_bps, ci_high_bps, conclusive) "
    "SELECT k.id, p.id, c.mean_bps, c.ci_low_bps, c.ci_high_bps, c.conclusive FROM other.recommendations c "
    "JOIN temp.picked k ON k.other_id = c.run_id JOIN temp.points_here p ON p.other_id = c.point_id;"
    "INSERT INTO main.documents(run_id, document) SELECT k.id, d.document FROM other.documents d "
    "JOIN temp.picked k ON k.other_id = d.run_id;";

/* The runs that a change rests on may have been here before. */
static const char copy_changes[] =
    "INSERT OR IGNORE INTO main.changes(uuid, host_id, target, kind, at_s, from_point_id, to_point_id, "
    "run_id, other_run_id, text) SELECT c.uuid, h.id, c.target, c.kind, c.at_s, f.id, g.id, m1.id, m2.id, "
    "c.text FROM other.changes c JOIN other.hosts oh ON oh.id = c.host_id JOIN main.hosts h ON h.name = "
    "oh.name LEFT JOIN temp.points_here f ON f.other_id = c.from_point_id LEFT JOIN temp.points_here g ON "
    "g.other_id = c.to_point_id LEFT JOIN other.runs o1 ON o1.id = c.run_id LEFT JOIN main.runs m1 ON "
    "m1.uuid = o1.uuid LEFT JOIN other.runs o2 ON o2.id = c.other_run_id LEFT JOIN main.runs m2 ON m2.uuid "
    "= o2.uuid WHERE true ORDER BY c.id;";

/* A run that cannot be read would make every list of this history fail. */
static int check_run(struct history *history, int64_t other_id, int64_t run_id, struct err *err)
{
    struct history_info info;
    struct history_replay *replays = NULL;
    size_t n;
    int result = history_find_run(history, run_id, &info, NULL);
    if (result == 0)
        result = history_replays(history, run_id, &replays, &n, NULL);
    if (result < 0)
        return err_set(err, result,
                       "run %lld of it cannot be read; fstune history verify --db on it says why",
                       (long long)other_id);
    free(replays);
    return 0;
}

/* Within the transaction, so that nothing of a damaged history is kept. */
static int check_taken(struct history *history, struct err *err)
{
    struct history_change *changes = NULL;
    struct sql_rows *rows;
    size_t n;
    int result = sql_query(&history->db, &rows, err, "SELECT other_id, id FROM temp.picked", "");
    while (result == 0 && (result = sql_step(rows, err)) == 1)
        result = check_run(history, sql_int64(rows, 0), sql_int64(rows, 1), err);
    sql_done(rows);
    if (result == 0)
        result = history_list_changes(history, NULL, NULL, 0, 0, &changes, &n, err);
    if (result == 0)
        free(changes);
    return result;
}

static int take_over(struct history *history, size_t *ret_n_runs, size_t *ret_n_changes, struct err *err)
{
    struct sql *db = &history->db;
    int64_t n = 0;
    int result = sql_script(db, pick, err);
    if (result == 0)
        result = sql_script(db, share, err);
    if (result == 0)
        result = sql_script(db, copy, err);
    if (result == 0)
        result = sql_number(db, &n, err, "SELECT count(*) FROM temp.picked", "");
    if (result == 0)
        result = sql_script(db, copy_changes, err);
    if (result == 0) {
        *ret_n_runs = (size_t)n;
        *ret_n_changes = sql_n_changed(db);
        result = check_taken(history, err);
    }
    return result;
}

/* Attached from a transaction of its own: ATTACH cannot stand in one. */
static int merge_attached(struct history *history, size_t *ret_n_runs, size_t *ret_n_changes, struct err *err)
{
    struct sql *db = &history->db;
    size_t n_runs = 0, n_changes = 0;
    int result = sql_begin(db, true, err);
    if (result == 0)
        result = sql_end(db, take_over(history, &n_runs, &n_changes, err), err);
    if (result == 0) {
        *ret_n_runs = n_runs;
        *ret_n_changes = n_changes;
    }
    (void)sql_script(db, "DROP TABLE IF EXISTS temp.picked; DROP TABLE IF EXISTS temp.points_here", NULL);
    return result;
}

static bool is_itself(struct history *history, const char *path)
{
    struct stat here, there;
    return stat(path, &there) == 0 && stat(sqlite3_db_filename(history->db.handle, "main"), &here) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

int history_merge(struct history *history, const char *path, size_t *ret_n_runs, size_t *ret_n_changes,
                  struct err *err)
{
    struct snapshot snapshot;
    struct history other;
    if (sql_is_server(&history->db))
        return err_set(err, -EINVAL, "a server takes runs by fstune history push --to ADDRESS FILE");
    if (is_itself(history, path))
        return err_set(err, -EINVAL, "%.300s is this history itself; name another file", path);
    int result = make_snapshot(&snapshot, path, err);
    if (result < 0)
        return result;
    /* Checks it, and brings an older one up to date: in the copy. */
    const struct history_place place = {.path = snapshot.path, .name = path};
    result = history_open(&other, &place, err);
    if (result < 0) {
        drop_snapshot(&snapshot);
        return result;
    }
    result = sql_do(&history->db, err, "ATTACH DATABASE ? AS other", "t", snapshot.path);
    if (result == 0) {
        result = merge_attached(history, ret_n_runs, ret_n_changes, err);
        (void)sql_script(&history->db, "DETACH DATABASE other", NULL);
    }
    history_close(&other);
    drop_snapshot(&snapshot);
    if (result < 0)
        err_prefix(err, "history %.300s", path);
    return result;
}
