/* tuner/store/sql_file: SQLite's statements, values and the reasons of failures. */
#include "tuner/store/sql_file.h"

#include <errno.h>
#include <math.h>

static const struct {
    int code, result;
    const char *text; /* NULL: SQLite's own */
} failures[] = {
    {SQLITE_BUSY, -EBUSY, "another process keeps it locked; try again"},
    {SQLITE_LOCKED, -EBUSY, "another process keeps it locked; try again"},
    {SQLITE_FULL, -ENOSPC, "the disk is full"},
    {SQLITE_READONLY, -EROFS, "it cannot be written"},
    {SQLITE_PERM, -EACCES, NULL},
    {SQLITE_CANTOPEN, -EACCES, "it, or the files that belong to it (-wal, -shm), cannot be opened"},
    {SQLITE_NOTADB, -EINVAL, "it is no history of fstune; name another file"},
    {SQLITE_CORRUPT, -EBADMSG, "it is damaged; restore a copy, or name another file"},
    {SQLITE_NOMEM, -ENOMEM, "no memory"},
    {SQLITE_CONSTRAINT, -EEXIST, NULL},
    {SQLITE_TOOBIG, -EFBIG, NULL},
    {SQLITE_ERROR, -EBADMSG, NULL}, /* a table or column is missing */
};

/* A full disk can show itself in many places. */
static int reason_of_io(sqlite3 *db, int code, struct err *err)
{
    /* The index of the log could not grow; SQLite keeps no errno of that. */
    if (code == SQLITE_IOERR_SHMSIZE)
        return err_set(err, -ENOSPC, "the disk is full");
    int reason = sqlite3_system_errno(db);
    if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG)
        return err_sys(err, -reason, "it cannot be written");
    return err_set(err, -EIO, "%s", sqlite3_errmsg(db));
}

int sql_file_fail(sqlite3 *db, int code, struct err *err)
{
    int kind = code & 0xff;
    if (kind == SQLITE_IOERR)
        return reason_of_io(db, code, err);
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        if (failures[i].code == kind)
            return err_set(err, failures[i].result, "%s",
                           failures[i].text != NULL ? failures[i].text : sqlite3_errmsg(db));
    }
    return err_set(err, -EIO, "%s", sqlite3_errmsg(db));
}

static int bind(sqlite3_stmt *statement, int place, const struct sql_value *value)
{
    if (value->type == 'i')
        return sqlite3_bind_int64(statement, place, value->number);
    if (value->type == 't')
        return sqlite3_bind_text(statement, place, value->text, -1, SQLITE_TRANSIENT);
    return isfinite(value->real) ? sqlite3_bind_double(statement, place, value->real)
                                 : sqlite3_bind_null(statement, place);
}

static int start(struct sql *sql, const char *text, const struct sql_value *values, int n, void **ret_handle,
                 struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(sql->handle, text, -1, &statement, NULL);
    for (int i = 0; code == SQLITE_OK && i < n; i++)
        code = bind(statement, i + 1, &values[i]);
    if (code == SQLITE_OK) {
        *ret_handle = statement;
        return 0;
    }
    int result = sql_file_fail(sql->handle, code, err);
    sqlite3_finalize(statement);
    return result;
}

static int step(struct sql_rows *rows, struct err *err)
{
    int code = sqlite3_step(rows->handle);
    return code == SQLITE_ROW || code == SQLITE_DONE
               ? code == SQLITE_ROW
               : sql_file_fail(sqlite3_db_handle(rows->handle), code, err);
}

static void finish(struct sql_rows *rows)
{
    sqlite3_finalize(rows->handle);
}

static bool is_null(const struct sql_rows *rows, int column)
{
    return sqlite3_column_type(rows->handle, column) == SQLITE_NULL;
}

static int64_t number(const struct sql_rows *rows, int column)
{
    return sqlite3_column_int64(rows->handle, column);
}

static double real(const struct sql_rows *rows, int column)
{
    int type = sqlite3_column_type(rows->handle, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(rows->handle, column) : NAN;
}

static const char *text_of(const struct sql_rows *rows, int column)
{
    return (const char *)sqlite3_column_text(rows->handle, column);
}

static size_t n_changed(const struct sql *sql)
{
    return (size_t)sqlite3_changes(sql->handle);
}

static int script(struct sql *sql, const char *text, struct err *err)
{
    int code = sqlite3_exec(sql->handle, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : sql_file_fail(sql->handle, code, err);
}

static int begin(struct sql *sql, bool durable, struct err *err)
{
    int result = script(sql, durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", err);
    return result < 0 ? result : script(sql, "BEGIN IMMEDIATE", err);
}

/* SQLite itself has rolled back after some failures. */
static void roll_back(struct sql *sql)
{
    if (sqlite3_get_autocommit(sql->handle) == 0)
        sqlite3_exec(sql->handle, "ROLLBACK", NULL, NULL, NULL);
}

static void close_file(struct sql *sql)
{
    sqlite3_close(sql->handle);
}

static const struct sql_ops ops = {
    .start = start,
    .step = step,
    .finish = finish,
    .is_null = is_null,
    .number = number,
    .real = real,
    .text = text_of,
    .n_changed = n_changed,
    .script = script,
    .begin = begin,
    .roll_back = roll_back,
    .close = close_file,
};

int sql_file_open(struct sql *ret_sql, const char *path, int busy_ms, struct err *err)
{
    sqlite3 *db = NULL;
    int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    if (code != SQLITE_OK) {
        int result = sql_file_fail(db, code, err);
        sqlite3_close(db);
        return result;
    }
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, busy_ms);
    *ret_sql = (struct sql){.ops = &ops, .handle = db};
    return 0;
}
