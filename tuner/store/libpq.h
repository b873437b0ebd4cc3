/* tuner/store/libpq: PostgreSQL's client library, loaded when an address of a server is opened and not
 * before.
 *
 * It brings some twenty other libraries (LDAP, Kerberos, TLS) into a process. Measurements, nights and
 * machines without a fleet need none of them, so a normal link would cost every start of the program and bind
 * every package to it. */
#pragma once

#include "bench/base/err.h"

#include <postgresql/libpq-fe.h>
#include <stdbool.h>

#define LIBPQ_FUNCTIONS(X)                                                                                   \
    X(PQconninfoParse)                                                                                       \
    X(PQconninfoFree)                                                                                        \
    X(PQfreemem)                                                                                             \
    X(PQconnectdbParams)                                                                                     \
    X(PQstatus)                                                                                              \
    X(PQerrorMessage)                                                                                        \
    X(PQfinish)                                                                                              \
    X(PQsetNoticeProcessor)                                                                                  \
    X(PQsetnonblocking)                                                                                      \
    X(PQsocket)                                                                                              \
    X(PQbackendPID)                                                                                          \
    X(PQsendQuery)                                                                                           \
    X(PQsendPrepare)                                                                                         \
    X(PQsendQueryPrepared)                                                                                   \
    X(PQflush)                                                                                               \
    X(PQconsumeInput)                                                                                        \
    X(PQisBusy)                                                                                              \
    X(PQgetResult)                                                                                           \
    X(PQresultStatus)                                                                                        \
    X(PQresultErrorField)                                                                                    \
    X(PQclear)                                                                                               \
    X(PQntuples)                                                                                             \
    X(PQgetisnull)                                                                                           \
    X(PQgetvalue)                                                                                            \
    X(PQftype)                                                                                               \
    X(PQcmdTuples)                                                                                           \
    X(PQtransactionStatus)

struct libpq {
#define LIBPQ_MEMBER(name) __typeof__(name) *name;
    LIBPQ_FUNCTIONS(LIBPQ_MEMBER)
#undef LIBPQ_MEMBER
};

/* The loaded library, for the rest of the process. -ENOSYS where there is none, with what to install, or
 * where the program is static. Not for two threads at once. */
int libpq_load(const struct libpq **ret_libpq, struct err *err);

/* The answer to what was just sent (`sent`: whether it could be), its last result or the first that is an
 * error; NULL where the connection is lost. Where nothing moves for so long, is_working (with context) says
 * whether to go on waiting; else the connection is broken off. The connection does not block. */
PGresult *libpq_answer(const struct libpq *pq, PGconn *connection, int sent, int silence_ms,
                       bool (*is_working)(void *context), void *context);
