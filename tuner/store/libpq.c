/* tuner/store/libpq: the library's functions, found by their names, and waiting for an answer. */
#include "tuner/store/libpq.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>

#define NAME "libpq.so.5"

static const struct {
    const char *name;
    size_t at;
} functions[] = {
#define LIBPQ_ROW(name) {#name, offsetof(struct libpq, name)},
    LIBPQ_FUNCTIONS(LIBPQ_ROW)
#undef LIBPQ_ROW
};

int libpq_load(const struct libpq **ret_libpq, struct err *err)
{
    static struct libpq libpq;
    static void *handle;
    /* A program without an interpreter is static: it could load only libraries of the libc that it was built
     * with. */
    if (getauxval(AT_BASE) == 0)
        return err_set(
            err, -ENOSYS,
            "the static fstune has no PostgreSQL; save to a file, and push it with fstune's package");
    if (handle == NULL)
        handle = dlopen(NAME, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return err_set(err, -ENOSYS, "PostgreSQL's library " NAME " is missing; install it (Debian: libpq5)");
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(handle, functions[i].name);
        if (function == NULL)
            return err_set(err, -ENOSYS, NAME " has no %s; install a newer one (Debian: libpq5)",
                           functions[i].name);
        memcpy((char *)&libpq + functions[i].at, &function, sizeof function);
    }
    *ret_libpq = &libpq;
    return 0;
}

/* Until an answer is there, or the connection is lost. */
static void wait_for_answer(const struct libpq *pq, PGconn *connection, int silence_ms,
                            bool (*is_working)(void *context), void *context)
{
    for (;;) {
        int unsent = pq->PQflush(connection);
        if (unsent < 0 || (unsent == 0 && pq->PQisBusy(connection) == 0))
            return;
        struct pollfd wait = {.fd = pq->PQsocket(connection),
                              .events = (short)(POLLIN | (unsent > 0 ? POLLOUT : 0))};
        int n = poll(&wait, 1, silence_ms);
        if (n == 0 && !is_working(context))
            shutdown(wait.fd, SHUT_RDWR);
        if (n != 0 && (n > 0 || errno != EINTR) && pq->PQconsumeInput(connection) == 0)
            return;
    }
}

static bool is_error(const struct libpq *pq, const PGresult *result)
{
    ExecStatusType status = pq->PQresultStatus(result);
    return result != NULL && status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK;
}

PGresult *libpq_answer(const struct libpq *pq, PGconn *connection, int sent, int silence_ms,
                       bool (*is_working)(void *context), void *context)
{
    PGresult *result = NULL;
    while (sent != 0) {
        wait_for_answer(pq, connection, silence_ms, is_working, context);
        PGresult *next = pq->PQgetResult(connection);
        if (next == NULL)
            break;
        PGresult *dropped = is_error(pq, result) ? next : result;
        result = dropped == next ? result : next;
        pq->PQclear(dropped);
        sent = pq->PQstatus(connection) == CONNECTION_OK;
    }
    return result;
}
