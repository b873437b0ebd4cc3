/* tuner/store/history_sql: statements, values and the reasons of failures; what a row says is checked like
 * any input. */
#include "tuner/store/history_sql.h"

#include "tuner/session/warnings.h"

#include <errno.h>
#include <inttypes.h>
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

/* --- points and replays --- */

#define LARGEST 1e18
/* 33 numbers of at most 19 digits; every code of a warning once. */
#define QUANTILES_SIZE ((size_t)LATENCY_QUANTILES_N * 21)
#define WARNINGS_SIZE  ((size_t)WARNING_N * 64)

#define CONDITIONS_AT 25
#define POINT_AT      26

size_t history_row_name(const char *text, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(text, names[i]) != 0)
        i++;
    return i;
}

#define POINT_VALUES(point)                                                                                  \
    (int64_t)(point)->request_size_bytes, (int64_t)(point)->write_size_bytes, (int64_t)(point)->queue_depth, \
        (int64_t)(point)->direct, api_names[(point)->api], (int64_t)(point)->threads,                        \
        sync_names[(point)->sync]

int history_row_point_id(sqlite3 *db, const struct point *point, int64_t *ret_id, struct err *err)
{
    int result = history_sql_do(db, err,
                                "INSERT OR IGNORE INTO points(request_size, write_request_size, queue_depth, "
                                "direct, api, threads, sync) VALUES(?, ?, ?, ?, ?, ?, ?)",
                                "iiiitit", POINT_VALUES(point));
    if (result < 0)
        return result;
    return history_sql_number(db, ret_id, err,
                              "SELECT id FROM points WHERE request_size = ? AND write_request_size = ? AND "
                              "queue_depth = ? AND direct = ? AND api = ? AND threads = ? AND sync = ?",
                              "iiiitit", POINT_VALUES(point));
}

bool history_row_point(sqlite3_stmt *statement, int first, struct point *ret_point)
{
    /* As POINT_VALUES has them. */
    static const enum factor columns[HISTORY_ROW_POINT_COLUMNS] = {
        FACTOR_REQUEST_SIZE, FACTOR_WRITE_SIZE, FACTOR_QUEUE_DEPTH, FACTOR_DIRECT,
        FACTOR_API,          FACTOR_THREADS,    FACTOR_SYNC};
    uint64_t levels[FACTOR_N];
    for (int i = 0; i < HISTORY_ROW_POINT_COLUMNS; i++) {
        char name[16];
        history_sql_text(statement, first + i, name, sizeof name);
        levels[columns[i]] = columns[i] == FACTOR_API ? history_row_name(name, api_names, API_N)
                             : columns[i] == FACTOR_SYNC
                                 ? history_row_name(name, sync_names, SYNC_N)
                                 : (uint64_t)sqlite3_column_int64(statement, first + i);
    }
    return factors_read(levels, ret_point) == 0;
}

static void write_warnings(uint64_t warning_set, char text[WARNINGS_SIZE])
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < WARNING_N && length < WARNINGS_SIZE; i++) {
        if ((warning_set & WARNINGS_BIT(i)) != 0)
            length += (size_t)snprintf(text + length, WARNINGS_SIZE - length, "%s%s", length > 0 ? "," : "",
                                       warnings_table[i].code);
    }
}

/* A code that this fstune does not know is a newer one's: it is left out. */
static uint64_t read_warnings(const char *text)
{
    uint64_t warning_set = 0;
    while (*text != '\0') {
        char code[64];
        size_t length = strcspn(text, ",");
        snprintf(code, sizeof code, "%.*s", (int)(length < sizeof code ? length : 0), text);
        enum warning warning = warnings_find(code);
        if (warning != WARNING_N)
            warning_set |= WARNINGS_BIT(warning);
        text += length + (text[length] == ',');
    }
    return warning_set;
}

static void write_quantiles(const struct latency_quantiles *quantiles, char text[QUANTILES_SIZE])
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < LATENCY_QUANTILES_N && quantiles->n > 0; i++)
        length += (size_t)snprintf(text + length, QUANTILES_SIZE - length, "%s%" PRIu64, i > 0 ? "," : "",
                                   quantiles->ns[i]);
}

/* One number of a list; -1 where there is none. */
static int64_t take_number(const char **text)
{
    int64_t number = 0;
    size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > 18)
        return -1;
    for (size_t i = 0; i < digits; i++)
        number = 10 * number + ((*text)[i] - '0');
    *text += digits + ((*text)[digits] == ',');
    return number;
}

static bool read_latency_quantiles(int64_t n, const char *text, struct latency_quantiles *quantiles)
{
    int64_t last = 0;
    *quantiles = (struct latency_quantiles){0};
    if (n <= 0)
        return n == 0;
    for (size_t i = 0; i < LATENCY_QUANTILES_N; i++) {
        int64_t ns = take_number(&text);
        if (ns < last)
            return false;
        quantiles->ns[i] = (uint64_t)ns;
        last = ns;
    }
    quantiles->n = (uint64_t)n;
    return *text == '\0';
}

int history_row_add_replay(sqlite3 *db, int64_t run_id, const struct history_replay *replay, struct err *err)
{
    const struct sample *sample = &replay->sample;
    const struct history_windows *windows = &replay->windows;
    char warning_set[WARNINGS_SIZE], quantiles[QUANTILES_SIZE];
    int64_t point_id;
    int result = history_row_point_id(db, &replay->point, &point_id, err);
    if (result < 0)
        return result;
    write_warnings(sample->warning_set, warning_set);
    write_quantiles(&sample->latency_quantiles, quantiles);
    return history_sql_do(
        db, err,
        "INSERT INTO replays(run_id, point_id, " HISTORY_ROW_REPLAY ") "
        "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "iiiddddddddiitiiiititidddddt", run_id, point_id, (int64_t)replay->number, replay->at_seconds,
        sample->throughput_bps, sample->iops, sample->latency_mean_ns, sample->latency_p99_ns,
        sample->achieved_depth, sample->seconds, sample->warmup_seconds, (int64_t)sample->bytes,
        (int64_t)sample->moved_bytes, measure_warmup_names[sample->warmup], (int64_t)sample->sampled,
        (int64_t)sample->confirming, (int64_t)sample->cut, (int64_t)replay->aside, warning_set,
        (int64_t)sample->latency_quantiles.n, quantiles, (int64_t)windows->n, windows->seconds,
        windows->mean_bps, windows->std_bps, windows->least_bps, windows->most_bps, replay->conditions);
}

static bool is_figure(double value)
{
    return value > 0 && value <= LARGEST;
}

/* Unknown is NaN; what is out of range counts as unknown where that is allowed. */
static double optional(sqlite3_stmt *statement, int column)
{
    double value = history_sql_double(statement, column);
    return is_figure(value) ? value : NAN;
}

static void read_windows(sqlite3_stmt *statement, struct history_windows *windows)
{
    int64_t n = sqlite3_column_int64(statement, 19);
    *windows = (struct history_windows){
        .n = n > 0 && n <= PUMP_N_WINDOWS ? (size_t)n : 0,
        .seconds = optional(statement, 20),
        .mean_bps = optional(statement, 21),
        .std_bps = history_sql_double(statement, 22),
        .least_bps = history_sql_double(statement, 23),
        .most_bps = optional(statement, 24),
    };
}

static void read_sample(sqlite3_stmt *statement, struct sample *sample)
{
    char warning_set[WARNINGS_SIZE];
    history_sql_text(statement, 16, warning_set, sizeof warning_set);
    *sample = (struct sample){
        .throughput_bps = history_sql_double(statement, 2),
        .iops = history_sql_double(statement, 3),
        .latency_mean_ns = optional(statement, 4),
        .latency_p99_ns = optional(statement, 5),
        .achieved_depth = optional(statement, 6),
        .seconds = history_sql_double(statement, 7),
        .warmup_seconds = history_sql_double(statement, 8),
        .bytes = (uint64_t)sqlite3_column_int64(statement, 9),
        .moved_bytes = (uint64_t)sqlite3_column_int64(statement, 10),
        .sampled = sqlite3_column_int(statement, 12) != 0,
        .confirming = sqlite3_column_int(statement, 13) != 0,
        .cut = sqlite3_column_int(statement, 14) != 0,
        .warning_set = read_warnings(warning_set),
    };
}

int history_row_read_replay(sqlite3_stmt *statement, struct history_replay *ret_replay, struct err *err)
{
    char warmup[16], quantiles[QUANTILES_SIZE];
    struct history_replay replay = {.number = (uint64_t)sqlite3_column_int64(statement, 0),
                                    .at_seconds = history_sql_double(statement, 1),
                                    .aside = sqlite3_column_int(statement, 15) != 0};
    struct sample *sample = &replay.sample;
    read_sample(statement, sample);
    read_windows(statement, &replay.windows);
    history_sql_text(statement, CONDITIONS_AT, replay.conditions, sizeof replay.conditions);
    history_sql_text(statement, 11, warmup, sizeof warmup);
    history_sql_text(statement, 18, quantiles, sizeof quantiles);
    size_t name = history_row_name(warmup, measure_warmup_names, MEASURE_WARMUP_N);
    if (!history_row_point(statement, POINT_AT, &replay.point) || name == MEASURE_WARMUP_N ||
        !is_figure(sample->throughput_bps) || !is_figure(sample->iops) || !is_figure(sample->seconds) ||
        !(sample->warmup_seconds >= 0 && sample->warmup_seconds <= LARGEST) || !(replay.at_seconds >= 0) ||
        sqlite3_column_int64(statement, 9) < 0 || sqlite3_column_int64(statement, 10) < 0 ||
        !read_latency_quantiles(sqlite3_column_int64(statement, 17), quantiles, &sample->latency_quantiles))
        return err_set(err, -EBADMSG, "replay %" PRIu64 " is damaged", replay.number);
    sample->warmup = (enum measure_warmup)name;
    *ret_replay = replay;
    return 0;
}
