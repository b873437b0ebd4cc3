/* tuner/store/sql: what both kinds of database share. */
#include "tuner/store/sql.h"

#include "tuner/base/grow.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool sql_is_server(const struct sql *sql)
{
    return sql->ops != NULL && sql->ops->is_server;
}

void sql_close(struct sql *sql)
{
    if (sql->ops != NULL)
        sql->ops->close(sql);
    *sql = (struct sql){0};
}

int sql_script(struct sql *sql, const char *text, struct err *err)
{
    return sql->ops->script(sql, text, err);
}

static int take_values(struct sql_value values[SQL_MOST_VALUES], const char *types, va_list *list)
{
    int n = 0;
    for (; n < SQL_MOST_VALUES && types[n] != '\0'; n++) {
        values[n] = (struct sql_value){.type = types[n]};
        if (types[n] == 'i')
            values[n].number = va_arg(*list, int64_t);
        else if (types[n] == 'd')
            values[n].real = va_arg(*list, double);
        else
            values[n].text = va_arg(*list, const char *);
    }
    return n;
}

static int start(struct sql *sql, struct sql_rows **ret_rows, const char *text,
                 const struct sql_value *values, int n, struct err *err)
{
    struct sql_rows *rows = calloc(1, sizeof *rows);
    *ret_rows = NULL;
    if (rows == NULL)
        return err_set(err, -ENOMEM, "no memory");
    rows->sql = sql;
    int result = sql->ops->start(sql, text, values, n, &rows->handle, err);
    if (result < 0)
        free(rows);
    else
        *ret_rows = rows;
    return result;
}

int sql_query(struct sql *sql, struct sql_rows **ret_rows, struct err *err, const char *text,
              const char *types, ...)
{
    struct sql_value values[SQL_MOST_VALUES];
    va_list list;
    va_start(list, types);
    int n = take_values(values, types, &list);
    va_end(list);
    return start(sql, ret_rows, text, values, n, err);
}

int sql_step(struct sql_rows *rows, struct err *err)
{
    return rows->sql->ops->step(rows, err);
}

void sql_done(struct sql_rows *rows)
{
    if (rows != NULL)
        rows->sql->ops->finish(rows);
    free(rows);
}

/* Runs a statement, and takes the number in its first row where one is wanted: 1 with a row, 0 without. */
static int run(struct sql *sql, const char *text, const struct sql_value *values, int n, int64_t *ret_number,
               struct err *err)
{
    struct sql_rows *rows;
    int result = start(sql, &rows, text, values, n, err);
    if (result == 0)
        result = sql_step(rows, err);
    if (result == 1 && ret_number != NULL)
        *ret_number = sql_int64(rows, 0);
    sql_done(rows);
    return result;
}

int sql_do(struct sql *sql, struct err *err, const char *text, const char *types, ...)
{
    struct sql_value values[SQL_MOST_VALUES];
    va_list list;
    va_start(list, types);
    int n = take_values(values, types, &list);
    va_end(list);
    int result = run(sql, text, values, n, NULL, err);
    return result < 0 ? result : 0;
}

size_t sql_n_changed(const struct sql *sql)
{
    return sql->ops->n_changed(sql);
}

int sql_number(struct sql *sql, int64_t *ret_number, struct err *err, const char *text, const char *types,
               ...)
{
    struct sql_value values[SQL_MOST_VALUES];
    va_list list;
    va_start(list, types);
    int n = take_values(values, types, &list);
    va_end(list);
    int result = run(sql, text, values, n, ret_number, err);
    if (result == 0)
        return err_set(err, -ENOENT, "there is none");
    return result < 0 ? result : 0;
}

int sql_find_or_add(struct sql *sql, int64_t *ret_id, struct err *err, const char *find, int n_find,
                    const char *add, const char *types, ...)
{
    struct sql_value values[SQL_MOST_VALUES];
    va_list list;
    va_start(list, types);
    int n = take_values(values, types, &list);
    va_end(list);
    int result = run(sql, find, values, n_find, ret_id, err);
    if (result != 0)
        return result < 0 ? result : 0;
    result = run(sql, add, values, n, NULL, err);
    if (result >= 0)
        result = run(sql, find, values, n_find, ret_id, err);
    return result == 0  ? err_set(err, -EACCES, "a row of that name belongs to another role")
           : result < 0 ? result
                        : 0;
}

int sql_list(struct sql_rows *rows, int result, size_t size,
             int (*read)(void *context, struct sql_rows *rows, void *row, struct err *err), void *context,
             void **ret_rows, size_t *ret_n, struct err *err)
{
    void *list = NULL;
    size_t n = 0, capacity = 0;
    while (result == 0 && (result = sql_step(rows, err)) == 1) {
        void *row = grow_array(&list, n, &capacity, size);
        result =
            row != NULL ? read(context, rows, row, err) : err_set(err, -ENOMEM, "no memory for %zu rows", n);
        n++;
    }
    sql_done(rows);
    if (result < 0) {
        free(list);
        return result;
    }
    *ret_rows = list;
    *ret_n = n;
    return 0;
}

int sql_begin(struct sql *sql, bool durable, struct err *err)
{
    return sql->ops->begin(sql, durable, err);
}

int sql_end(struct sql *sql, int result, struct err *err)
{
    if (result == 0)
        result = sql_script(sql, "COMMIT", err);
    if (result < 0)
        sql->ops->roll_back(sql);
    return result;
}

bool sql_is_null(const struct sql_rows *rows, int column)
{
    return rows->sql->ops->is_null(rows, column);
}

int64_t sql_int64(const struct sql_rows *rows, int column)
{
    return rows->sql->ops->number(rows, column);
}

double sql_double(const struct sql_rows *rows, int column)
{
    return rows->sql->ops->real(rows, column);
}

const char *sql_string(const struct sql_rows *rows, int column)
{
    return rows->sql->ops->text(rows, column);
}

void sql_text(const struct sql_rows *rows, int column, char *text, size_t size)
{
    const char *value = sql_string(rows, column);
    snprintf(text, size, "%s", value != NULL ? value : "");
}
