/* tuner/store/history_sql: statements, values and the reasons of failures. */
#include "tuner/store/history_sql.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int history_sql_fail(sqlite3 *db, int code, struct err *err)
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

int history_sql_script(sqlite3 *db, const char *sql, struct err *err)
{
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : history_sql_fail(db, code, err);
}

static int bind(sqlite3_stmt *statement, int place, char type, va_list *values)
{
    if (type == 'i')
        return sqlite3_bind_int64(statement, place, va_arg(*values, int64_t));
    if (type == 't')
        return sqlite3_bind_text(statement, place, va_arg(*values, const char *), -1, SQLITE_TRANSIENT);
    double value = va_arg(*values, double);
    return isfinite(value) ? sqlite3_bind_double(statement, place, value)
                           : sqlite3_bind_null(statement, place);
}

static int prepare_statement(sqlite3 *db, sqlite3_stmt **ret_statement, struct err *err, const char *sql,
                             const char *types, va_list *values)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    for (int i = 0; code == SQLITE_OK && types[i] != '\0'; i++)
        code = bind(statement, i + 1, types[i], values);
    if (code != SQLITE_OK) {
        int result = history_sql_fail(db, code, err);
        sqlite3_finalize(statement);
        *ret_statement = NULL;
        return result;
    }
    *ret_statement = statement;
    return 0;
}

int history_sql_prepare(sqlite3 *db, sqlite3_stmt **ret_statement, struct err *err, const char *sql,
                        const char *types, ...)
{
    va_list values;
    va_start(values, types);
    int result = prepare_statement(db, ret_statement, err, sql, types, &values);
    va_end(values);
    return result;
}

int history_sql_step(sqlite3_stmt *statement, struct err *err)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return code == SQLITE_ROW;
    return history_sql_fail(sqlite3_db_handle(statement), code, err);
}

int history_sql_do(sqlite3 *db, struct err *err, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list values;
    va_start(values, types);
    int result = prepare_statement(db, &statement, err, sql, types, &values);
    va_end(values);
    if (result == 0)
        result = history_sql_step(statement, err);
    sqlite3_finalize(statement);
    return result < 0 ? result : 0;
}

int history_sql_number(sqlite3 *db, int64_t *ret_number, struct err *err, const char *sql, const char *types,
                       ...)
{
    sqlite3_stmt *statement;
    va_list values;
    va_start(values, types);
    int result = prepare_statement(db, &statement, err, sql, types, &values);
    va_end(values);
    if (result == 0)
        result = history_sql_step(statement, err);
    if (result == 1)
        *ret_number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    if (result == 0)
        return err_set(err, -ENOENT, "there is none");
    return result < 0 ? result : 0;
}

int history_sql_list(sqlite3_stmt *statement, int result, size_t size,
                     int (*read)(void *context, sqlite3_stmt *statement, void *row, struct err *err),
                     void *context, void **ret_rows, size_t *ret_n, struct err *err)
{
    char *rows = NULL;
    size_t n = 0, capacity = 0;
    while (result == 0 && (result = history_sql_step(statement, err)) == 1) {
        if (n == capacity) {
            capacity = capacity == 0 ? 32 : 2 * capacity;
            char *grown = realloc(rows, capacity * size);
            if (grown == NULL) {
                result = err_set(err, -ENOMEM, "no memory for %zu rows", n);
                break;
            }
            rows = grown;
        }
        result = read(context, statement, rows + n++ * size, err);
    }
    sqlite3_finalize(statement);
    if (result < 0) {
        free(rows);
        return result;
    }
    *ret_rows = rows;
    *ret_n = n;
    return 0;
}

int history_sql_begin(sqlite3 *db, bool durable, struct err *err)
{
    int result =
        history_sql_script(db, durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", err);
    return result < 0 ? result : history_sql_script(db, "BEGIN IMMEDIATE", err);
}

int history_sql_end(sqlite3 *db, int result, struct err *err)
{
    if (result == 0)
        result = history_sql_script(db, "COMMIT", err);
    /* SQLite itself has rolled back after some failures. */
    if (result < 0 && sqlite3_get_autocommit(db) == 0)
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return result;
}

double history_sql_double(sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(statement, column) : NAN;
}

void history_sql_text(sqlite3_stmt *statement, int column, char *text, size_t size)
{
    const unsigned char *value = sqlite3_column_text(statement, column);
    snprintf(text, size, "%s", value != NULL ? (const char *)value : "");
}
