/* tuner/store/events: the tables, and what is written into them. */
#include "tuner/store/events.h"

#include "bench/base/clock.h"
#include "tuner/store/database.h"
#include "tuner/store/events_internal.h"

#include <errno.h>
#include <stdlib.h>

/* "FSTv": tells it from a history. */
#define APPLICATION 0x46535476
#define VERSION     1
#define BUSY_MS     5000
#define KEEP_NS     500000000ULL

static const struct database_kind kind = {
    .what = "database of events", .application = APPLICATION, .version = VERSION};

/* A script that was released never changes. */
static const char tables[] =
    "CREATE TABLE kinds(id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
    "INSERT INTO kinds VALUES(1, 'read'), (2, 'write'), (3, 'flush'), (4, 'reap'), (5, 'cpu');"
    "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, command TEXT NOT NULL, source TEXT NOT NULL,"
    " started_s REAL NOT NULL, seconds REAL, sample_ns INTEGER NOT NULL, lost INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE objects(run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, id INTEGER NOT NULL,"
    " name TEXT NOT NULL, PRIMARY KEY(run_id, id)) WITHOUT ROWID;"
    "CREATE TABLE events(run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
    " kind INTEGER NOT NULL REFERENCES kinds(id), time_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL,"
    " process INTEGER NOT NULL, thread INTEGER NOT NULL, handle INTEGER NOT NULL, flags INTEGER NOT NULL,"
    " object_id INTEGER NOT NULL, offset_bytes INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " n INTEGER NOT NULL);"
    "PRAGMA application_id = 1179866230; PRAGMA user_version = 1;";

static int make_tables(struct sql *db, struct err *err)
{
    int64_t version = 0;
    int result = sql_number(db, &version, err, "PRAGMA user_version", "");
    if (result < 0 || version == VERSION)
        return result;
    result = sql_begin(db, true, err);
    if (result < 0)
        return result;
    /* Another process may have made them meanwhile. */
    result = sql_number(db, &version, err, "PRAGMA user_version", "");
    if (result == 0 && version == 0)
        result = sql_script(db, tables, err);
    return sql_end(db, result, err);
}

static int open_database(struct events *events, const char *path, bool write, struct err *err)
{
    int result = database_check(&kind, path, write, err);
    if (result < 0)
        return result;
    result = sql_file_open(&events->db, path, BUSY_MS, err);
    if (result < 0)
        return result;
    result = sql_script(&events->db, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF", err);
    if (result == 0)
        result = make_tables(&events->db, err);
    return result == 0 && write ? database_set_journal(&events->db, path, err) : result;
}

int events_open(struct events **ret_events, const char *path, bool write, struct err *err)
{
    struct events *events = calloc(1, sizeof *events);
    if (events == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = open_database(events, path, write, err);
    if (result < 0) {
        events_close(events);
        return err_prefix(err, "events %.300s", path);
    }
    *ret_events = events;
    return 0;
}

void events_close(struct events *events)
{
    if (events == NULL)
        return;
    sql_done(events->add);
    sql_done(events->name);
    sql_close(&events->db);
    free(events->waiting);
    free(events);
}

/* Its row stands in the database before any event, for others to see. */
int events_begin(struct events *events, const char *command, const char *source, uint64_t sample_ns,
                 struct err *err)
{
    static const char insert[] = "INSERT INTO events VALUES(?,?,?,?,?,?,?,?,?,?,?,?)";
    struct sql *db = &events->db;
    events->waiting = calloc(EVENTS_WAITING, sizeof *events->waiting);
    if (events->waiting == NULL)
        return err_set(err, -ENOMEM, "no memory for events");
    /* Kinds that the first version did not know. */
    int result = sql_script(
        db, "INSERT OR IGNORE INTO kinds VALUES(6, 'memory'), (7, 'frame'), (8, 'network'), (9, 'mark')",
        err);
    if (result == 0)
        result = sql_do(db, err, "INSERT INTO runs(command, source, started_s, sample_ns) VALUES(?,?,?,?)",
                        "ttdi", command, source, (double)clock_realtime_ns() / 1e9, (int64_t)sample_ns);
    events->run_id = sqlite3_last_insert_rowid(db->handle);
    if (result == 0)
        result = sql_query(db, &events->add, err, insert, "");
    if (result == 0)
        result = sql_query(db, &events->name, err, "INSERT OR REPLACE INTO objects VALUES(?,?,?)", "");
    return result < 0 ? err_prefix(err, "the events cannot be kept") : 0;
}

static void fail(struct events *events, int result)
{
    if (events->result == 0)
        events->result = result;
}

static void write_row(struct events *events, const struct events_row *row)
{
    const uint64_t values[] = {(uint64_t)events->run_id,
                               row->kind,
                               row->time_ns,
                               row->duration_ns,
                               row->process,
                               row->thread,
                               row->handle,
                               row->flags,
                               row->object,
                               row->offset_bytes,
                               row->n_bytes,
                               row->n};
    for (int i = 0; i < (int)(sizeof values / sizeof values[0]); i++)
        sqlite3_bind_int64(events->add->handle, i + 1, (int64_t)values[i]);
    int result = sql_step(events->add, &events->err);
    sqlite3_reset(events->add->handle);
    fail(events, result < 0 ? result : 0);
}

/* In one short transaction, so that other writers have their turn. */
static void write_waiting(struct events *events)
{
    if (events->n_waiting == 0 || events->result < 0)
        return;
    fail(events, sql_begin(&events->db, false, &events->err));
    for (size_t i = 0; i < events->n_waiting && events->result == 0; i++)
        write_row(events, &events->waiting[i]);
    fail(events, sql_end(&events->db, events->result, &events->err));
    events->n += events->n_waiting;
    events->n_waiting = 0;
}

void events_add(struct events *events, const struct events_row *row)
{
    if (events->n >= EVENTS_MOST || events->result < 0) {
        events->n_lost++;
        return;
    }
    events->waiting[events->n_waiting++] = *row;
    if (events->n_waiting == EVENTS_WAITING)
        write_waiting(events);
}

void events_name(struct events *events, uint64_t object, const char *name)
{
    if (events->result < 0)
        return;
    sqlite3_bind_int64(events->name->handle, 1, events->run_id);
    sqlite3_bind_int64(events->name->handle, 2, (int64_t)object);
    sqlite3_bind_text(events->name->handle, 3, name, -1, SQLITE_TRANSIENT);
    int result = sql_step(events->name, &events->err);
    sqlite3_reset(events->name->handle);
    fail(events, result < 0 ? result : 0);
}

static void add_row(void *to, const struct events_row *row)
{
    events_add(to, row);
}

static void add_name(void *to, uint64_t object, const char *name)
{
    events_name(to, object, name);
}

struct events_sink events_sink(struct events *events)
{
    return (struct events_sink){.to = events, .add = add_row, .name = add_name};
}

int events_keep(struct events *events, bool at_once)
{
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    if (at_once || now_ns - events->kept_ns >= KEEP_NS) {
        write_waiting(events);
        events->kept_ns = now_ns;
    }
    return events->result < 0 ? events->result : events->n_waiting == 0;
}

int64_t events_run_id(const struct events *events)
{
    return events->run_id;
}

int events_end(struct events *events, double seconds, uint64_t n_lost, struct err *err)
{
    write_waiting(events);
    if (events->result == 0)
        events->result =
            sql_do(&events->db, &events->err, "UPDATE runs SET seconds = ?, lost = ? WHERE id = ?", "dii",
                   seconds, (int64_t)(n_lost + events->n_lost), events->run_id);
    if (events->result == 0)
        return 0;
    return err_set(err, events->result, "not all events could be kept: %s", events->err.text);
}
