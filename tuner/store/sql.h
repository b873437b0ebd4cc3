/* tuner/store/sql: a database as the store uses it: a file of SQLite's, or a server of PostgreSQL's.
 *
 * The statements stand once, in what both understand: ? or ?1 for values, ON CONFLICT, RETURNING, coalesce.
 * The few that one of them alone knows are asked for with sql_is_server. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SQL_MOST_VALUES 40

struct sql;
struct sql_rows;

/* A value of a statement, as a letter says: i number, d real (NULL where it is not finite), t text (NULL
 * stays NULL). */
struct sql_value {
    char type;
    int64_t number;
    double real;
    const char *text;
};

/* One kind of database. Results are 0 or a negative errno with a text. */
struct sql_ops {
    bool is_server;
    int (*start)(struct sql *sql, const char *text, const struct sql_value *values, int n, void **ret_handle,
                 struct err *err);
    int (*step)(struct sql_rows *rows, struct err *err);
    void (*finish)(struct sql_rows *rows);
    bool (*is_null)(const struct sql_rows *rows, int column);
    int64_t (*number)(const struct sql_rows *rows, int column); /* of NULL: 0 */
    double (*real)(const struct sql_rows *rows, int column);    /* of NULL and of a text: NaN */
    const char *(*text)(const struct sql_rows *rows, int column);
    size_t (*n_changed)(const struct sql *sql);
    int (*script)(struct sql *sql, const char *text, struct err *err);
    int (*begin)(struct sql *sql, bool durable, struct err *err);
    void (*roll_back)(struct sql *sql);
    void (*close)(struct sql *sql);
};

struct sql {
    const struct sql_ops *ops; /* NULL: not open */
    void *handle;              /* sqlite3 of a file */
};

/* Rows of a statement that runs. */
struct sql_rows {
    struct sql *sql;
    void *handle;
    int row; /* of a server's answer, from 1; 0: before the first */
};

bool sql_is_server(const struct sql *sql);
/* Accepts a zeroed one. */
void sql_close(struct sql *sql);

/* Statements without values and without rows. */
int sql_script(struct sql *sql, const char *text, struct err *err);

/* Begins one statement with its values; types has a letter of struct sql_value for each. sql_done ends
 * *ret_rows, which is NULL on failure. */
int sql_query(struct sql *sql, struct sql_rows **ret_rows, struct err *err, const char *text,
              const char *types, ...);
/* 1: a row is there; 0: the end; or a negative errno. */
int sql_step(struct sql_rows *rows, struct err *err);
void sql_done(struct sql_rows *rows);

/* One statement that gives no row. */
int sql_do(struct sql *sql, struct err *err, const char *text, const char *types, ...);
/* Rows that the last statement wrote. */
size_t sql_n_changed(const struct sql *sql);

/* The same for one that gives a whole number; -ENOENT without a row. */
int sql_number(struct sql *sql, int64_t *ret_number, struct err *err, const char *text, const char *types,
               ...);

/* The id that `find` gives, or, where it gives none, of the row that `add` makes, which does nothing where
 * another process made it meanwhile. Both get the values, of which `find` may use the first ones alone, as
 * n_find says. */
int sql_find_or_add(struct sql *sql, int64_t *ret_id, struct err *err, const char *find, int n_find,
                    const char *add, const char *types, ...);

/* Reads all rows, and ends them; result: of beginning. read: one row into an element of `size` bytes, 0 or a
 * negative errno. The caller frees *ret_rows, which stays as it is after a failure. */
int sql_list(struct sql_rows *rows, int result, size_t size,
             int (*read)(void *context, struct sql_rows *rows, void *row, struct err *err), void *context,
             void **ret_rows, size_t *ret_n, struct err *err);

/* A transaction that writes. durable: its end waits for the disk; a server's always does. */
int sql_begin(struct sql *sql, bool durable, struct err *err);
/* Commits where result is 0, else rolls back; returns result, or why the commit failed. */
int sql_end(struct sql *sql, int result, struct err *err);

/* Columns, from 0; see struct sql_ops. Text is cut to size; that of NULL is empty. */
bool sql_is_null(const struct sql_rows *rows, int column);
int64_t sql_int64(const struct sql_rows *rows, int column);
double sql_double(const struct sql_rows *rows, int column);
void sql_text(const struct sql_rows *rows, int column, char *text, size_t size);
/* Until the next step; NULL for NULL. */
const char *sql_string(const struct sql_rows *rows, int column);
