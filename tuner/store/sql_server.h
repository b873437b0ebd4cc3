/* tuner/store/sql_server: a database of PostgreSQL's behind tuner/store/sql. */
#pragma once

#include "tuner/store/sql.h"

/* Whether a history's name is the address of a server (postgresql://..., postgres://...), and not a file. */
bool sql_server_is_address(const char *name);

/* Connects. A host that is neither a unix socket nor loopback is asked to prove who it is
 * (sslmode=verify-full), unless the address says otherwise. -EINVAL: the address is wrong, or a password
 * stands in it, where everybody could read it; -ENOSYS: see libpq_load; -ENOTCONN: no connection. A cut
 * network is noticed within 30 s (tcp_user_timeout of the address), and so is one that takes words and gives
 * no answer: after so long in silence the server is asked by another connection whether it still works on the
 * statement. sql_close closes it. */
int sql_server_open(struct sql *ret_sql, const char *address, struct err *err);
