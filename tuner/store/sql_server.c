/* tuner/store/sql_server: statements prepared once in a connection, and the reasons of failures. */
#include "tuner/store/sql_server.h"

#include "tuner/store/libpq.h"
#include "tuner/store/sql_address.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of PostgreSQL's catalogue pg_type. */
#define OID_INT8   20
#define OID_TEXT   25
#define OID_FLOAT8 701

/* More statements than one command has. */
#define N_PREPARED 48

struct server {
    const struct libpq *pq;
    PGconn *connection;
    char *address;
    int silence_ms;             /* see struct sql_address */
    bool silent;                /* it was asked what is the matter, and does not work on anything */
    char *prepared[N_PREPARED]; /* their texts; the name of each is its number */
    int n_prepared;
    size_t n_changed;
};

bool sql_server_is_address(const char *name)
{
    return strncmp(name, "postgresql://", 13) == 0 || strncmp(name, "postgres://", 11) == 0;
}

static const struct {
    const char *state; /* how an SQLSTATE begins */
    int result;
    const char *text; /* NULL: the server's own */
} failures[] = {
    {"53100", -ENOSPC, "the server's disk is full"},
    {"53200", -ENOMEM, "the server has no memory"},
    {"53300", -EBUSY, "the server has no connection left; try again"},
    {"40", -EBUSY, "another transaction was in the way; try again"},
    {"55P03", -EBUSY, "another transaction was in the way; try again"},
    {"57", -ENOTCONN, "the server is shutting down or starting; try again"},
    {"42501", -EACCES, NULL},
    {"42P01", -EINVAL, "there are no tables of fstune; make them with fleet.sql (see docs/fleet.md)"},
    {"3F000", -EINVAL, "there are no tables of fstune; make them with fleet.sql (see docs/fleet.md)"},
    {"25006", -EROFS, "the server only reads"},
    {"23", -EEXIST, NULL},
};

/* The first line of a message, without what libpq puts before it. */
static int refuse(const char *message, int code, struct err *err)
{
    static const char *const prefixes[] = {"ERROR:", "FATAL:", "PANIC:"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        const char *found = strstr(message, prefixes[i]);
        if (found != NULL)
            message = found + strlen(prefixes[i]);
    }
    message += strspn(message, " ");
    size_t length = strcspn(message, "\n");
    return err_set(err, code, "%.*s", (int)(length < 300 ? length : 300),
                   length > 0 ? message : "the connection is lost");
}

static int fail(struct server *server, PGresult *result, struct err *err)
{
    const char *state = result != NULL ? server->pq->PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    int code = server->pq->PQstatus(server->connection) == CONNECTION_OK ? -EBADMSG : -ENOTCONN;
    const char *text = NULL;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0] && state != NULL; i++) {
        if (strncmp(state, failures[i].state, strlen(failures[i].state)) == 0) {
            code = failures[i].result;
            text = failures[i].text;
            break;
        }
    }
    if (server->silent)
        text = "the server does not answer any more";
    code = text != NULL ? err_set(err, code, "%s", text)
                        : refuse(server->pq->PQerrorMessage(server->connection), code, err);
    server->pq->PQclear(result);
    return code;
}

static bool is_fine(struct server *server, const PGresult *result)
{
    ExecStatusType status = server->pq->PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

static bool wait_no_longer(void *context)
{
    (void)context;
    return false;
}

/* Asked by another connection: a long statement is no silence, and an answer that cannot be sent is one. */
static bool is_working(void *context)
{
    struct server *server = context;
    const struct libpq *pq = server->pq;
    struct sql_address parsed;
    char text[192];
    if (sql_address_read(pq, server->address, &parsed, NULL) < 0)
        return false;
    PGconn *other = pq->PQconnectdbParams(parsed.keywords, parsed.values, 1);
    snprintf(text, sizeof text,
             "SELECT 1 FROM pg_stat_activity WHERE pid = %d AND state = 'active' AND "
             "coalesce(wait_event_type, '') <> 'Client'",
             pq->PQbackendPID(server->connection));
    bool there = pq->PQstatus(other) == CONNECTION_OK && pq->PQsetnonblocking(other, 1) == 0;
    PGresult *rows = libpq_answer(pq, other, there ? pq->PQsendQuery(other, text) : 0, server->silence_ms,
                                  wait_no_longer, NULL);
    server->silent = pq->PQntuples(rows) != 1;
    pq->PQclear(rows);
    pq->PQfinish(other);
    return !server->silent;
}

static PGresult *answer(struct server *server, int sent)
{
    return libpq_answer(server->pq, server->connection, sent, server->silence_ms, is_working, server);
}

/* ? becomes $1, $2, ..., and ?1 becomes $1, outside of quotes. NULL when memory ran out. */
static char *with_dollars(const char *text)
{
    size_t size = 3 * strlen(text) + 1, length = 0;
    char *copy = malloc(size);
    int n = 0;
    bool quoted = false;
    for (; copy != NULL && *text != '\0'; text++) {
        quoted = quoted != (*text == '\'');
        if (*text != '?' || quoted)
            copy[length++] = *text;
        else if (isdigit((unsigned char)text[1]))
            copy[length++] = '$';
        else
            length += (size_t)snprintf(copy + length, size - length, "$%d", ++n);
    }
    if (copy != NULL)
        copy[length] = '\0';
    return copy;
}

static int send_statement(struct server *server, const char *name, const char *text,
                          const struct sql_value *values, int n, struct err *err)
{
    Oid types[SQL_MOST_VALUES];
    char *dollars = with_dollars(text);
    if (dollars == NULL)
        return err_set(err, -ENOMEM, "no memory");
    for (int i = 0; i < n; i++)
        types[i] = values[i].type == 'i' ? OID_INT8 : values[i].type == 'd' ? OID_FLOAT8 : OID_TEXT;
    PGresult *result = answer(server, server->pq->PQsendPrepare(server->connection, name, dollars, n, types));
    free(dollars);
    if (!is_fine(server, result))
        return fail(server, result, err);
    server->pq->PQclear(result);
    return 0;
}

/* Prepares a statement where this connection has not yet, and gives its name; the last place is taken again
 * and again. */
static int prepare(struct server *server, const char *text, const struct sql_value *values, int n,
                   char name[16], struct err *err)
{
    int place = 0;
    while (place < server->n_prepared && strcmp(server->prepared[place], text) != 0)
        place++;
    snprintf(name, 16, "s%d", place);
    if (place < server->n_prepared)
        return 0;
    if (place == N_PREPARED) {
        name[0] = '\0';
        return send_statement(server, name, text, values, n, err);
    }
    int result = send_statement(server, name, text, values, n, err);
    if (result < 0)
        return result;
    server->prepared[place] = strdup(text);
    if (server->prepared[place] == NULL)
        return err_set(err, -ENOMEM, "no memory");
    server->n_prepared++;
    return 0;
}

/* Numbers as text that gives them back exactly. */
#define VALUE_SIZE 32

static void write_value(const struct sql_value *value, char text[VALUE_SIZE], const char **ret_text)
{
    *ret_text = text;
    if (value->type == 'i')
        snprintf(text, VALUE_SIZE, "%lld", (long long)value->number);
    else if (value->type == 'd' && isfinite(value->real))
        snprintf(text, VALUE_SIZE, "%.17g", value->real);
    else
        *ret_text = value->type == 't' ? value->text : NULL;
}

static int start(struct sql *sql, const char *text, const struct sql_value *values, int n, void **ret_handle,
                 struct err *err)
{
    struct server *server = sql->handle;
    char name[16], numbers[SQL_MOST_VALUES][VALUE_SIZE];
    const char *texts[SQL_MOST_VALUES];
    int result = prepare(server, text, values, n, name, err);
    if (result < 0)
        return result;
    for (int i = 0; i < n; i++)
        write_value(&values[i], numbers[i], &texts[i]);
    PGresult *rows =
        answer(server, server->pq->PQsendQueryPrepared(server->connection, name, n, texts, NULL, NULL, 0));
    if (!is_fine(server, rows))
        return fail(server, rows, err);
    server->n_changed = (size_t)strtoull(server->pq->PQcmdTuples(rows), NULL, 10);
    *ret_handle = rows;
    return 0;
}

static const struct libpq *pq_of(const struct sql_rows *rows)
{
    return ((struct server *)rows->sql->handle)->pq;
}

static int step(struct sql_rows *rows, struct err *err)
{
    (void)err;
    if (rows->row >= pq_of(rows)->PQntuples(rows->handle))
        return 0;
    rows->row++;
    return 1;
}

static void finish(struct sql_rows *rows)
{
    pq_of(rows)->PQclear(rows->handle);
}

static const char *text_of(const struct sql_rows *rows, int column)
{
    const struct libpq *pq = pq_of(rows);
    return pq->PQgetisnull(rows->handle, rows->row - 1, column) != 0
               ? NULL
               : pq->PQgetvalue(rows->handle, rows->row - 1, column);
}

static bool is_null(const struct sql_rows *rows, int column)
{
    return text_of(rows, column) == NULL;
}

static int64_t number(const struct sql_rows *rows, int column)
{
    const char *text = text_of(rows, column);
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

static double real(const struct sql_rows *rows, int column)
{
    const char *text = text_of(rows, column);
    return text != NULL && pq_of(rows)->PQftype(rows->handle, column) != OID_TEXT ? strtod(text, NULL) : NAN;
}

static size_t n_changed(const struct sql *sql)
{
    return ((struct server *)sql->handle)->n_changed;
}

static int script(struct sql *sql, const char *text, struct err *err)
{
    struct server *server = sql->handle;
    PGresult *result = answer(server, server->pq->PQsendQuery(server->connection, text));
    if (!is_fine(server, result))
        return fail(server, result, err);
    server->n_changed = (size_t)strtoull(server->pq->PQcmdTuples(result), NULL, 10);
    server->pq->PQclear(result);
    return 0;
}

static int begin(struct sql *sql, bool durable, struct err *err)
{
    (void)durable;
    return script(sql, "BEGIN", err);
}

static void roll_back(struct sql *sql)
{
    struct server *server = sql->handle;
    if (server->pq->PQtransactionStatus(server->connection) != PQTRANS_IDLE)
        script(sql, "ROLLBACK", NULL);
}

static void close_server(struct sql *sql)
{
    struct server *server = sql->handle;
    server->pq->PQfinish(server->connection);
    for (int i = 0; i < server->n_prepared; i++)
        free(server->prepared[i]);
    free(server->address);
    free(server);
}

static const struct sql_ops ops = {
    .is_server = true,
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
    .close = close_server,
};

/* What the server has to tell beside errors is not for standard error. */
static void swallow(void *context, const char *message)
{
    (void)context;
    (void)message;
}

static int connect_to(struct server *server, const char *address, struct err *err)
{
    struct sql_address parsed;
    int result = libpq_load(&server->pq, err);
    if (result == 0)
        result = sql_address_read(server->pq, address, &parsed, err);
    if (result < 0)
        return result;
    server->silence_ms = parsed.silence_ms;
    server->address = strdup(address);
    server->connection = server->pq->PQconnectdbParams(parsed.keywords, parsed.values, 1);
    if (server->connection == NULL || server->address == NULL)
        return err_set(err, -ENOMEM, "no memory");
    if (server->pq->PQstatus(server->connection) != CONNECTION_OK)
        return refuse(server->pq->PQerrorMessage(server->connection), -ENOTCONN, err);
    server->pq->PQsetNoticeProcessor(server->connection, swallow, NULL);
    return server->pq->PQsetnonblocking(server->connection, 1) == 0 ? 0 : err_set(err, -ENOMEM, "no memory");
}

int sql_server_open(struct sql *ret_sql, const char *address, struct err *err)
{
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return err_set(err, -ENOMEM, "no memory");
    struct sql sql = {.ops = &ops, .handle = server};
    int result = connect_to(server, address, err);
    if (result == 0)
        result = script(&sql, "SET search_path = fstune", err);
    if (result < 0) {
        if (server->pq != NULL)
            close_server(&sql);
        else
            free(server);
        return result;
    }
    *ret_sql = sql;
    return 0;
}
